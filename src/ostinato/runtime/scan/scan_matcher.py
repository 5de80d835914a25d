"""Strategy "scan": preferred matches where every predicate is a bit of the row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.base.errors import StateError
from ostinato.kernels.rows.key_regions import greatest
from ostinato.kernels.scan import scan_dfa as dfa
from ostinato.kernels.scan import scan_memo, scan_starts
from ostinato.kernels.scan.scan_cursors import UNSEEN, rows_to_search
from ostinato.program.ordered_nfa import VariableTest
from ostinato.program.pattern import RowPattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matcher import Matcher
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.array_growth import as_slice
from ostinato.runtime.rows.keyed_rows import NO_TIMES
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.scan.assignment import Assignment, SpanVariables
from ostinato.runtime.scan.attempt_state import check_scan
from ostinato.runtime.scan.backward_dfa import BackwardDfa
from ostinato.runtime.scan.lazy_dfa import LazyDfa
from ostinato.runtime.snapshots.state_check import StateCheck

MIN_MEMO = 1 << 10
MIN_MATCHES = 1 << 6
NO_PLACES = np.zeros(1, np.int64)  # where no match begins


class ScanMatcher(Matcher):
    """The state of key k is `cursor[k]`; see `kernels.scan.scan_dfa` for its columns."""

    def __init__(self, pattern: RowPattern, budget: Budget | None = None, pool: StringPool | None = None) -> None:
        assert pattern.nfa is not None
        self._listing = Listing(pattern, budget or Budget(), pool or StringPool())
        masks = variable_masks(pattern.tests)
        self._dfa = LazyDfa(pattern.nfa, masks)
        self._backward_dfa = BackwardDfa(pattern.nfa, masks, self._dfa.width if self._dfa.direct else 0)
        self._assignment = Assignment(pattern.nfa, masks)
        self._cursor = np.empty((0, dfa.CURSOR_WIDTH), np.int64)
        self._marks = np.empty(scan_starts.MOST + 1, np.int64)
        self._memo = scan_memo.new_table(MIN_MEMO)
        self._control = np.zeros(dfa.CONTROL_WIDTH, np.int64)
        self._setting = search_setting(pattern)
        self._timed = pattern.timed_window >= 0
        self._setting[dfa.FIRST_INITIAL] = self._dfa.initial_of_partition
        self._out = np.empty((3, 0), np.int64)

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches:
        if not len(keys):
            return Matches.none()
        found, places = self._search(rows, keys, ready, watermark, final)
        self._listing.allow(len(places) - 1, int(places[-1]))
        return self._matches(rows, found, places)

    def feed_in_parts(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Iterator[Matches]:
        if not len(keys):
            return
        found, places = self._search(rows, keys, ready, watermark, final)
        if len(places) == 1:
            return
        if places[-1] <= self._listing.part_events:
            yield self._matches(rows, found, places)
            return
        begin = 0
        while begin < len(places) - 1:
            end = int(np.searchsorted(places, places[begin] + self._listing.part_events, side="right")) - 1
            end = max(begin + 1, end)  # a single match may be that long
            yield self._matches(rows, np.ascontiguousarray(found[:, begin:end]), places[begin : end + 1] - places[begin])
            begin = end

    def _search(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> tuple[np.ndarray, np.ndarray]:
        """Columns (key, first ordinal, ordinal behind the last), more than there are matches; where the rows of each begin among all."""
        keys = np.ascontiguousarray(keys, np.int64)
        ready = np.ascontiguousarray(ready, np.int64)
        self._ensure(greatest(keys) + 1)
        ahead = rows_to_search(keys, ready, self._cursor)
        if ahead == UNSEEN:
            self._admit(rows, keys)
            ahead = rows_to_search(keys, ready, self._cursor)
        self._setting[dfa.WATERMARK], self._setting[dfa.FINAL] = watermark, final
        self._control[dfa.KEY] = self._control[dfa.FOUND] = 0
        times = rows.times if self._timed else NO_TIMES
        self._out = np.empty((3, MIN_MATCHES + ahead // 4), np.int64)
        while True:
            automaton = self._dfa
            self._setting[dfa.WIDTH] = automaton.width
            code = dfa.scan(
                keys, ready, rows.offset, rows.base, rows.length, rows.bits, times, self._setting, self._cursor, automaton.table,
                automaton.flags, automaton.mask, automaton.symbol_bits, automaton.symbol_numbers, self._backward_dfa.table, self._marks,
                self._memo, self._out, self._control,
            )  # fmt: skip
            if code == dfa.DONE:
                return self._found()
            self._provide(code, rows)

    def _provide(self, code: int, rows: PatternRows) -> None:
        """Give the kernel what it stopped for."""
        if code == dfa.MATCHES_FULL:
            self._out = np.concatenate([self._out, np.empty_like(self._out)], axis=1)
        elif code == dfa.MEMO_FULL:
            self._renew_memo(int(self._control[dfa.NEEDED]))
        elif code == dfa.NEW_SYMBOL:
            self._dfa.add_symbol(int(rows.bits[self._control[dfa.MISSING_ROW]]))
        else:
            state, bits = int(self._control[dfa.MISSING_STATE]), int(rows.bits[self._control[dfa.MISSING_ROW]])
            if code == dfa.MISS_BACKWARDS:
                self._backward_dfa.learn(state, bits)
                return
            if self._dfa.crowded:
                state = self._forget_states(state)
            self._dfa.learn(state, bits)

    def _admit(self, rows: PatternRows, keys: np.ndarray) -> None:
        """Make a cursor for partitions that are new."""
        new = keys[self._cursor[as_slice(keys), dfa.START] == UNSEEN]
        base = rows.base[as_slice(new)]
        self._cursor[as_slice(new), dfa.START] = self._cursor[as_slice(new), dfa.AT] = base
        first = as_slice(new[base == 0])
        self._cursor[first, dfa.AUTOMATON] = self._dfa.initial_of_partition
        if self._dfa.flags[self._dfa.initial_of_partition] & dfa.ACCEPTS:
            self._cursor[first, dfa.END] = 0  # the kernel looks at later starts only

    def _ensure(self, count: int) -> None:
        have = len(self._cursor)
        if count > have:
            grown = np.empty((max(count, 2 * have) if have else count, dfa.CURSOR_WIDTH), np.int64)
            grown[:have] = self._cursor
            grown[have:] = -1
            grown[have:, dfa.AUTOMATON], grown[have:, dfa.MEMO_END] = dfa.INITIAL, 0
            self._cursor = grown

    def _found(self) -> tuple[np.ndarray, np.ndarray]:
        count = int(self._control[dfa.FOUND])
        found, self._out = self._out, self._out[:, :0]
        if not count:
            return found, NO_PLACES
        if 16 * count < found.shape[1]:
            found = found[:, :count].copy()  # let go of the rest
        places = np.zeros(count + 1, np.int64)
        np.cumsum(found[2, :count] - found[1, :count], out=places[1:])
        return found, places

    def _matches(self, rows: PatternRows, found: np.ndarray, places: np.ndarray) -> Matches:
        count = len(places) - 1
        return Matches(found[0, :count], found[1, :count], places, SpanVariables(self._assignment, rows, found, places))

    def _renew_memo(self, needed: int) -> None:
        """Drop entries that the searches have passed, and make the table larger if that is not enough."""
        regions = self._cursor[:, dfa.MEMO_REGION]
        live = np.flatnonzero(regions >= 0)
        live = live[np.argsort(regions[live])]
        used = self._memo[self._memo[:, scan_memo.REGION] != scan_memo.FREE]
        entries = used[:0]
        if len(live):
            at = np.minimum(np.searchsorted(regions[live], used[:, scan_memo.REGION]), len(live) - 1)
            owner = live[at]
            current = (regions[owner] == used[:, scan_memo.REGION]) & (used[:, scan_memo.ROW] > self._cursor[owner, dfa.START])
            entries = np.ascontiguousarray(used[current])
        slots = MIN_MEMO
        while slots < 4 * (len(entries) + needed):
            slots *= 2
        self._memo = scan_memo.new_table(slots)
        scan_memo.insert_all(entries, self._memo)
        self._control[dfa.REMEMBERED] = len(entries)

    def _forget_states(self, kept: int) -> int:
        """Returns the new number of the state `kept`, in which some key is."""
        numbers = self._dfa.keep(np.unique(self._cursor[:, dfa.AUTOMATON]))
        self._cursor[:, dfa.AUTOMATON] = numbers[self._cursor[:, dfa.AUTOMATON]]
        self._forget_walks()
        return int(numbers[kept])

    def _forget_walks(self) -> None:
        self._cursor[:, dfa.MEMO_REGION], self._cursor[:, dfa.MEMO_END] = -1, 0
        self._memo = scan_memo.new_table(MIN_MEMO)
        self._control[dfa.REMEMBERED] = 0

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        self._ensure(greatest(keys) + 1)
        return np.maximum(self._cursor[:, dfa.START][as_slice(keys)], 0)

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure(greatest(keys) + 1)
        chosen = as_slice(keys)
        return self._cursor[:, dfa.START][chosen] == self._cursor[:, dfa.AT][chosen]

    def pass_over(self, keys: np.ndarray, ordinals: np.ndarray) -> None:
        self._ensure(int(np.max(keys, initial=-1)) + 1)
        self._cursor[keys, dfa.START] = self._cursor[keys, dfa.AT] = ordinals
        self._cursor[keys, dfa.AUTOMATON] = dfa.INITIAL
        self._cursor[keys, dfa.END] = -1

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure(int(old_of_new.max()) + 1 if len(old_of_new) else 0)
        self._cursor = np.ascontiguousarray(self._cursor[old_of_new])

    def metrics(self) -> dict[str, int]:
        return {
            "automaton_states": len(self._dfa),
            "row_symbols": len(self._dfa.symbols) or self._dfa.width,
            "row_steps": int(self._control[dfa.STEPS]),
            "remembered_walks": int(self._control[dfa.REMEMBERED]),
            "open_attempts": int((self._cursor[:, dfa.AT] > self._cursor[:, dfa.START]).sum()),
        }

    def state(self) -> dict[str, np.ndarray]:
        """Automaton states are numbered as they were met, so they are saved as the NFA states they stand for. Remembered walks
        only save time and are left out."""
        used, numbers = np.unique(self._cursor[:, dfa.AUTOMATON], return_inverse=True)
        cursor = self._cursor.copy()
        cursor[:, dfa.AUTOMATON] = numbers
        cursor[:, dfa.MEMO_REGION], cursor[:, dfa.MEMO_END] = -1, 0
        threads = [self._dfa.states[number] for number in used]
        lengths = [len(each) for each in threads]
        return {
            "cursor": cursor,
            "automaton_ends": np.cumsum(lengths, dtype=np.int64) if lengths else np.empty(0, np.int64),
            "automaton_threads": np.array([thread for each in threads for thread in each], np.int64),
        }

    def check(self, state: StateCheck) -> None:
        check_scan(state, self._assignment.states)

    def load(self, state: dict[str, np.ndarray]) -> None:
        cursor = np.array(state["cursor"], np.int64, order="C").reshape(-1, dfa.CURSOR_WIDTH)
        threads, ends = state["automaton_threads"], state["automaton_ends"]
        if len(threads) and int(threads.max()) >= self._assignment.states:
            raise StateError("the snapshot belongs to another query", hint="Open the query that made it, or start without a snapshot.")
        begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        numbers = [self._dfa.number(tuple(int(t) for t in threads[b:e])) for b, e in zip(begins, ends, strict=False)]
        if len(cursor):
            cursor[:, dfa.AUTOMATON] = np.array(numbers, np.int64)[cursor[:, dfa.AUTOMATON]]
        self._cursor = cursor
        self._forget_walks()


def variable_masks(tests: tuple[VariableTest, ...]) -> np.ndarray:
    """The bits that a row needs for each variable."""
    return np.array([1 << test.bit if test.bit >= 0 else 0 for test in tests], np.uint64)


def search_setting(pattern: RowPattern) -> np.ndarray:
    setting = np.zeros(dfa.SETTING_WIDTH, np.int64)
    setting[dfa.WITHIN] = pattern.within
    setting[dfa.BY_EVENTS] = pattern.within_unit == "events"
    setting[dfa.TO_NEXT_ROW] = pattern.skip == "to next row"
    return setting
