"""A call whose matching is divided among threads. What is found, kept and counted is that of one thread; only how many situations were
looked at may differ, as each part learns by itself in which order it looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ostinato.kernels.intervals import interval_layout as layout
from ostinato.runtime.intervals.interval_pass import IntervalPass
from ostinato.runtime.intervals.key_stretches import KeyStretches, RowArrays
from ostinato.runtime.intervals.matching_part import MatchingPart, PartInTime, RowsInTime, TooManySteps
from ostinato.runtime.intervals.work_division import Share
from ostinato.runtime.matches.finished_intervals import FinishedIntervals
from ostinato.runtime.workers import Workers

SUMMED = (layout.VISITED, layout.MADE, layout.PURGED, layout.PARTNERLESS, layout.SEARCHES, layout.FOLDED)


class DividedMatching:
    """`whole`: what one thread would go on with over the rows `given`."""

    def __init__(self, whole: IntervalPass, given: KeyStretches, shares: Sequence[Share]) -> None:
        self._whole = whole
        self._given = given
        self._shares: list[tuple[np.ndarray, IntervalPass]] = []  # the keys of each, and what is kept of them
        self._levels: list[tuple[np.ndarray, list[np.ndarray]]] = []  # places, and what was kept there; of one place in several pieces
        self.parts: list[MatchingPart] = []
        for share in shares:
            self._add(share)

    def _add(self, share: Share) -> None:
        given = self._given.chosen(share.places)
        work = self._whole.branch(self._whole.store.of_keys(given.keys))
        self._shares.append((given.keys, work))
        if share.lengths:
            chain = RowsInTime(work, list(given.numbered().pieces(share.lengths)))
            parts = [PartInTime(chain, number, given.keys, share.places) for number in range(len(share.lengths))]
            self._levels.append((share.places, [chain.levels[:-1], parts[-1].levels]))
            self.parts += parts
            return
        work.begin()
        part = MatchingPart(work, given.numbered(), given.keys, share.places)
        self._levels.append((share.places, [part.levels]))
        self.parts.append(part)

    def run(self, rows: RowArrays, workers: Workers) -> Iterator[FinishedIntervals]:
        """What is found, in the order of the parts: of each key in the order of time. Raises what the first key fails with."""
        waiting = self.parts
        while waiting:
            parts = waiting
            workers.each(len(parts), partial(_go_on, parts, rows))
            failed = [(part.failed_at, place) for place, part in enumerate(parts) if part.error is not None]
            if failed:
                raise parts[min(failed)[1]].error or AssertionError
            if self.visited > self._whole.settings[layout.STEP_LIMIT] - self._whole.store.header[layout.VISITED]:
                raise TooManySteps
            behind = next((place for place, part in enumerate(parts) if not part.done), len(parts))
            for part in parts[: behind + 1]:
                yield from part.found
                part.found = []
            waiting = parts[behind:]

    @property
    def _passes(self) -> list[IntervalPass]:
        """All that were at work."""
        known = {id(work): work for work in (*(work for _, work in self._shares), *(part.work for part in self.parts))}
        return list(known.values())

    @property
    def visited(self) -> int:
        return sum(int(work.store.header[layout.VISITED]) for work in self._passes)

    @property
    def kept(self) -> int:
        """Situations, in all parts."""
        return sum(work.store.live for _, work in self._shares)

    def put_together(self) -> None:
        """After all of it: the whole goes on with what the parts have left."""
        store, passes = self._whole.store, self._passes
        store.header[layout.PEAK] = max(int(store.header[layout.PEAK]), self._peak())
        derived = {id(work) for _, work in self._shares}
        for cell in SUMMED:
            alone = cell in (layout.VISITED, layout.SEARCHES, layout.FOLDED)
            store.header[cell] += sum(int(work.store.header[cell]) for work in passes if alone or id(work) in derived)
        store.put_back([(keys, work.store) for keys, work in self._shares])
        self._whole.orders.learn([work.orders for work in passes])

    def _peak(self) -> int:
        """How many were kept at the most, had the keys been gone through one after the other."""
        first, most, last = np.zeros((layout.LEVELS, len(self._given)), np.int64)
        for places, levels in self._levels:
            if len(levels) == 1:
                first[places], most[places], last[places] = levels[0].T
            else:
                lines = np.concatenate(levels)
                first[places], most[places], last[places] = lines[0, 0], lines[:, layout.AT_MOST_KEPT].max(), lines[-1, -1]
        changes = last - first
        before = self._whole.store.live + np.cumsum(changes) - changes
        return int((before + most - first).max(initial=0))


def _go_on(parts: Sequence[MatchingPart], rows: RowArrays, number: int) -> None:
    parts[number].go_on(rows)
