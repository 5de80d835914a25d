"""Strategy "threads": preferred matches where some predicates look at other rows of the match."""

from __future__ import annotations

import numpy as np

from ostinato.base.errors import BudgetError, DataError, StateError
from ostinato.kernels.scalar.arithmetic import IS_VALUE
from ostinato.kernels.scan.scan_dfa import FINAL, WATERMARK
from ostinato.kernels.threads import scan_threads as kernel
from ostinato.kernels.threads import thread_jumps as jumps
from ostinato.kernels.threads import thread_layout as layout
from ostinato.program.analysis.live_registers import live_registers
from ostinato.program.opcodes import Op
from ostinato.program.ordered_nfa import VariableTest
from ostinato.program.pattern import RowPattern
from ostinato.program.scalar_code import Register
from ostinato.runtime.limits.budget import Budget, in_words, over_budget
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.matcher import Matcher
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.matches import Matches, MatchRuns
from ostinato.runtime.rows.array_growth import lengthened
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.runs.run_state import text_registers
from ostinato.runtime.scan.attempt_state import check_threads
from ostinato.runtime.scan.lazy_dfa import accepting_flag
from ostinato.runtime.scan.scan_matcher import search_setting, variable_masks
from ostinato.runtime.search.search_plan import search_plan
from ostinato.runtime.search.search_store import SearchStore
from ostinato.runtime.snapshots.state_check import StateCheck
from ostinato.runtime.threads.thread_store import ThreadStore
from ostinato.runtime.threads.ways import ways_table

MAX_THREADS = 1 << 18  # of one attempt
MIN_MATCHES = 1 << 6
WORTH_HANDING_OVER = 1 << 16  # matches; a new array takes no memory before it is written
HINT = "Shorten WITHIN, or raise the budget's bytes."


class ThreadMatcher(Matcher):
    """The state of key k is line k of the store's cursor and the threads saved for it."""

    def __init__(self, pattern: RowPattern, budget: Budget, strings: StringPool) -> None:
        assert pattern.nfa is not None
        nfa = pattern.nfa
        self._pattern = pattern
        self._budget = budget
        self._listing = Listing(pattern, budget, strings)
        self._steps = Steps(pattern, budget)
        self._strings = strings
        self._searches = search_plan(pattern)
        self._interpreter = self._searches.interpreter
        self._learned = np.zeros((len(nfa.transitions), jumps.LEARNED_WIDTH), np.int64)
        self._index = SearchStore(self._searches.columns)
        self._setting = search_setting(pattern)
        self._first = np.array(nfa.first, np.int32)
        self._transitions = np.array(nfa.transitions, np.int32).reshape(-1, 2)
        self._initials = np.array([nfa.start, nfa.start_of_partition], np.int64)
        self._masks = variable_masks(pattern.tests)
        self._tests = np.array([self._test(test) for test in pattern.tests], np.int64).reshape(-1, layout.TESTS_WIDTH)
        self._live = live_registers(nfa, pattern.tests, pattern.scalar, len(pattern.registers))
        self._texts = text_registers(pattern)
        self._fresh = np.array([_fresh(register) for register in pattern.registers], np.uint8)
        self._skip = {"to first": layout.TO_FIRST, "to last": layout.TO_LAST}.get(pattern.skip, 0)
        self._skip_members = np.zeros(len(pattern.variables), np.uint8)
        if self._skip:
            self._skip_members[list(pattern.members(pattern.skip_to))] = 1
        self._skip_name = pattern.member_names(pattern.skip_to) if self._skip else ""
        self._marks = np.zeros((len(nfa.first) - 1, layout.MARKS_WIDTH), np.int64)
        for state in range(len(self._marks)):
            self._marks[state, layout.ACCEPTING] = accepting_flag(nfa, state)
            self._marks[state, layout.OPEN] = any(variable >= 0 for variable, _ in nfa.transitions_of(state))
            self._marks[state, layout.WAITS] = state in self._searches.waits or not self._marks[state, layout.OPEN]
        self._marks[:, layout.READS] = self._live.any(axis=1)
        self._ways = ways_table(self._transitions, self._masks, self._tests, self._marks, self._searches)
        self._store = ThreadStore(len(pattern.registers))
        self._store.control[layout.ALLOWED] = MIN_MATCHES
        self._out = np.empty((4, MIN_MATCHES), np.int64)
        self._runs = np.empty(MIN_MATCHES, np.uint16)

    def _test(self, test: VariableTest) -> tuple[int, int, bool, bool]:
        start, end = (int(bound) for bound in self._interpreter.blocks[test.block]) if test.block >= 0 else (0, 0)
        operations = {int(op) for op in self._interpreter.code[start:end, 0]}
        return start, end, Op.COPY in operations, operations <= {Op.COPY, Op.STORE}

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches:
        if not len(keys):
            return Matches.none()
        keys = np.ascontiguousarray(keys, np.int64)
        ready = np.ascontiguousarray(ready, np.int64)
        self._admit(rows, keys)
        codes = self._strings.codes(self._interpreter.strings)
        self._interpreter.bind(codes, self._strings.ranks() if self._interpreter.ranked else None)
        self._setting[WATERMARK], self._setting[FINAL] = watermark, final
        control = self._store.control
        control[[layout.KEY, layout.LOADED, layout.FOUND, layout.PLACED, layout.RUNS]] = 0
        self._steps.begin(int((ready - self._store.cursor[keys, layout.AT]).sum()))
        control[layout.WORK_LIMIT] = control[layout.WORK] + self._steps.left
        while True:
            status = self._follow(rows, keys, ready)
            if status == layout.DONE:
                break
            self._provide(status, rows)
        self._check_budget()
        return self._matches()

    def _follow(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray) -> int:
        code, store, searches, index = self._interpreter, self._store, self._searches, self._index
        return kernel.follow(
            keys, ready, rows.offset, rows.base, rows.length, rows.bits, rows.times, rows.slots, rows.slot_valid, self._setting, self._skip,
            self._skip_members, self._first, self._transitions, self._masks, self._initials, self._tests, self._ways, self._marks,
            self._live, self._fresh, searches.bounds, self._learned, searches.columns, index.regions, index.lows, index.highs,
            index.links, index.ordered, index.tries, code.code, code.scratch, code.scratch_valid, code.ranks, store.threads, store.chain,
            store.registers, store.register_valid, store.nodes, store.cursor, self._out, self._runs, store.saved, store.saved_registers,
            store.saved_valid, store.control,
        )  # fmt: skip

    def _provide(self, status: int, rows: PatternRows) -> None:
        """Give the kernel the room it stopped for."""
        store = self._store
        needed = int(store.control[layout.NEEDED])
        if status == layout.THREADS_FULL:
            limit = MAX_THREADS if self._budget.runs is None else min(MAX_THREADS, self._budget.runs)
            if store.room >= limit:
                raise self._too_many_threads(limit)
            store.grow_room()
        elif status == layout.NODES_FULL:
            store.room_for_nodes()
            self._check_budget()
        elif status == layout.INDEX_FULL:
            self._index.make_room(needed, int(rows.length.sum()), store.control)
            self._check_budget()
        elif status == layout.SAVED_FULL:
            store.room_to_save(needed)
        elif status == layout.MATCHES_FULL:
            self._listing.allow(int(store.control[layout.FOUND]), int(store.control[layout.PLACED]) + needed)
            self._room_for_matches(needed)
        elif status == layout.OVER_STEPS:
            said = f"{int(store.control[layout.COUNT]):,} alternatives of the preferred match are followed, and it takes too long"
            raise self._steps.exceeded(said)
        elif status == layout.SKIPS_NOWHERE:
            raise DataError(
                f"AFTER MATCH SKIP goes to {self._skip_name}, but a match has no row of it",
                hint="Skip to a variable that every match has, or TO NEXT ROW",
            )
        elif status == layout.SKIPS_TO_START:
            raise DataError(
                f"AFTER MATCH SKIP goes to {self._skip_name}, which is the first row of a match: the search would never end",
                hint="Skip to a later row, or TO NEXT ROW",
            )
        else:
            raise self._interpreter.error(int(store.control[layout.ERROR]))

    def _room_for_matches(self, needed: int) -> None:
        """New arrays take no memory before they are written, and every copy takes time."""
        control = self._store.control
        if control[layout.FOUND] == self._out.shape[1]:
            longer = np.empty((len(self._out), 4 * self._out.shape[1]), np.int64)
            longer[:, : self._out.shape[1]] = self._out
            self._out = longer
        elif control[layout.PLACED] + needed > control[layout.ALLOWED]:
            control[layout.ALLOWED] = 4 * control[layout.ALLOWED] + needed
        else:
            self._runs = lengthened(self._runs, 4 * len(self._runs) + needed)

    def _admit(self, rows: PatternRows, keys: np.ndarray) -> None:
        cursor = self._cursor(keys)
        new = keys[cursor[keys, layout.START] < 0]
        cursor[new, layout.START] = cursor[new, layout.AT] = rows.base[new]

    def _cursor(self, keys: np.ndarray) -> np.ndarray:
        count = int(keys.max(initial=-1)) + 1
        self._store.ensure_keys(count)
        self._index.ensure_keys(count)
        return self._store.cursor

    def _check_budget(self) -> None:
        """Shedding is no way out here: without its preferred thread an attempt would find another match."""
        limit = self._budget.runs
        if limit is not None and self._store.thread_count > limit:
            raise self._too_many_threads(limit)
        most = self._budget.bytes
        if most is not None and self._store.bytes + self._index.bytes > most:
            self._store.collect_garbage()
            if self._store.bytes + self._index.bytes > most:
                size, index = in_words(self._store.bytes), in_words(self._index.bytes)
                said = f"the attempts under way take {size}, the index of rows {index}, and the budget is {in_words(most)}"
                raise over_budget(self._pattern, said, HINT)

    def _too_many_threads(self, limit: int) -> BudgetError:
        hint = "Add conditions that separate the variables, shorten WITHIN, or raise the budget's runs."
        return over_budget(self._pattern, f"the preferred match has more than {limit} alternatives under way", hint)

    def _matches(self) -> Matches:
        count, placed = int(self._store.control[layout.FOUND]), int(self._store.control[layout.RUNS])
        if not count:
            return Matches.none()
        out, runs = self._out[:, :count], self._runs[:placed]
        if count > WORTH_HANDING_OVER:
            self._out, self._runs = np.empty_like(self._out), np.empty_like(self._runs)
        else:
            out, runs = out.copy(), runs.copy()
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum(out[2] - out[1], out=offsets[1:])
        return Matches(out[0], out[1], offsets, MatchRuns(runs, out[3]))

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        return np.maximum(self._cursor(keys)[keys, layout.START], 0)

    def idle(self, keys: np.ndarray) -> np.ndarray:
        cursor = self._cursor(keys)
        return cursor[keys, layout.START] == cursor[keys, layout.AT]

    def pass_over(self, keys: np.ndarray, ordinals: np.ndarray) -> None:
        cursor = self._cursor(keys)
        cursor[keys, layout.START] = cursor[keys, layout.AT] = ordinals
        cursor[keys, layout.END], cursor[keys, layout.END_NODE] = -1, layout.NO_NODE
        self._index.pass_over(keys)

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._store.cursor = np.ascontiguousarray(self._cursor(old_of_new)[old_of_new])
        self._index.forget(self._store.control)

    def codes(self) -> list[np.ndarray]:
        """The codes of strings that threads remember, between calls."""
        return [self._store.saved_registers[places, register] for register, places in self._remembered(len(self._strings))]

    def recode(self, new_of_old: np.ndarray) -> None:
        """Strings have other codes now. What is known of stretches of rows, by their values, is learned again."""
        for register, places in self._remembered(len(new_of_old)):
            self._store.saved_registers[places, register] = new_of_old[self._store.saved_registers[places, register]]
        self._index.forget(self._store.control)
        self._learned[:] = 0

    def _remembered(self, known: int) -> list[tuple[int, np.ndarray]]:
        """Registers that hold strings, with the lines of the store in which they have the code of one of the `known` ones. Lines of threads
        that have ended since are among them, or hold what nobody reads."""
        flags = self._store.saved_valid[: int(self._store.control[layout.SAVED])]
        lines = [(register, np.flatnonzero(flags[:, register] == IS_VALUE)) for register in self._texts]
        codes = self._store.saved_registers
        return [(register, at[(codes[at, register] >= 0) & (codes[at, register] < known)]) for register, at in lines]

    def metrics(self) -> dict[str, int]:
        return {
            "threads": self._store.thread_count,
            "path_nodes": int(self._store.control[layout.NODES]),
            "thread_steps": int(self._store.control[layout.STEPS]),
            "searched": int(self._store.control[layout.SEARCHED]),
            "bytes": self._store.bytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        return self._store.state()

    def check(self, state: StateCheck) -> None:
        check_threads(state, len(self._marks), len(self._skip_members), len(self._fresh), self._texts)

    def load(self, state: dict[str, np.ndarray]) -> None:
        threads = state["threads"].reshape(-1, 2)
        fits = len(threads) == 0 or int(threads[:, 0].max()) < len(self._marks)
        if not fits or state["registers"].size != len(threads) * len(self._fresh):
            raise StateError("the snapshot belongs to another query", hint="Open the query that made it, or start without a snapshot.")
        self._store.load(state)
        self._index.forget(self._store.control)


def _fresh(register: Register) -> int:
    return layout.NUMBER if register.number else layout.ZERO if register.counter else layout.NULL
