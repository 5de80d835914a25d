"""The strategy "backtrack": one partial match at a time, depth first, for the selection strategies of event patterns."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.backtrack import backtrack as kernel
from ostinato.kernels.backtrack import backtrack_table as table
from ostinato.kernels.runs import run_layout as layout
from ostinato.program.pattern import EventPattern
from ostinato.runtime.backtrack.backtrack_matches import read_matches
from ostinato.runtime.backtrack.backtrack_store import BacktrackStore
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.register_matcher import SHED_PART
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.runs.partial_matcher import PartialMatcher
from ostinato.runtime.runs.run_state import check_backtrack
from ostinato.runtime.snapshots.state_check import StateCheck

SEGMENT = 64  # rows that are searched before non-overlapping output looks whether a match is decided


class BacktrackMatcher(PartialMatcher):
    _store: BacktrackStore

    def __init__(self, pattern: EventPattern, budget: Budget, strings: StringPool) -> None:
        super().__init__(pattern, budget, strings)
        self._store = BacktrackStore(pattern.registers, SEGMENT)
        self._counts = pattern.output == "count"

    def _follow(self, rows: PatternRows, keys: np.ndarray, begin: np.ndarray, end: np.ndarray, ordinal: np.ndarray) -> None:
        """Call the kernel until it is through; between calls its arrays grow."""
        plan, code, store = self._plan, self._interpreter, self._store
        header = store.header
        header[table.AT_KEY] = header[table.IN_KEY] = header[table.DEPTH] = 0
        header[table.PINNED] = header[table.NODES]
        bits = rows.bits.view(np.int64)
        self._limit_steps(int(header[table.READ]))
        while True:
            status = kernel.search(
                plan.transitions, plan.states, plan.passes, plan.settings, code.code, code.scratch, code.scratch_valid, code.ranks,
                bits, rows.times, rows.positions, rows.slots, rows.slot_valid,
                store.waiting, store.stack, store.registers, store.register_valid, store.nodes, store.found, store.header,
                store.head, keys, begin, end, ordinal,
            )  # fmt: skip
            if status == kernel.DONE:
                return
            if status == kernel.FAILED:
                raise self._failed(int(header[table.ERROR]))
            if status == kernel.OVER_STEPS:
                raise self._too_long()
            self._refuse_too_many()
            found = int(header[table.FOUND])
            self._listing.allow(found, found)
            self._refuse_too_large()
            store.make_room(int(plan.settings[layout.FANOUT]))

    def _within_budget(self) -> None:
        store, runs = self._store, self._budget.runs
        self._refuse_too_many()
        if runs is not None and store.live_runs > runs:
            store.shed_oldest(store.live_runs - runs + runs // SHED_PART)
        self._within_bytes()

    def _matches(self) -> Matches:
        store = self._store
        count = int(store.header[table.FOUND])
        store.header[table.FOUND] = 0
        return read_matches(store.nodes, store.found[:count], self._variable_of, self._listing) if count else Matches.none()

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        earliest = self._read[keys]
        if self._counts:
            return earliest
        first = self._store.head[keys]
        return np.where(first == table.NOTHING, earliest, self._store.waiting[first, table.FIRST_ORDINAL])

    def check(self, state: StateCheck) -> None:
        check_backtrack(state, self._pattern)

    def metrics(self) -> dict[str, int]:
        header = self._store.header
        return {
            "matches": int(header[table.MATCHES]),
            "runs": int(header[table.LIVE]),
            "peak_runs": int(header[table.PEAK]),
            "expired_runs": int(header[table.EXPIRED]),
            "shed_runs": self._store.shed,
            "rows_read": int(header[table.READ]),
            "rows_read_again": int(header[table.READ_AGAIN]),
            "match_nodes": int(header[table.NODES]),
            "state_bytes": self._store.bytes,
        }
