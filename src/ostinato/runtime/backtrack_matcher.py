"""The strategy "backtrack": one partial match at a time, depth first, for the selection strategies of event patterns."""

from __future__ import annotations

import numpy as np

from ostinato.base.errors import BudgetError, DataError
from ostinato.kernels import backtrack as kernel
from ostinato.kernels import backtrack_table as table
from ostinato.kernels import run_layout as layout
from ostinato.kernels.arithmetic import ERRORS
from ostinato.kernels.scalar import Interpreter
from ostinato.program.program import Program
from ostinato.runtime.backtrack_matches import read_matches
from ostinato.runtime.backtrack_store import BacktrackStore
from ostinato.runtime.budget import Beyond, Budget
from ostinato.runtime.keyed_rows import KeyedRows
from ostinato.runtime.matcher import NEVER
from ostinato.runtime.matches import Matches
from ostinato.runtime.run_plan import run_plan
from ostinato.runtime.string_pool import StringPool

NO_TIMES = np.zeros(1, np.int64)
SHED_PART = 16  # shedding a sixteenth at once keeps its cost per event constant
SEGMENT = 64  # rows that are searched before non-overlapping output looks whether a match is decided


class BacktrackMatcher:
    """Implements `runtime.matcher.Matcher`."""

    def __init__(self, program: Program, budget: Budget, strings: StringPool) -> None:
        self._program = program
        self._budget = budget
        self._strings = strings
        self._plan = run_plan(program, budget.runs)
        self._interpreter = Interpreter(program.scalar)
        self._store = BacktrackStore(program.registers, SEGMENT)
        self._counts = program.output == "count"
        self._read = np.zeros(0, np.int64)  # per key, the next unread ordinal
        self._strict = program.selection == "strict_contiguity" and program.ahead == 0  # rows that wait for neighbours are not passed by
        self._variable_of = np.array([component.variable for component in program.components], np.uint8)

    def feed(self, rows: KeyedRows, keys: np.ndarray, ready: np.ndarray, horizon: int, final: bool) -> Matches:
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(int(keys.max(initial=-1)) + 1)
        if self._strict:
            keys, ready = self._with_waiting(keys, ready)
        settings = self._plan.settings
        settings[layout.HORIZON], settings[layout.HAS_HORIZON], settings[layout.FINAL] = horizon, horizon != NEVER, final
        code = self._interpreter
        if code.strings or code.ranked:
            code.bind(self._strings.codes(code.strings), self._strings.ranks() if code.ranked else None)
        ordinal = self._read[keys]
        begin = rows.offset[keys] + ordinal - rows.base[keys]
        end = begin + np.maximum(ready - ordinal, 0)
        if self._strict:
            fed = end > begin
            settings[layout.LATEST] = max(int(settings[layout.LATEST]), int(rows.positions[end[fed] - 1].max(initial=-1)))
        self._search(rows, keys, begin, end, ordinal)
        self._read[keys] = ordinal + end - begin
        matches = self._matches()
        self._within_budget()
        return matches

    def _with_waiting(self, keys: np.ndarray, ready: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Under strict contiguity only the partition of the latest event can have runs: those of others are over."""
        waiting = np.setdiff1d(np.flatnonzero(self._store.head != table.NOTHING), keys)
        return np.concatenate([keys, waiting]), np.concatenate([ready, self._read[waiting]])

    def _ensure_keys(self, count: int) -> None:
        self._store.ensure_keys(count)
        if len(self._read) < len(self._store.head):
            self._read = np.concatenate([self._read, np.zeros(len(self._store.head) - len(self._read), np.int64)])

    def _search(self, rows: KeyedRows, keys: np.ndarray, begin: np.ndarray, end: np.ndarray, ordinal: np.ndarray) -> None:
        """Call the kernel until it is through; between calls its arrays grow."""
        plan, code, store = self._plan, self._interpreter, self._store
        header = store.header
        header[table.AT_KEY] = header[table.IN_KEY] = header[table.DEPTH] = 0
        header[table.PINNED] = header[table.NODES]
        bits = rows.bits.view(np.int64)
        times = NO_TIMES if rows.times is None else rows.times
        while True:
            status = kernel.search(
                plan.moves, plan.states, plan.passes, plan.settings, code.code, code.scratch, code.scratch_valid, code.ranks,
                bits, times, rows.positions, rows.slots, rows.slot_valid,
                store.waiting, store.stack, store.registers, store.register_valid, store.nodes, store.found, store.header,
                store.head, keys, begin, end, ordinal,
            )  # fmt: skip
            if status == kernel.DONE:
                return
            if status == kernel.FAILED:
                raise DataError(ERRORS[int(header[table.ERROR])], hint="cast to DOUBLE where exact integers are not needed")
            self._refuse_too_many()
            store.make_room(int(plan.settings[layout.FANOUT]))

    def _refuse_too_many(self) -> None:
        limit = self._budget.runs
        if limit is not None and self._store.live > limit and self._budget.beyond is Beyond.ERROR:
            raise BudgetError(
                f"the query follows more than {limit} partial matches",
                detail=f"Selection {self._program.selection}, output {self._program.output}.",
                hint="shorten WITHIN, add conditions, choose a stricter selection strategy, or raise the budget's runs",
            )

    def _within_budget(self) -> None:
        """After a batch: nodes that nobody reaches any more are no reason to complain."""
        store, runs, limit = self._store, self._budget.runs, self._budget.bytes
        self._refuse_too_many()
        if runs is not None and store.live > runs:
            store.shed_oldest(store.live - runs + runs // SHED_PART)
        if store.has_doubled or (limit is not None and store.bytes > limit):
            store.compact()
        while limit is not None and store.bytes > limit:
            if self._budget.beyond is Beyond.ERROR:
                raise BudgetError(f"partial matches take more than {limit} bytes", hint="shorten WITHIN, or raise the budget's bytes")
            store.shed_oldest(max(1, store.live // SHED_PART))
            store.compact()

    def _matches(self) -> Matches:
        store = self._store
        count = int(store.header[table.FOUND])
        store.header[table.FOUND] = 0
        return read_matches(store.nodes, store.found[:count], self._variable_of) if count else Matches.none()

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        earliest = self._read[keys]
        if self._counts:
            return earliest
        first = self._store.head[keys]
        return np.where(first == table.NOTHING, earliest, self._store.waiting[first, table.FIRST_ORDINAL])

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        return self._store.head[keys] == table.NOTHING

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        self._store.renumber(old_of_new)
        self._read = self._read[old_of_new]

    def metrics(self) -> dict[str, int]:
        header = self._store.header
        return {
            "matches": int(header[table.MATCHES]),
            "runs": int(header[table.LIVE]),
            "peak_runs": int(header[table.PEAK]),
            "expired_runs": int(header[table.EXPIRED]),
            "shed_runs": self._store.shed,
            "rows_read": int(header[table.READ]),
            "match_nodes": int(header[table.NODES]),
            "state_bytes": self._store.bytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        return {**self._store.state(), "read": self._read, "latest": self._plan.settings[layout.LATEST : layout.LATEST + 1].copy()}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._store.load(state)
        self._plan.settings[layout.LATEST] = state["latest"][0]
        self._read = state["read"].copy()
