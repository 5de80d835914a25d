"""Rows of a key stay together and in order, whatever is appended and trimmed in between."""

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.runtime.rows import arena, keyed_rows
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.pattern_rows import PatternRows

batches = st.lists(st.tuples(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(0, 5)), min_size=1, max_size=12)


def retained(rows: KeyedRows, key: int) -> list[int]:
    start = rows.offset[key]
    return rows.arena.data["column:v"][start : start + rows.length[key]].tolist()


@given(batches, st.sampled_from((1, 16, keyed_rows.FEW_ROWS)))
@settings(max_examples=200, deadline=None)
def test_append_and_trim_keep_the_order_of_every_key(steps, few):
    with patch.object(keyed_rows, "FEW_ROWS", few):
        _append_and_trim(steps)


def _append_and_trim(steps):
    rows = KeyedRows({"v": np.int64}, timed=False)
    rows.ensure_keys(7)
    expected: dict[int, list[int | None]] = {k: [] for k in range(7)}
    dropped = dict.fromkeys(range(7), 0)
    at = 0
    for keys, keep in steps:
        values = np.arange(at, at + len(keys))
        valid = values % 3 != 0
        at += len(keys)
        batch = {"positions": (values, None), "column:v": (values, valid)}
        rows.append(rows.group(np.array(keys, np.int64), len(keys)), batch)
        for key, value in zip(keys, values.tolist(), strict=True):
            expected[key].append(value)
        touched = np.unique(keys)
        rows.trim(touched, np.array([max(dropped[k], len(expected[k]) + dropped[k] - keep) for k in touched]))
        for k in touched.tolist():
            cut = max(0, len(expected[k]) - keep)
            expected[k] = expected[k][cut:]
            dropped[k] += cut
    for key in range(7):
        assert retained(rows, key) == expected[key]
        assert rows.base[key] == dropped[key]
        start = rows.offset[key]
        known = rows.arena.valid["column:v"]
        if known is not None:
            assert known[start : start + rows.length[key]].tolist() == [v % 3 != 0 for v in expected[key]]


def test_an_empty_region_that_is_large_enough_keeps_its_room_when_others_grow() -> None:
    """Its rows come with those for which the arena becomes larger: they are not written over those of another key."""
    rows, at = KeyedRows({"v": np.int64}, timed=False), 0
    rows.ensure_keys(2)
    with patch.object(keyed_rows, "FEW_ROWS", 4):
        for keys, gone in (([1, 1, 0, 0, 1, 1, 1, 1, 0], 6), ([1], 7), ([1, 0, 0], 7)):
            values = np.arange(at, at + len(keys))
            at += len(keys)
            rows.append(rows.group(np.array(keys, np.int64), len(keys)), {"positions": (values, None), "column:v": (values, None)})
            rows.trim(np.array([1]), np.array([gone]))
    assert (retained(rows, 0), retained(rows, 1)) == ([2, 3, 8, 11, 12], [10])


@given(batches, st.integers(0, 2))
@settings(max_examples=100, deadline=None)
def test_columns_that_are_seldom_read_wait_as_they_came(steps, asked):
    """Whoever asks for them, at some places or at all, or only when rows are gone, gets what lies beside the other columns."""
    with patch.multiple(arena, MANY=1, SEVERAL=1), patch.object(keyed_rows, "FEW_ROWS", 1):
        rows = KeyedRows({"v": np.int64, "w": np.int64}, timed=False, positioned=False, seldom_read={"w"})
        rows.ensure_keys(7)
        waited, at = False, 0
        for keys, keep in steps:
            values = np.arange(at, at + len(keys))
            at += len(keys)
            rows.append(rows.group(np.array(keys, np.int64), len(keys)), {"column:v": (values, None), "column:w": (values * 3, None)})
            waited |= rows.arena.waits
            _, places = rows.retained()
            if asked == 1:
                assert (rows.arena.taken("column:w", places) == 3 * rows.arena.column("column:v")[places]).all()
            elif asked == 2:
                assert (rows.arena.column("column:w")[places] == 3 * rows.arena.column("column:v")[places]).all()
            touched = np.unique(keys)
            rows.trim(touched, rows.base[touched] + rows.length[touched] - keep)
            assert not rows.arena.waits
            _, places = rows.retained()
            assert (rows.arena.data["column:w"][places] == 3 * rows.arena.data["column:v"][places]).all()
        assert waited or len(set(steps[0][0])) == 1


def test_one_key_needs_no_reordering():
    rows = KeyedRows({"v": np.float64}, timed=False)
    rows.ensure_keys(1)
    grouping = rows.group(None, 3)
    assert grouping.numbers is None
    rows.append(grouping, {"positions": (np.arange(3), None), "column:v": (np.array([1.0, 2.0, 3.0]), None)})
    assert rows.length[0] == 3


def test_arena_stays_in_proportion_to_what_is_retained():
    rows = KeyedRows({"v": np.int64}, timed=False)
    rows.ensure_keys(2)
    for i in range(2000):
        values = np.arange(10 * i, 10 * i + 10)
        rows.append(rows.group(values % 2, 10), {"positions": (values, None), "column:v": (values, None)})
        both = np.array([0, 1])
        rows.trim(both, rows.base[both] + rows.length[both] - 3)
    assert rows.arena.capacity < 4 * keyed_rows.FEW_ROWS


def test_few_rows_of_many_keys_are_grouped_by_appearance():
    rows = KeyedRows({"v": np.int64}, timed=False)
    one, other = PatternRows(rows, "one/", 2), PatternRows(rows, "other/", 1)
    rows.ensure_keys(1000)
    numbers = np.array([700, 3, 700, 9])
    for _ in range(2):  # what grouping counts is forgotten in between
        grouping = rows.group(numbers, 4)
        assert grouping.keys.tolist() == [700, 3, 9]
        assert grouping.counts.tolist() == [2, 1, 1]
        rows.append(grouping, {"positions": (np.arange(4), None), "column:v": (np.array([10, 20, 30, 40]), None)})
    start = rows.offset[700]
    assert rows.arena.data["column:v"][start : start + 4].tolist() == [10, 30, 10, 30]
    assert one.slots.shape == (rows.arena.capacity, 2) and other.slots.shape == (rows.arena.capacity, 1)


def test_rows_behind_which_there_are_no_others_stay_where_they_are() -> None:
    rows = KeyedRows({"v": np.int64}, timed=False)
    rows.ensure_keys(3)
    places = []
    with patch.object(keyed_rows, "FEW_ROWS", 4):
        for keys in ([0, 0, 0, 0, 1, 1, 1, 1], [2, 2, 2, 2], [2] * 5, [2] * 9, [0, 0]):
            values = np.arange(len(keys))
            rows.append(rows.group(np.array(keys, np.int64), len(keys)), {"positions": (values, None), "column:v": (values, None)})
            places.append(rows.offset.tolist())
    assert [place[2] for place in places[1:]] == [places[1][2]] * 4 and places[3][:2] == places[0][:2]
    assert retained(rows, 2) == [*range(4), *range(5), *range(9)] and retained(rows, 0) == [0, 1, 2, 3, 0, 1]
