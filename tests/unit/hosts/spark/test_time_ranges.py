from __future__ import annotations

from itertools import pairwise

import pytest

from ostinato.archive.row_groups import RowGroup
from ostinato.tasks.ranges import time_ranges
from ostinato.tasks.ranges.time_ranges import TimeRange, divide, overlap_widely


@pytest.fixture(autouse=True)
def _small_ranges(monkeypatch) -> None:
    monkeypatch.setattr(time_ranges, "SMALLEST_RANGE", 10)


def consecutive(count: int, rows: int = 100) -> list[RowGroup]:
    return [RowGroup("f", i, rows, i * 1000, i * 1000 + 999) for i in range(count)]


def test_ranges_cover_all_time_without_overlap() -> None:
    ranges = divide(consecutive(16), 100, 0, 4).ranges
    assert len(ranges) == 4
    assert ranges[0].low is None and ranges[-1].high is None
    assert all(a.high == b.low for a, b in pairwise(ranges))


def test_only_windows_at_the_borders_are_read_twice() -> None:
    assert divide(consecutive(16), 100, 0, 4).read_factor == pytest.approx(1 + 3 / 16)


def test_a_window_longer_than_the_data_leaves_one_range() -> None:
    assert divide(consecutive(16), 10**9, 0, 4).ranges == (TimeRange(None, None),)


def test_row_groups_that_all_cover_the_same_time_leave_one_range() -> None:
    groups = [RowGroup("f", i, 100, 0, 10_000) for i in range(8)]
    assert divide(groups, 100, 0, 4).ranges == (TimeRange(None, None),)
    assert overlap_widely(groups)


def test_a_little_disorder_is_not_a_wide_overlap() -> None:
    groups = [RowGroup("f", i, 100, i * 1000 - 50, i * 1000 + 999) for i in range(16)]
    assert not overlap_widely(groups)
    assert len(divide(groups, 100, 0, 4).ranges) == 4


def test_equal_times_stay_in_one_range() -> None:
    groups = [RowGroup("f", i, 100, 5, 5) for i in range(4)] + [RowGroup("f", 9, 400, 6, 9)]
    for one in divide(groups, 0, 0, 2).ranges:
        assert one.low in (None, 6) and one.high in (None, 6)
