"""Where chains of non-overlapping matches stand at a border, whatever row each began from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ChainPositions:
    """Per key that has matches: the earliest and the latest row at which one of its chains stands when it reaches the border."""

    keys: np.ndarray
    earliest: np.ndarray
    latest: np.ndarray

    @property
    def apart(self) -> np.ndarray:
        """The keys whose chains have not met."""
        return self.keys[self.earliest != self.latest]


def positions_at_border(keys: np.ndarray, start: np.ndarray, end: np.ndarray, early: np.ndarray, border: int) -> ChainPositions:
    """Given for each start row before row `border` the match that begins there: chains begin at every `early` start, at the first
    start after those, or at none."""
    if not len(start):
        nothing = np.zeros(0, np.int64)
        return ChainPositions(nothing, nothing, nothing)
    stride = int(max(end.max(), border)) + 2
    at = keys * stride + start
    order = np.argsort(at)
    at, keys, end, early = at[order], keys[order], end[order], early[order]
    last = _last_of_chain(at, keys, np.searchsorted(at, keys * stride + end + 1))
    positions = np.maximum(end[last] + 1, border)
    first_late = ~early & np.concatenate([[True], (keys[1:] != keys[:-1]) | early[:-1]])
    candidate = early | first_late
    groups, place = np.unique(keys[candidate], return_inverse=True)
    low = np.full(len(groups), np.iinfo(np.int64).max)
    high = np.full(len(groups), border)
    np.minimum.at(low, place, positions[candidate])
    np.maximum.at(high, place, positions[candidate])
    # a key without a late start may have a chain that finds no match at all before the border
    has_late = np.zeros(len(groups), bool)
    has_late[np.searchsorted(groups, keys[first_late])] = True
    low[~has_late] = np.minimum(low[~has_late], border)
    return ChainPositions(groups, low, high)


def overtaken_left_out(keys: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all matches those that a chain can take which takes the one that is complete first: none that begins later ends earlier. Of the
    matches that are left the first that a chain meets is the one it takes."""
    order = np.lexsort((end, start, keys))
    keys, start, end = keys[order], start[order], end[order]
    first = np.ones(len(start), np.bool_)
    first[1:] = (keys[1:] != keys[:-1]) | (start[1:] != start[:-1])
    keys, start, end = keys[first], start[first], end[first]
    # the earliest end from here on, within the key: keys are told apart by adding more than any end
    stride = int(end.max(initial=0)) + 1
    at = keys * stride + end
    earliest = np.minimum.accumulate(at[::-1])[::-1]
    kept = at <= np.append(earliest[1:], np.iinfo(np.int64).max)
    return keys[kept], start[kept], end[kept]


def _last_of_chain(at: np.ndarray, keys: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The last match of the chain that begins with each match, given the first match that may follow it."""
    count = len(at)
    same_key = (after < count) & (keys[np.minimum(after, count - 1)] == keys)
    # position count + i: the chain's last match was i
    jump = np.concatenate([np.where(same_key, after, count + np.arange(count)), count + np.arange(count)])
    while True:
        further = jump[jump]
        if np.array_equal(further, jump):
            return jump[:count] - count
        jump = further
