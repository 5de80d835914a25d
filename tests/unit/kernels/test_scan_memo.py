from __future__ import annotations

import numpy as np
import pytest

from ostinato.kernels._jit import at_first_call
from ostinato.kernels.scan import scan_memo

find, home = at_first_call(scan_memo.find), at_first_call(scan_memo.home)
ROWS = range(0, 200_000, scan_memo.SPACING)


def filled(keys: list[tuple[int, int, int]]) -> np.ndarray:
    memo = scan_memo.new_table(1 << (2 * len(keys) - 1).bit_length())
    scan_memo.insert_all(np.array([(*key, number, 0) for number, key in enumerate(keys)], np.int64), memo)
    return memo


@pytest.mark.parametrize(
    "keys",
    [[(7, row, state) for state in (1, 2, 3) for row in ROWS], [(region, row, 2) for region in range(3) for row in ROWS]],
    ids=["several states", "several regions"],
)
def test_entries_are_found_near_the_place_where_they_are_looked_for(keys):
    memo = filled(keys)
    slots = np.array([find(memo, *key) for key in keys])
    assert (memo[slots, scan_memo.TO_ROW] == np.arange(len(keys))).all()
    first = np.array([home(memo, *key) for key in keys])
    searched = (slots - first) % len(memo)
    assert searched.mean() < 4 and searched.max() < 1000


def test_what_is_not_there_is_known_soon():
    memo = filled([(7, row, 2) for row in ROWS])
    free = np.array([find(memo, 7, row, 1) for row in ROWS])
    assert (memo[free, scan_memo.REGION] == scan_memo.FREE).all()
    first = np.array([home(memo, 7, row, 1) for row in ROWS])
    assert ((free - first) % len(memo)).max() < 1000
