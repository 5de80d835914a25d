"""How the matching of a call is divided: by partition where these are many, and one partition that has most of the rows by time.

By time costs more than by partition: situations have to be derived once before, so that each stretch of rows knows what was kept before it
(`RowsInTime`). It is worth it where most of the time goes into combining them. What that takes is estimated by what was counted so far,
not by a clock, so that the same rows are divided in the same way each time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.intervals.key_stretches import KeyStretches

DERIVING = {"rows": 2e-9, "made": 2e-7}  # seconds: each row, and situation that begins
COMBINING = {"visited": 2e-8, "searches": 1.5e-7, "results": 4e-8}  # seconds: each situation that is looked at, search and result
COPYING = 1e-7  # seconds: a situation that is kept, for whoever goes on with it
WORTH = 1e-3  # seconds of work for which a thread is woken
RATIO = 0.75  # times as long as deriving has combining to take, where a partition is divided by time: two threads take 0.7 of the time then
MOST_DERIVING = 0.9
PARTS_EACH = 2  # of a thread, where partitions are divided, so that none waits long for the last
WEIGHT = 0.5  # of the last rows in the moving average
LEAST = 1 << 14  # rows, for fewer nothing is gained
SAMPLE = 8  # this part of the first rows is matched alone, to see what it takes


@dataclass(frozen=True)
class Share:
    """Some keys of a call, by their places in it. One alone may be cut in time, into pieces of so many rows (`lengths`)."""

    places: np.ndarray
    lengths: tuple[int, ...] = ()


class WorkDivision:
    def __init__(self, pattern: IntervalPattern) -> None:
        self._combines = len(pattern.definitions) > 1 and not pattern.each
        self._given = sum(one.start >= 0 for one in pattern.definitions)
        self._derived = len(pattern.definitions) - self._given
        self._costs: np.ndarray | None = None  # seconds by row that deriving and combining take, as far as they are known
        self.parts = 0  # that were matched beside one another

    def sampled(self, given: KeyStretches, rows: int) -> tuple[KeyStretches, ...]:
        """The rows of a call, of the first one with its first rows apart."""
        return (given,) if self._costs is not None or rows < LEAST else given.split(rows // SAMPLE)

    def took(self, counted: dict[str, int]) -> None:
        """What was counted while rows were matched."""
        if counted["rows"] <= 0:
            return
        seconds = [sum(each * counted[name] for name, each in costs.items()) / counted["rows"] for costs in (DERIVING, COMBINING)]
        self._costs = np.array(seconds) if self._costs is None else self._costs + WEIGHT * (seconds - self._costs)

    def most_made(self, given: KeyStretches) -> int:
        """So many situations can begin in these rows, at the most: between two that are derived there is a row that ends the first."""
        return int((self._derived * ((given.lengths + 1) // 2) + self._given * given.lengths).sum())

    def shares(self, given: KeyStretches, live: int, most: int) -> list[Share]:
        """For as many threads as are worth it, the largest first; empty: one does it."""
        total = given.rows
        deriving, combining = (0.0, 0.0) if self._costs is None else (total * self._costs).tolist()
        seconds = deriving + combining - live * COPYING
        threads = max(1, min(most, int(seconds / WORTH)))
        if threads == 1:
            return []
        lengths = given.lengths
        divides_keys = self._combines and combining > RATIO * (deriving + threads * live * COPYING)
        large = np.flatnonzero(lengths * threads > total) if divides_keys else np.zeros(0, np.int64)
        part = deriving / max(deriving + combining, deriving, 1e-9)
        found = [Share(large[n : n + 1], cut_in_time(int(lengths[large[n]]), threads, part)) for n in range(len(large))]
        others = np.setdiff1d(np.arange(len(given)), large, assume_unique=True)
        if len(others):
            found += [Share(places) for places in _even(others, lengths[others], threads * PARTS_EACH)]
        return found if sum(max(1, len(share.lengths)) for share in found) > 1 else []


def cut_in_time(rows: int, count: int, deriving: float) -> tuple[int, ...]:
    """So many pieces that are matched from when those before them have been derived, so that all are done at the same time. `deriving`: its
    part of the time that matching takes. Each piece is by that part shorter than the one before."""
    sizes = (1 - min(deriving, MOST_DERIVING)) ** np.arange(min(count, rows))
    ends = np.rint(np.cumsum(sizes) / sizes.sum() * (rows - len(sizes))).astype(np.int64) + np.arange(1, len(sizes) + 1)
    return tuple(np.diff(ends, prepend=0).tolist())


def _even(places: np.ndarray, lengths: np.ndarray, count: int) -> list[np.ndarray]:
    """So many groups of places with as many rows in each as can be: those that have more than their part are alone, the others are dealt
    out by their lengths, there and back."""
    alone = lengths * count > lengths.sum()
    found = [places[n : n + 1] for n in np.flatnonzero(alone)]
    order = np.argsort(-lengths[~alone], kind="stable")
    rest, groups = places[~alone], min(max(count - len(found), 1), int((~alone).sum()))
    if groups:
        turn = np.arange(len(rest)) % (2 * groups)
        group = np.empty(len(rest), np.int64)
        group[order] = np.minimum(turn, 2 * groups - 1 - turn)
        found += [rest[group == number] for number in range(groups)]
    return found
