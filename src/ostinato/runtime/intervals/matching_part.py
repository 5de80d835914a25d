"""What one thread matches at a time, of a call that is divided: some keys, or a stretch of the rows of one."""

from __future__ import annotations

from threading import Event

import numpy as np

from ostinato.base.errors import OstinatoError
from ostinato.kernels.intervals import interval_layout as layout
from ostinato.runtime.intervals.interval_pass import IntervalPass
from ostinato.runtime.intervals.key_stretches import KeyStretches, RowArrays
from ostinato.runtime.matches.finished_intervals import FinishedIntervals

HELD = 4  # lots of results that a part holds until those before it are taken


class TooManySteps(Exception):
    """More situations were looked at than a call may look at."""


class MatchingPart:
    """`given` are numbered as in the store of `work`, `keys` are their numbers in the session. `place`: of the first of them in the call.
    `found` holds what it has found and nobody has taken yet."""

    def __init__(self, work: IntervalPass, given: KeyStretches, keys: np.ndarray, places: np.ndarray) -> None:
        self.work = work
        self.given = given
        self.keys = keys
        self.places = places
        self.levels = np.zeros((len(given), layout.LEVELS), np.int64)
        self.found: list[FinishedIntervals] = []
        self.done = False
        self.error: Exception | None = None

    def go_on(self, rows: RowArrays) -> None:
        """Until it is done, or holds enough."""
        try:
            while not self.done and len(self.found) < HELD:
                self._advance(rows)
        except (OstinatoError, TooManySteps) as error:
            self.error, self.done = error, True

    @property
    def failed_at(self) -> int:
        """The place of the key in the call."""
        return int(self.places[min(int(self.work.store.header[layout.AT_KEY]), len(self.places) - 1)])

    def _advance(self, rows: RowArrays) -> None:
        status = self.work.advance(rows, self.given, self.levels)
        if status == layout.OVER_STEPS:
            raise TooManySteps
        if status not in (layout.DONE, layout.FULL):
            self.work.help(status)
        elif status == layout.DONE or not self.work.store.finds_more():
            self._take()
        self.done = status == layout.DONE

    def _take(self) -> None:
        found = self.work.store.taken()
        if len(found):
            self.found.append(found.with_keys(self.keys))


class RowsInTime:
    """The rows of a key in pieces. `work` derives one after the other, and each piece is matched from a copy of what was kept before it,
    while others go on deriving: what the thesis calls synchronisation (5.6.3). Whoever matches a piece derives the one before it, so that
    the first begins at once. Derived situations, what is let go, and the counters of both are those of one thread. The last piece is
    matched by `work` itself."""

    def __init__(self, work: IntervalPass, pieces: list[KeyStretches]) -> None:
        self.work = work
        self.pieces = pieces
        self.levels = np.zeros((len(pieces), layout.LEVELS), np.int64)
        self.failed = False
        self._reached = [Event() for _ in pieces]
        self._reached[0].set()

    def begun(self, number: int, rows: RowArrays) -> IntervalPass | None:
        """Whoever matches a piece begins with this. None: a piece before it has failed."""
        self._reached[number].wait()
        try:
            if self.failed:
                return None
            if number > 0:
                self._derive(number - 1, rows)
            work = self.work
            if number < len(self.pieces) - 1:
                work = work.branch(work.store.of_keys(np.zeros(1, np.int64)))
            work.begin()
            return work
        except BaseException:
            self.failed = True
            raise
        finally:
            for reached in self._reached[number + 1 : number + 2]:
                reached.set()

    def _derive(self, number: int, rows: RowArrays) -> None:
        self.work.begin()
        self.work.settings[layout.COMBINES] = 0
        while (status := self.work.advance(rows, self.pieces[number], self.levels[number : number + 1])) != layout.DONE:
            self.work.help(status)
        self.work.settings[layout.COMBINES] = 1


class PartInTime(MatchingPart):
    """A piece of the rows of a key."""

    def __init__(self, chain: RowsInTime, number: int, keys: np.ndarray, places: np.ndarray) -> None:
        super().__init__(chain.work, chain.pieces[number], keys, places)
        self._chain, self._number = chain, number
        self._begun = False

    def _advance(self, rows: RowArrays) -> None:
        if not self._begun:
            self._begun = True
            work = self._chain.begun(self._number, rows)
            if work is None:
                self.done = True
                return
            self.work = work
        super()._advance(rows)
