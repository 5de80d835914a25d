"""NegatedEvent events that are compared with the match: conditions are evaluated over (match, event) pairs, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ostinato.expr.types import BOOL
from ostinato.kernels.rows.grouping import ranges
from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.negation import NegatedEvent, Negation
from ostinato.program.pattern import EventPattern
from ostinato.runtime.limits.steps import Steps
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.output.measures import MatchView
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool

PAIRS = 1 << 16  # evaluated at once
PAIR_STEPS = 8
FIRST_LOOK = 4  # candidates per match in the first round: many matches die by one of them
WIDER = 8  # each round looks at so many times more

Bound = tuple[np.ndarray, ...]  # per item already bound the arena rows


class NegatedPairs:
    """Looks for one negation in the gaps of matches."""

    def __init__(self, pattern: EventPattern, negation: Negation, pool: StringPool, steps: Steps) -> None:
        self._pattern = replace(pattern, measures=negation.given)
        self._negation = negation
        self._pool = pool
        self._steps = steps

    def inside(self, rows: PatternRows, matches: Matches, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Whether negated events lie strictly between the two ordinals, for each match."""
        if not len(matches):
            return np.zeros(0, np.bool_)
        return _Search(self._pattern, self._negation, self._pool, self._steps, rows, matches, low, high).run()


def compared(
    pattern: EventPattern, negation: Negation, pool: StringPool, rows: PatternRows, matches: Matches, owner: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """Whether the first negated event of a negation may be the arena row `at[i]`, for the match numbered `owner[i]`."""
    view = MatchView(replace(pattern, measures=negation.given), matches, rows, pool, None, None)
    item = negation.items[0]
    assert item.test is not None  # or there is nothing to compare
    pairs = _Pairs(view, rows, view.measure_columns(), matches.key[owner], owner, (at,), item)
    (found,) = evaluate(item.test, len(owner), pairs.input)
    return found.data if found.valid is None else found.data & found.valid


class _Search:
    def __init__(
        self,
        pattern: EventPattern,
        negation: Negation,
        pool: StringPool,
        steps: Steps,
        rows: PatternRows,
        matches: Matches,
        low: np.ndarray,
        high: np.ndarray,
    ) -> None:
        self._pattern = pattern
        self._steps = steps
        self._items = negation.items
        self._rows = rows
        self._matches = matches
        self._view = MatchView(pattern, matches, rows, pool, None, None)
        self._given = self._view.measure_columns()
        to_arena = rows.offset[matches.key] - rows.base[matches.key]
        self._begin = np.maximum(low + 1 + to_arena, rows.offset[matches.key])
        self._end = np.maximum(high + to_arena, self._begin)
        self._candidates = [self._with_bit(item) for item in negation.items]
        self._skips = pattern.selection not in ("strict_contiguity", "partition_contiguity")
        self._chained = negation.chained
        self._killed = np.zeros(len(matches), np.bool_)

    def run(self) -> np.ndarray:
        begin, end = self._equal_candidates() or self._all_candidates()
        self._look(0, np.arange(len(self._matches)), (), begin, end)
        return self._killed

    def _all_candidates(self) -> tuple[np.ndarray, np.ndarray]:
        """For each match the candidates of the first item in its gap."""
        return np.searchsorted(self._candidates[0], self._begin), np.searchsorted(self._candidates[0], self._end)

    def _equal_candidates(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The same, less those that an equality rules out: candidates are put in order by value, then by row."""
        if self._items[0].join is None:
            return None
        column, given = self._items[0].join
        own, wanted = self._view.stored(column, self._candidates[0]), self._given[given]
        if own.dictionary is not wanted.dictionary:
            return None
        values = np.concatenate([own.data, wanted.data]).astype(np.int64)
        _, value = np.unique(values, return_inverse=True)
        place = value[: len(own)] * self._rows.arena.capacity + self._candidates[0]
        if own.valid is not None:
            self._candidates[0], place = self._candidates[0][own.valid], place[own.valid]
        order = np.argsort(place)
        self._candidates[0], place = self._candidates[0][order], place[order]
        offset = value[len(own) :] * self._rows.arena.capacity
        begin, end = np.searchsorted(place, offset + self._begin), np.searchsorted(place, offset + self._end)
        return begin, end if wanted.valid is None else np.where(wanted.valid, end, begin)

    def _with_bit(self, item: NegatedEvent) -> np.ndarray:
        """Arena rows in any gap that are such an event as far as the row alone tells, in ascending order."""
        keys, inverse = np.unique(self._matches.key, return_inverse=True)
        first = np.full(len(keys), np.iinfo(np.int64).max)
        last = np.zeros(len(keys), np.int64)
        np.minimum.at(first, inverse, self._begin)
        np.maximum.at(last, inverse, self._end)
        order = np.argsort(first)
        span = ranges(first[order], (last - first)[order])
        return span if item.bit < 0 else span[(self._rows.bits[span] >> np.uint64(item.bit)) & np.uint64(1) == 1]

    def _look(self, number: int, owner: np.ndarray, bound: Bound, begin: np.ndarray, end: np.ndarray) -> None:
        """Try for each beginning of a sequence (of match `owner`, its events in `bound`) the candidates [begin, end) of item `number`."""
        once = self._first_suffices(number)
        width = FIRST_LOOK
        left = np.flatnonzero(begin < end)
        while len(left):
            found = np.zeros(len(owner), np.bool_)
            for part in _portions(left, np.minimum((end - begin)[left], width)):
                part = part[~self._killed[owner[part]]]
                counts = np.minimum((end - begin)[part], width)
                pair = np.repeat(part, counts)
                self._steps.take(
                    PAIR_STEPS * len(pair), f"{len(self._matches):,} candidates and more are compared with forbidden events one by one"
                )
                rows = self._candidates[number][ranges(begin[part], counts)]
                hit = self._true(number, owner[pair], (*(b[pair] for b in bound), rows))
                pair, rows = pair[hit], rows[hit]
                found[pair] = True
                if once and len(pair):
                    first = np.concatenate([[True], pair[1:] != pair[:-1]])
                    pair, rows = pair[first], rows[first]
                self._bound(number, owner[pair], (*(b[pair] for b in bound), rows))
            begin = begin + width
            left = left[(begin < end)[left] & ~self._killed[owner[left]] & ~(found[left] & once)]
            width = min(PAIRS, width * WIDER)

    def _first_suffices(self, number: int) -> bool:
        """Whether only the first event that fits continues a sequence: so it is under skip till next match behind the first item; and
        where no event is compared with an earlier one, whoever comes first leaves the most room."""
        if not self._skips:
            return False
        return not self._chained or (number > 0 and self._pattern.selection == "skip_till_next_match")

    def _bound(self, number: int, owner: np.ndarray, bound: Bound) -> None:
        if not len(owner):
            return
        if number + 1 == len(self._items):
            self._killed[owner] = True
            return
        candidates = self._candidates[number + 1]
        begin = np.searchsorted(candidates, bound[-1] + 1)
        end = np.searchsorted(candidates, self._end[owner] if self._skips else np.minimum(bound[-1] + 2, self._end[owner]))
        self._look(number + 1, owner, bound, begin, end)

    def _true(self, number: int, owner: np.ndarray, bound: Bound) -> np.ndarray:
        """Which pairs satisfy the conditions of an item."""
        item = self._items[number]
        joined = self._joined(bound) if number else np.ones(len(owner), np.bool_)
        if item.test is None or not len(owner):
            return joined
        pairs = _Pairs(self._view, self._rows, self._given, self._matches.key[owner], owner, bound, item)
        (found,) = evaluate(item.test, len(owner), pairs.input)
        return joined & (found.data if found.valid is None else found.data & found.valid)

    def _joined(self, bound: Bound) -> np.ndarray:
        """Whether an event may follow the one before it, whatever they hold."""
        before, here = bound[-2], bound[-1]
        joined = np.ones(len(here), np.bool_)
        if self._pattern.selection == "strict_contiguity":
            joined &= self._rows.positions[here] == self._rows.positions[before] + 1
        if self._pattern.ties == "epoch" and self._rows.timed:
            joined &= self._rows.times[here] != self._rows.times[before]
        return joined


class _Pairs:
    """The inputs of a test."""

    def __init__(
        self, view: MatchView, rows: PatternRows, given: list[Vector], keys: np.ndarray, owner: np.ndarray, bound: Bound, item: NegatedEvent
    ) -> None:
        self._view = view
        self._rows = rows
        self._given = given
        self._keys = keys
        self._owner = owner
        self._bound = bound
        self._item = item

    def input(self, name: str) -> Vector:
        kind, _, rest = name.partition(":")
        if kind == "match":
            given = self._given[int(rest)]
            return Vector(given.type, given.data[self._owner], None if given.valid is None else given.valid[self._owner], given.dictionary)
        point, _, column = rest.partition(":")
        index = self._at(int(point))
        return Vector(BOOL, index >= 0, None, None) if kind == "there" else self._view.stored(column, index)

    def _at(self, number: int) -> np.ndarray:
        """The arena row, -1 outside of the partition."""
        point = self._item.points[number]
        index = self._bound[point.item] + point.shift
        first = self._rows.offset[self._keys]
        return index if not point.shift else np.where((index >= first) & (index < first + self._rows.length[self._keys]), index, -1)


def _portions(numbers: np.ndarray, counts: np.ndarray) -> Iterator[np.ndarray]:
    """Cut so that the counts of a portion add up to `PAIRS` at most; no count is larger."""
    total = np.cumsum(counts)
    start = 0
    while start < len(numbers):
        done = total[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(total, done + PAIRS, side="right")))
        yield numbers[start:end]
        start = end
