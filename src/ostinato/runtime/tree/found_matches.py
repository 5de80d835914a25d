"""The matches that the search writes down."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.tree import tree_layout as layout
from ostinato.runtime.matches.listing import Listing
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.array_growth import lengthened

FIRST_MATCHES, EVENTS_PER_MATCH = 1024, 4


class FoundMatches:
    """Arrays that grow as far as the budget allows, charged before they do."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._begin(FIRST_MATCHES)

    def _begin(self, matches: int) -> None:
        events = EVENTS_PER_MATCH * matches
        self._keys, self._plans = np.empty(matches, np.int64), np.empty(matches, np.int64)
        self._offsets = np.zeros(matches + 1, np.int64)
        self._ordinals, self._variables = np.empty(events, np.int64), np.empty(events, np.uint8)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self._keys, self._plans, self._offsets, self._ordinals, self._variables

    def grow(self, control: np.ndarray) -> None:
        """There was no room for a match more."""
        matches, events = int(control[layout.MATCHES]), int(control[layout.EVENTS])
        self._listing.allow(matches, events)
        if matches >= len(self._keys):
            more = 2 * len(self._keys)
            self._keys, self._plans = lengthened(self._keys, more), lengthened(self._plans, more)
            self._offsets = lengthened(self._offsets, more + 1)
        else:
            more = 2 * len(self._ordinals)
            self._ordinals, self._variables = lengthened(self._ordinals, more), lengthened(self._variables, more)

    def take(self, control: np.ndarray) -> tuple[Matches, np.ndarray]:
        """Those since the last time, and by which plan each was found."""
        matches, events = int(control[layout.MATCHES]), int(control[layout.EVENTS])
        control[layout.MATCHES] = control[layout.EVENTS] = 0
        if not matches:
            return Matches.none(), np.zeros(0, np.int64)
        keys, plans, offsets = self._keys[:matches].copy(), self._plans[:matches].copy(), self._offsets[: matches + 1].copy()
        ordinals, variables = self._ordinals[:events].copy(), self._variables[:events].copy()
        if len(self._keys) > FIRST_MATCHES and matches < len(self._keys) // 4:
            self._begin(max(FIRST_MATCHES, 2 * matches))
        return Matches(keys, ordinals[offsets[:-1]], offsets, variables, ordinals), plans
