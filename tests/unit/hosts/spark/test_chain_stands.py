"""Chains of non-overlapping matches at a border, against following every chain by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.tasks.ranges.chain_positions import positions_at_border


def stands_at(starts: dict[int, int], entry: int, border: int) -> int:
    """Where the chain that stands at `entry` stands when it reaches the border."""
    while True:
        later = [s for s in starts if s >= entry]
        if entry >= border or not later:
            return max(entry, border)
        entry = starts[min(later)] + 1


@st.composite
def bordered_chains(draw):
    border = draw(st.integers(2, 20))
    window = draw(st.integers(0, 6))
    keys = draw(st.integers(1, 3))
    matches = {}
    for key in range(keys):
        for start in range(key, border, keys):  # rows of the keys take turns
            if draw(st.booleans()):
                matches[key, start] = start + keys * draw(st.integers(0, window))
    return border, window, keys, matches


@settings(max_examples=300, deadline=None)
@given(bordered_chains())
def test_agrees_with_following_every_chain(case) -> None:
    border, window, keys, matches = case
    reach = keys * window
    expected = []
    for key in range(keys):
        starts = {start: end for (own, start), end in matches.items() if own == key}
        early = [start for start in starts if start <= reach]
        after = min((start for start in starts if start > reach), default=border)
        ends = {stands_at(starts, entry, border) for entry in [*early, after]}
        expected += [(key, min(ends), max(ends))] if starts else []
    order = sorted(matches)
    key = np.array([k for k, _ in order], np.int64)
    start = np.array([s for _, s in order], np.int64)
    end = np.array([matches[m] for m in order], np.int64)
    positions = positions_at_border(key, start, end, start <= reach, border)
    assert list(zip(positions.keys.tolist(), positions.earliest.tolist(), positions.latest.tolist(), strict=True)) == expected
    assert positions.apart.tolist() == [key for key, earliest, latest in expected if earliest < latest]


def test_parity_never_meets() -> None:
    start = np.arange(100)
    assert positions_at_border(np.zeros(100, np.int64), start, start + 1, start <= 5, 100).apart.tolist() == [0]


def test_chains_that_end_before_the_border_meet() -> None:
    start = np.array([1, 2, 3])
    assert not len(positions_at_border(np.zeros(3, np.int64), start, np.array([4, 5, 6]), np.ones(3, bool), 50).apart)
