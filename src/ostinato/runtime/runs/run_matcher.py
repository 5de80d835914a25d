"""The strategy "runs": partial matches followed side by side, for the selection strategies of event patterns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.kernels.rows.key_regions import greatest
from ostinato.kernels.runs import run_layout as layout
from ostinato.kernels.runs import run_table as table
from ostinato.kernels.runs import runs as kernel
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matches.match_dag import MatchDag
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.register_matcher import SHED_PART
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.runs.partial_matcher import PartialMatcher
from ostinato.runtime.runs.run_dag import dag_of
from ostinato.runtime.runs.run_reading import RunReading
from ostinato.runtime.runs.run_state import check_runs
from ostinato.runtime.runs.run_store import RunStore
from ostinato.runtime.snapshots.state_check import StateCheck


class RunMatcher(PartialMatcher):
    _store: RunStore

    def __init__(self, pattern: EventPattern, budget: Budget, strings: StringPool) -> None:
        super().__init__(pattern, budget, strings)
        self._store = RunStore(self._plan, pattern.registers, keeps_matches=pattern.output != "count")

    def _follow(self, rows: PatternRows, keys: np.ndarray, begin: np.ndarray, end: np.ndarray, ordinal: np.ndarray) -> None:
        """Call the kernel until it is through; between calls its arrays grow or runs are shed."""
        plan, code, store = self._plan, self._interpreter, self._store
        store.header[table.AT_KEY], store.header[table.AT_ROW] = 0, table.NOTHING
        bits = rows.bits.view(np.int64)
        self._limit_steps(store.steps)
        while True:
            status = kernel.advance(
                plan.transitions, plan.states, plan.passes, plan.watched, plan.bounds, plan.settings, code.code, code.scratch,
                code.scratch_valid, code.ranks, bits, rows.times, rows.positions, rows.slots, rows.slot_valid,
                store.runs, store.registers, store.register_valid, store.nodes, store.found, store.header, store.per_key,
                store.cells, store.order, store.equivalents, store.born, store.live, keys, begin, end, ordinal,
            )  # fmt: skip
            if status == kernel.DONE:
                return
            if status == kernel.TOO_SMALL:
                found = int(store.header[table.FOUND])
                self._listing.allow(found, found)  # each of them is a match at least
                self._within_bytes()
                store.make_room(int(plan.settings[layout.FANOUT]))
            elif status == kernel.OVER_LIMIT:
                self._over_limit()
            elif status == kernel.OVER_STEPS:
                raise self._too_long()
            else:
                raise self._failed(int(store.header[table.ERROR]))

    def _over_limit(self) -> None:
        self._refuse_too_many()
        limit = self._budget.runs or 0
        self._store.shed_oldest(self._store.live_runs - limit + limit // SHED_PART)

    def _matches(self) -> Matches | MatchDag:
        store = self._store
        count = store.header.item(table.FOUND)
        if not count:
            return Matches.none()
        if self._pattern.output == "compressed":
            store.header[table.FOUND] = 0
            store.header[table.MATCHES] += count
            return dag_of(store.nodes, store.found[:count], self._variable_of, self._pattern.within_unit != "events")
        matches = self._reading(count).all()
        store.header[table.FOUND] = 0
        store.header[table.MATCHES] += len(matches)
        return matches

    def _parts(self) -> Iterator[Matches | MatchDag]:
        header = self._store.header
        count = int(header[table.FOUND])
        if not count or self._pattern.output == "compressed":
            yield self._matches()
            return
        for part in self._reading(count).parts():
            header[table.MATCHES] += len(part)
            yield part
        header[table.FOUND] = 0

    def _reading(self, count: int) -> RunReading:
        return RunReading(self._store.nodes, self._store.found[:count], self._variable_of, self._listing)

    def pass_over(self, keys: np.ndarray, ordinals: np.ndarray) -> None:
        self._ensure_keys(greatest(keys) + 1)
        self._read[keys] = self._store.per_key[keys, table.KEEP] = ordinals

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        if not self._store.keeps_matches:
            return self._read[keys]
        self._ensure_keys(greatest(keys) + 1)
        return self._store.per_key[:, table.KEEP][keys]

    def recode(self, new_of_old: np.ndarray) -> None:
        super().recode(new_of_old)
        self._store.rebuild()  # runs wait by their values

    def check(self, state: StateCheck) -> None:
        check_runs(state, self._pattern, self._store.keeps_matches, self._store.per_key.shape[1])

    def metrics(self) -> dict[str, int]:
        header = self._store.header
        return {
            "matches": int(header[table.MATCHES]),
            "runs": int(header[table.LIVE]),
            "peak_runs": int(header[table.PEAK]),
            "expired_runs": int(header[table.EXPIRED]),
            "shed_runs": self._store.shed,
            "merged_runs": int(header[table.MERGED]),
            "runs_made": int(header[table.STARTED]),
            "visited_runs": int(header[table.VISITED]),
            "match_nodes": int(header[table.NODES]),
            "run_bytes": self._store.run_bytes,
            "node_bytes": self._store.node_bytes,
            "state_bytes": self._store.bytes,
        }
