"""The regions of keys, moved on by one kernel, are what NumPy says they are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.kernels.rows import key_regions as kernel

KEYS = 5


@st.composite
def regions(draw):
    """(offset, base, length, room) of some keys, side by side, and some of the keys."""
    numbers = st.lists(st.integers(0, 6), min_size=KEYS, max_size=KEYS)
    length, base = np.array(draw(numbers)), np.array(draw(numbers))
    room = length + np.array(draw(numbers))
    keys = np.array(draw(st.lists(st.integers(0, KEYS - 1), unique=True, max_size=KEYS)), np.int64)
    return np.cumsum(room) - room, base, length, room, keys


def some(draw, keys, least=-3, most=9):
    return np.array(draw(st.lists(st.integers(least, most), min_size=len(keys), max_size=len(keys))), np.int64)


@settings(deadline=None)
@given(st.lists(st.integers(0, 50)))
def test_sums_and_greatest_numbers(values):
    array = np.array(values, np.int64)
    assert kernel.total(array) == sum(values)
    assert kernel.greatest(array) == max(values, default=-1)


@settings(deadline=None)
@given(regions(), st.data())
def test_rows_are_appended_where_there_is_room_for_all(given_regions, data):
    offset, _, length, room, keys = given_regions
    counts = some(data.draw, keys, 0, 6)
    before, first = length.copy(), np.full(len(keys), -1)
    done = kernel.append_rows(keys, counts, offset, length, room, first)
    assert done == bool((before[keys] + counts <= room[keys]).all())
    expected = before.copy()
    if done:
        expected[keys] += counts
        assert first.tolist() == (offset[keys] + before[keys]).tolist()
    assert length.tolist() == expected.tolist()


@settings(deadline=None)
@given(regions(), st.data())
def test_rows_are_dropped_up_to_an_ordinal(given_regions, data):
    offset, base, length, room, keys = given_regions
    keep_from = some(data.draw, keys, -2, 14)
    drop = np.zeros(KEYS, np.int64)
    drop[keys] = np.clip(keep_from - base[keys], 0, length[keys])
    expected = [(offset + drop).tolist(), (base + drop).tolist(), (length - drop).tolist(), (room - drop).tolist()]
    assert kernel.drop_rows(keys, keep_from, offset, base, length, room) == drop.sum()
    assert [offset.tolist(), base.tolist(), length.tolist(), room.tolist()] == expected


@settings(deadline=None)
@given(regions(), st.data(), st.integers(0, 2), st.integers(0, 2))
def test_stretches_hold_what_is_asked_for_and_its_neighbours(given_regions, data, back, ahead):
    offset, base, length, _, keys = given_regions
    start = base[keys] + np.minimum(some(data.draw, keys, 0, 6), length[keys])
    end = base[keys] + np.minimum(some(data.draw, keys, 0, 6), length[keys])
    found, begin = np.full((kernel.LINES, len(keys)), -1), np.full(len(keys) + 1, -1)
    count = kernel.stretches_around(keys, start, end, offset, base, length, back, ahead, found, begin)
    fresh = np.flatnonzero(end > start)
    assert count == len(fresh) and begin[0] == 0
    whole = 2 * (end - start)[fresh].sum() > length[keys[fresh]].sum()
    for i, at in enumerate(fresh.tolist()):
        k = keys[at]
        low = base[k] if whole else max(base[k], start[at] - back)
        high = base[k] + length[k] if whole else min(base[k] + length[k], end[at] + ahead)
        assert found[kernel.FIRST, i] == offset[k] + low - base[k]
        assert found[kernel.COUNT, i] == high - low == begin[i + 1] - begin[i]
        assert found[kernel.SOURCE, i] == begin[i] + start[at] - low
        assert found[kernel.WANTED, i] == end[at] - start[at]
        assert found[kernel.TARGET, i] == offset[k] + start[at] - base[k]


@settings(deadline=None)
@given(regions(), st.data())
def test_unread_rows_begin_where_a_key_was_read_to(given_regions, data):
    offset, base, length, _, keys = given_regions
    read = base + np.minimum(some(data.draw, base, 0, 6), length)
    ready = base[keys] + np.minimum(some(data.draw, keys, 0, 6), length[keys])
    ordinal, begin, end = np.empty((3, len(keys)), np.int64)
    counts = np.maximum(ready - read[keys], 0)
    assert kernel.unread_rows(keys, ready, read, offset, base, ordinal, begin, end) == counts.sum()
    assert ordinal.tolist() == read[keys].tolist()
    assert begin.tolist() == (offset[keys] + read[keys] - base[keys]).tolist()
    assert (end - begin).tolist() == counts.tolist()
