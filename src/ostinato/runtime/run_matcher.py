"""The strategy "runs": partial matches followed side by side, for the selection strategies of event patterns."""

from __future__ import annotations

import numpy as np

from ostinato.base.errors import BudgetError, DataError
from ostinato.expr.types import Kind
from ostinato.kernels import run_layout as layout
from ostinato.kernels import run_table as table
from ostinato.kernels import runs as kernel
from ostinato.kernels.arithmetic import ERRORS, IS_VALUE
from ostinato.kernels.scalar import Interpreter
from ostinato.program.program import Program
from ostinato.runtime.budget import Beyond, Budget
from ostinato.runtime.keyed_rows import KeyedRows
from ostinato.runtime.match_dag import MatchDag
from ostinato.runtime.matcher import NEVER
from ostinato.runtime.matches import Matches
from ostinato.runtime.run_dag import dag_of
from ostinato.runtime.run_plan import run_plan
from ostinato.runtime.run_reading import matches_of
from ostinato.runtime.run_store import RunStore
from ostinato.runtime.string_pool import StringPool

NO_TIMES = np.zeros(1, np.int64)
SHED_PART = 16  # shedding a sixteenth at once keeps its cost per event constant


class RunMatcher:
    """Implements `runtime.matcher.Matcher`."""

    def __init__(self, program: Program, budget: Budget, strings: StringPool) -> None:
        self._program = program
        self._budget = budget
        self._strings = strings
        self._plan = run_plan(program, budget.runs)
        self._interpreter = Interpreter(program.scalar)
        self._store = RunStore(self._plan, program.registers, keeps_matches=program.output != "count")
        self._read = np.zeros(0, np.int64)  # per key, the next unread ordinal
        self._strict = program.selection == "strict_contiguity" and program.ahead == 0  # rows that wait for neighbours are not passed by
        self._variable_of = np.array([component.variable for component in program.components], np.uint8)

    def feed(self, rows: KeyedRows, keys: np.ndarray, ready: np.ndarray, horizon: int, final: bool) -> Matches | MatchDag:
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(int(keys.max(initial=-1)) + 1)
        if self._strict:
            keys, ready = self._with_waiting(keys, ready)
        settings = self._plan.settings
        settings[layout.HORIZON], settings[layout.HAS_HORIZON], settings[layout.FINAL] = horizon, horizon != NEVER, final
        self._bind_strings()
        ordinal = self._read[keys]
        begin = rows.offset[keys] + ordinal - rows.base[keys]
        end = begin + np.maximum(ready - ordinal, 0)
        if self._strict:
            fed = end > begin
            settings[layout.LATEST] = max(int(settings[layout.LATEST]), int(rows.positions[end[fed] - 1].max(initial=-1)))
        self._advance(rows, keys, begin, end, ordinal)
        self._read[keys] = ordinal + end - begin
        matches = self._matches()
        self._within_bytes()
        return matches

    def _bind_strings(self) -> None:
        """Codes are asked for again each time: a session that is restored has other ones than it had when it was made."""
        code = self._interpreter
        if code.strings or code.ranked:
            code.bind(self._strings.codes(code.strings), self._strings.ranks() if code.ranked else None)

    def _with_waiting(self, keys: np.ndarray, ready: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Under strict contiguity only the partition of the latest event can have runs. If the stream goes on in another one, they
        are over, although their own partition receives nothing."""
        waiting = np.setdiff1d(np.flatnonzero(self._store.busy), keys)
        return np.concatenate([keys, waiting]), np.concatenate([ready, self._read[waiting]])

    def _ensure_keys(self, count: int) -> None:
        self._store.ensure_keys(count)
        if len(self._read) < len(self._store.per_key):
            self._read = np.concatenate([self._read, np.zeros(len(self._store.per_key) - len(self._read), np.int64)])

    def _advance(self, rows: KeyedRows, keys: np.ndarray, begin: np.ndarray, end: np.ndarray, ordinal: np.ndarray) -> None:
        """Call the kernel until it is through; between calls its arrays grow or runs are shed."""
        plan, code, store = self._plan, self._interpreter, self._store
        store.header[table.AT_KEY], store.header[table.AT_ROW] = 0, table.NOTHING
        bits = rows.bits.view(np.int64)
        times = NO_TIMES if rows.times is None else rows.times
        while True:
            status = kernel.advance(
                plan.moves, plan.states, plan.passes, plan.watched, plan.settings, code.code, code.scratch, code.scratch_valid, code.ranks,
                bits, times, rows.positions, rows.slots, rows.slot_valid,
                store.runs, store.registers, store.register_valid, store.nodes, store.found, store.header, store.per_key,
                store.cells, store.twins, store.born, store.live, keys, begin, end, ordinal,
            )  # fmt: skip
            if status == kernel.DONE:
                return
            if status == kernel.TOO_SMALL:
                store.make_room(int(plan.settings[layout.FANOUT]))
                self._within_bytes()
            elif status == kernel.OVER_LIMIT:
                self._over_limit()
            else:
                raise DataError(ERRORS[int(store.header[table.ERROR])], hint="cast to DOUBLE where exact integers are not needed")

    def _over_limit(self) -> None:
        limit = self._budget.runs or 0
        if self._budget.beyond is Beyond.ERROR:
            raise BudgetError(
                f"the query follows more than {limit} partial matches",
                detail=f"Selection {self._program.selection}, output {self._program.output}.",
                hint="shorten WITHIN, add conditions, choose a stricter selection strategy, or raise the budget's runs",
            )
        live = int(self._store.header[table.LIVE])
        self._store.shed_oldest(live - limit + limit // SHED_PART)

    def _within_bytes(self) -> None:
        """After a batch: nodes that nobody reaches any more are no reason to complain."""
        store, limit = self._store, self._budget.bytes
        if store.has_doubled or (limit is not None and store.bytes > limit):
            store.compact()
        while limit is not None and store.bytes > limit:
            if self._budget.beyond is Beyond.ERROR:
                raise BudgetError(f"partial matches take more than {limit} bytes", hint="shorten WITHIN, or raise the budget's bytes")
            store.shed_oldest(max(1, int(store.header[table.LIVE]) // SHED_PART))
            store.compact()

    def _matches(self) -> Matches | MatchDag:
        """The matches found by this call."""
        store = self._store
        count = int(store.header[table.FOUND])
        if not count:
            return Matches.none()
        if self._program.output == "compressed":
            store.header[table.FOUND] = 0
            store.header[table.MATCHES] += count
            return dag_of(store.nodes, store.found[:count], self._variable_of, self._program.within_unit != "events")
        matches = matches_of(store.nodes, store.found, count, self._variable_of)
        store.header[table.FOUND] = 0
        store.header[table.MATCHES] += len(matches)
        return matches

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        if not self._store.keeps_matches:
            return self._read[keys]
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        return self._store.per_key[keys, table.KEEP]

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        return ~self._store.busy[keys]

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        self._store.renumber(old_of_new)
        self._read = self._read[old_of_new]

    def codes(self) -> list[np.ndarray]:
        """The codes of strings that runs remember."""
        return [self._store.registers[alive, register] for register, alive in self._texts()]

    def recode(self, new_of_old: np.ndarray) -> None:
        """Strings have other codes now: runs remember those, and wait by them."""
        for register, alive in self._texts():
            self._store.registers[alive, register] = new_of_old[self._store.registers[alive, register]]
        self._store.rebuild()

    def _texts(self) -> list[tuple[int, np.ndarray]]:
        """Registers that hold strings, with the runs in which they have a value."""
        texts = [i for i, register in enumerate(self._program.registers) if register.type.kind is Kind.STRING]
        alive = self._store.alive if texts else np.empty(0, np.int64)
        return [(register, alive[self._store.register_valid[alive, register] == IS_VALUE]) for register in texts]

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

    def state(self) -> dict[str, np.ndarray]:
        return {**self._store.state(), "read": self._read, "latest": self._plan.settings[layout.LATEST : layout.LATEST + 1].copy()}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._store.load(state)
        self._plan.settings[layout.LATEST] = state["latest"][0]
        self._read = state["read"].copy()
