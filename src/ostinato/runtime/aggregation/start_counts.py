"""Matches counted start by start, where the start decides about negations; see `program.analysis.start_negations`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.kernels.aggregation import start_counts as kernel
from ostinato.kernels.aggregation.aggregation_cells import FULL
from ostinato.kernels.rows.grouping import ranges
from ostinato.program.analysis.start_negations import Compared, StartNegations
from ostinato.program.pattern import EventPattern
from ostinato.runtime.compact.symbol_transitions import SymbolTransitions, counts_time, window_span
from ostinato.runtime.limits.budget import Budget, Overflow, in_words, over_budget, too_many_matches
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.matcher import NEVER, Matcher
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.negation.negated_pairs import compared
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.snapshots.state_check import ANY, LIMIT, StateCheck

PAIRS = 1 << 18  # of a start and a row, followed at once
PAIR_STEPS = 2
COMPARED_STEPS = 10
SHED_PART = 16


class StartCounts(Matcher):
    """A line per start that may still have matches. The budget's runs are starts."""

    def __init__(self, pattern: EventPattern, negations: StartNegations, budget: Budget, pool: StringPool) -> None:
        self._pattern = pattern
        self._negations = negations
        self._budget = budget
        self._pool = pool
        self._steps = Steps(pattern, budget)
        self._transitions = SymbolTransitions(negations.pattern)
        self._span = window_span(pattern)
        self._by_time = counts_time(pattern)
        entry = pattern.elements[pattern.initial[0].target]
        self._entry_bit, self._entry_variable = entry.first_bit, entry.variable
        self._settings = self._made_settings()
        self._lines = np.zeros((0, kernel.CELLS + self._transitions.states), np.int64)
        self._latest = np.zeros(0, np.int64)  # per key, the last event that is negated before a match, as a time or an ordinal
        self._read = np.zeros(0, np.int64)  # per key, the next unread ordinal
        self._watermark = NEVER
        self._counts = dict.fromkeys(("matches", "shed_starts"), 0)

    def _made_settings(self) -> np.ndarray:
        settings = np.zeros(kernel.SETTING_CELLS, np.int64)
        trailing = self._negations.trailing
        settings[kernel.OWN] = self._negations.own_bits
        settings[kernel.MASK] = self._transitions.symbols.mask
        settings[kernel.BY_TIME] = self._by_time
        settings[kernel.WITHIN] = self._pattern.within
        settings[kernel.LEADING] = bool(self._negations.leading)
        settings[kernel.TRAILING] = sum(1 << bit for bit in trailing if bit >= 0)
        settings[kernel.ALL_TRAILING] = -1 in trailing
        return settings

    def feed(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Matches:
        keys = np.ascontiguousarray(keys, np.int64)
        self._ensure_keys(int(keys.max(initial=-1)) + 1)
        ordinal = self._read[keys]
        ready = np.maximum(ready, ordinal)
        self._steps.begin(int((ready - ordinal).sum()))
        self._begin_lines(rows, keys, ordinal, ready)
        self._read[keys] = ready
        self._watermark = max(self._watermark, watermark)
        mine = np.zeros(len(self._read), np.bool_)
        mine[keys] = True
        chosen = np.flatnonzero(mine[self._lines[:, kernel.KEY]])
        start_at = np.zeros(len(self._read), np.int64)
        start_at[keys] = ordinal
        self._follow(rows, chosen, start_at)
        self._settle(rows, chosen, watermark, final)
        self._within_budget()
        return Matches.none()

    def _begin_lines(self, rows: PatternRows, keys: np.ndarray, ordinal: np.ndarray, ready: np.ndarray) -> None:
        """A line for every row that can be a start, and what is negated before it."""
        counts = ready - ordinal
        at = ranges(rows.index_of(keys, ordinal), counts)
        if not len(at):
            return
        owner = np.repeat(np.arange(len(keys)), counts)
        place = at - (rows.offset[keys] - rows.base[keys])[owner]  # ordinals
        moment = rows.times[at] if self._by_time else place
        barred = self._barred(rows, keys, owner, at, moment)
        starts = np.flatnonzero(_with_bit(rows, at, self._entry_bit))
        lines = np.zeros((len(starts), self._lines.shape[1]), np.int64)
        columns = (keys[owner[starts]], place[starts], moment[starts])
        for column, values in zip((kernel.KEY, kernel.FIRST, kernel.TIME), columns, strict=True):
            lines[:, column] = values
        lines[:, kernel.BARRED] = barred[starts]
        self._lines = np.concatenate([self._lines, lines])

    def _barred(self, rows: PatternRows, keys: np.ndarray, owner: np.ndarray, at: np.ndarray, moment: np.ndarray) -> np.ndarray:
        """For every row the moment of the latest event before it that is negated there."""
        if not self._negations.leading:
            return np.full(len(at), kernel.NEVER)
        negated = np.zeros(len(at), np.bool_)
        for bit in self._negations.leading:
            negated |= _with_bit(rows, at, bit)
        seen = np.maximum.accumulate(np.where(negated, np.arange(len(at)), -1))
        first = np.searchsorted(owner, np.arange(len(keys)))
        before = np.concatenate([[-1], seen[:-1]])
        found = np.where(before >= first[owner], moment[np.maximum(before, 0)], self._latest[keys][owner])
        last = np.searchsorted(owner, np.arange(len(keys)), side="right") - 1
        fed = last >= first
        self._latest[keys[fed]] = np.where(seen[last[fed]] >= first[fed], moment[seen[last[fed]]], self._latest[keys[fed]])
        return found

    def _follow(self, rows: PatternRows, chosen: np.ndarray, start_at: np.ndarray) -> None:
        """Offer the new rows in its window to every start."""
        lines = self._lines
        key, first = lines[chosen, kernel.KEY], lines[chosen, kernel.FIRST]
        ordinal = np.maximum(first, start_at[key])
        end = self._read[key]
        if not self._by_time and self._pattern.within >= 0:
            end = np.minimum(end, first + self._span + 1)
        begin, stop = rows.index_of(key, ordinal), rows.index_of(key, np.maximum(end, ordinal))
        if self._by_time:
            stop = _window_ends(rows.times, begin, stop, lines[chosen, kernel.TIME] + self._span)
        total = np.cumsum(stop - begin)
        at = 0
        while at < len(chosen):
            done = int(total[at - 1]) if at else 0
            upto = max(at + 1, int(np.searchsorted(total, done + PAIRS, side="right")))
            self._advance(rows, chosen[at:upto], begin[at:upto], stop[at:upto], ordinal[at:upto])
            at = upto

    def _advance(self, rows: PatternRows, chosen: np.ndarray, begin: np.ndarray, end: np.ndarray, ordinal: np.ndarray) -> None:
        """Call the kernel until it is through; between calls it learns symbols."""
        counts = end - begin
        steps = PAIR_STEPS + COMPARED_STEPS * len(self._negations.compared)
        self._steps.take(steps * int(counts.sum()), f"{len(self._lines):,} starts are followed, and it takes too long")
        extra = self._own_bits(rows, chosen, begin, counts)
        extra_at = np.cumsum(counts) - counts
        header = np.zeros(kernel.HEADER_CELLS, np.int64)
        bits = rows.bits.view(np.int64)
        while True:
            learned, symbols = self._transitions, self._transitions.symbols
            status = kernel.follow(
                learned.table, learned.transitions, symbols.direct, symbols.slot_bits, symbols.slot_numbers, self._settings,
                bits, rows.times, extra, self._lines, chosen, begin, end, ordinal, extra_at, header,
            )  # fmt: skip
            if status == kernel.DONE:
                return
            learned.learn(int(header[kernel.UNKNOWN_BITS]))

    def _own_bits(self, rows: PatternRows, chosen: np.ndarray, begin: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """For each start and row whether it is negated by comparison."""
        if not self._negations.compared:
            return np.zeros(0, np.int64)
        lines = self._lines[chosen]
        variables = np.full(len(chosen), self._entry_variable, np.uint8)
        first = np.ascontiguousarray(lines[:, kernel.FIRST])
        starts = Matches(np.ascontiguousarray(lines[:, kernel.KEY]), first, np.arange(len(chosen) + 1), variables, first)
        at, owner = ranges(begin, counts), np.repeat(np.arange(len(chosen)), counts)
        found = np.zeros(len(at), np.int64)
        for one in self._negations.compared:
            asked = np.flatnonzero(_with_bit(rows, at, one.negation.items[0].bit))
            hit = self._true(one, rows, starts, owner[asked], at[asked])
            found[asked[hit]] |= 1 << one.bit
        return found

    def _true(self, one: Compared, rows: PatternRows, starts: Matches, owner: np.ndarray, at: np.ndarray) -> np.ndarray:
        return compared(self._pattern, one.negation, self._pool, rows, starts, owner, at)

    def _settle(self, rows: PatternRows, chosen: np.ndarray, watermark: int, final: bool) -> None:
        """Count what is complete, and let go of starts that are over."""
        lines = self._lines
        over = np.full(len(chosen), final)
        key, moment = lines[chosen, kernel.KEY], lines[chosen, kernel.TIME]
        if self._pattern.within >= 0:
            over |= (self._read[key] - moment > self._span) if not self._by_time else self._time_over(rows, key, moment, watermark)
        decided = chosen if not self._negations.trailing else chosen[over]
        self._counts["matches"] += sum(lines[decided, kernel.COMPLETE].tolist())  # whole numbers: the sum may leave 64 bits
        lines[decided, kernel.COMPLETE] = 0
        if self._counts["matches"] >= FULL:
            raise too_many_matches(self._pattern)
        idle = (lines[chosen, kernel.ACTIVE] == 0) & (lines[chosen, kernel.COMPLETE] == 0)
        kept = np.ones(len(lines), np.bool_)
        kept[chosen[over | idle]] = False
        self._lines = lines[kept]

    def _time_over(self, rows: PatternRows, key: np.ndarray, moment: np.ndarray, watermark: int) -> np.ndarray:
        """Whether no row can come into the window any more: a later one is there, or the watermark is beyond."""
        passed = np.zeros(len(key), np.bool_)
        known = np.flatnonzero(self._read[key] > rows.base[key])  # of rows that were let go it was seen when they came
        passed[known] = rows.times[rows.index_of(key[known], self._read[key[known]] - 1)] - moment[known] > self._span
        return passed if watermark == NEVER else passed | (watermark - moment > self._span)

    def _within_budget(self) -> None:
        most, room = self._budget.runs, self._budget.bytes
        if room is not None:
            allowed = room // (8 * self._lines.shape[1])
            most = allowed if most is None else min(most, allowed)
        over = 0 if most is None else len(self._lines) - most
        if over <= 0:
            return
        if self._budget.overflow is Overflow.ERROR:
            said = f"{len(self._lines):,} starts may still have matches, in {in_words(self._lines.nbytes)}; the budget is {most:,} of them"
            raise over_budget(self._pattern, said, "shorten WITHIN, or raise the budget's runs and bytes")
        shed = min(len(self._lines), over + (len(self._lines) - over) // SHED_PART)
        kept = np.ones(len(self._lines), np.bool_)
        kept[np.argsort(self._lines[:, kernel.TIME], kind="stable")[:shed]] = False
        self._lines = self._lines[kept]
        self._counts["shed_starts"] += shed

    def feed_in_parts(self, rows: PatternRows, keys: np.ndarray, ready: np.ndarray, watermark: int, final: bool) -> Iterator[Matches]:
        yield self.feed(rows, keys, ready, watermark, final)

    def keep_from(self, keys: np.ndarray) -> np.ndarray:
        """Starts that rows are compared with are needed."""
        if not self._negations.compared or not len(self._lines):
            return self._read[keys]
        needed = self._read.copy()
        np.minimum.at(needed, self._lines[:, kernel.KEY], self._lines[:, kernel.FIRST])
        return needed[keys]

    def idle(self, keys: np.ndarray) -> np.ndarray:
        self._ensure_keys(int(np.max(keys, initial=-1)) + 1)
        busy = np.zeros(len(self._read), np.bool_)
        busy[self._lines[:, kernel.KEY]] = True
        return ~busy[keys] & ~self._bars(keys)

    def _bars(self, keys: np.ndarray) -> np.ndarray:
        """Whether what is negated before a match can still be in the window of one that is to come."""
        latest, within = self._latest[keys], self._pattern.within
        if not self._by_time:
            return (latest != kernel.NEVER) & (latest > self._read[keys] - within)
        return (latest != kernel.NEVER) & ((self._watermark == NEVER) | (latest >= self._watermark - within))

    def _ensure_keys(self, count: int) -> None:
        have = len(self._read)
        if count > have:
            self._read = grown(self._read, max(count, have + have // 2))
            self._latest = grown(self._latest, len(self._read))
            self._latest[have:] = kernel.NEVER

    def renumber(self, old_of_new: np.ndarray) -> None:
        self._ensure_keys(int(np.max(old_of_new, initial=-1)) + 1)
        new_of_old = np.full(len(self._read), -1, np.int64)
        new_of_old[old_of_new] = np.arange(len(old_of_new))
        self._lines[:, kernel.KEY] = new_of_old[self._lines[:, kernel.KEY]]
        self._read, self._latest = self._read[old_of_new], self._latest[old_of_new]

    def metrics(self) -> dict[str, int]:
        return {
            **self._counts,
            "starts": len(self._lines),
            "row_symbols": len(self._transitions.symbols),
            "state_bytes": self._lines.nbytes,
        }

    def state(self) -> dict[str, np.ndarray]:
        counts = np.array(list(self._counts.values()), np.int64)
        return {"lines": self._lines, "latest": self._latest, "read": self._read, "counts": counts}

    def check(self, state: StateCheck) -> None:
        lines = state.array("lines", np.int64, ANY, self._lines.shape[1])
        read = state.read_up_to("read")
        state.array("latest", np.int64, len(read))
        state.between(state.array("counts", np.int64, len(self._counts)), 0, int(FULL), "counts")
        state.index(lines[:, kernel.KEY], len(read), "known keys of starts")
        state.between(lines[:, kernel.FIRST], 0, read[lines[:, kernel.KEY]] - 1, "starts that were read")
        state.between(lines[:, kernel.TIME], -LIMIT, LIMIT, "times of starts")
        state.between(lines[:, kernel.ACTIVE], 0, (1 << self._transitions.states) - 1, "known states")
        state.require(bool((lines[:, kernel.COMPLETE :] >= 0).all()), "numbers of matches")
        if self._negations.compared:
            state.ordinals_of(lines[:, kernel.KEY], lines[:, kernel.FIRST], "starts at retained rows")

    def load(self, state: dict[str, np.ndarray]) -> None:
        self._lines, self._latest, self._read = state["lines"].copy(), state["latest"].copy(), state["read"].copy()
        self._counts = dict(zip(self._counts, state["counts"].tolist(), strict=True))


def _with_bit(rows: PatternRows, at: np.ndarray, bit: int) -> np.ndarray:
    """Which of the rows have it; -1 is one that all have."""
    return np.ones(len(at), np.bool_) if bit < 0 else (rows.bits[at] >> np.uint64(bit)) & np.uint64(1) == 1


def _window_ends(times: np.ndarray, begin: np.ndarray, end: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """For each of the stretches of rows in order the first one beyond a time."""
    low, high = begin.copy(), end.copy()
    while (open_ := low < high).any():
        middle = (low + high) // 2
        later = open_ & (times[np.where(open_, middle, 0)] > limit)
        high = np.where(later, middle, high)
        low = np.where(open_ & ~later, middle + 1, low)
    return low
