"""Row groups cut into time ranges: what each task owns, and how much is read twice for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ostinato.archive.row_groups import RowGroup

ROWS_PER_RANGE = 8_000_000  # a task of about a second; as many ranges as cores, or a multiple, so that no core waits for the last
SMALLEST_RANGE = 100_000  # below this a task costs more than it saves
MOST_READ_TWICE = 1.5  # rows read by all tasks, over rows: beyond it the files overlap too widely in time


@dataclass(frozen=True)
class TimeRange:
    """A task owns the matches that start at low <= time < high (None: unbounded)."""

    low: int | None
    high: int | None

    def reads(self, group: RowGroup, before: int, after: int) -> bool:
        """Whether a row group may hold rows from `before` ahead of the range to `after` behind it."""
        return (self.low is None or group.high >= self.low - before) and (self.high is None or group.low <= self.high + after)


@dataclass(frozen=True)
class Divided:
    ranges: tuple[TimeRange, ...]
    read_factor: float  # rows read by all tasks over rows


def divide(groups: Sequence[RowGroup], window: int, before: int, parallelism: int) -> Divided:
    """As many ranges as are worth it, cut where row groups begin, so that only windows at the borders are read twice."""
    rows = sum(group.rows for group in groups)
    wanted = parallelism * max(1, -(-rows // (ROWS_PER_RANGE * parallelism)))
    wanted = max(1, min(wanted, rows // SMALLEST_RANGE, len(groups)))
    while wanted > 1:
        attempt = _divide_into(groups, wanted, window, before)
        if attempt.read_factor <= MOST_READ_TWICE:
            return attempt
        wanted = wanted // 2
    return _divide_into(groups, 1, window, before)


def _divide_into(groups: Sequence[RowGroup], wanted: int, window: int, before: int) -> Divided:
    ordered = sorted(groups, key=lambda group: (group.low, group.high))
    total = sum(group.rows for group in ordered)
    borders: list[int] = []
    seen = 0
    for group in ordered:
        due = total * (len(borders) + 1) / wanted
        if seen >= due and group.low > (borders[-1] if borders else ordered[0].low) + window:
            borders.append(group.low)
        seen += group.rows
    edges = [None, *borders, None]
    ranges = tuple(TimeRange(low, high) for low, high in pairwise(edges))
    read = sum(group.rows for one in ranges for group in ordered if one.reads(group, before, window))
    return Divided(ranges, read / max(1, total))


def overlap_widely(groups: Sequence[RowGroup]) -> bool:
    """Whether reading row groups in the order of their first times would have to hold most of the data back."""
    ordered = sorted(groups, key=lambda group: (group.low, group.high))
    total = sum(group.rows for group in ordered)
    held, most = 0, 0
    waiting: list[RowGroup] = []
    for group in ordered:
        waiting = [one for one in waiting if one.high >= group.low]
        waiting.append(group)
        held = sum(one.rows for one in waiting)
        most = max(most, held)
    return len(ordered) > 1 and most > max(4 * max(group.rows for group in ordered), total // 2)
