"""Matches that are complete but not reported yet: what lies behind them, or a match before them, is still to be decided."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.negation.negation_gaps import CHOSEN, OUT, SURVIVES, WAITS
from ostinato.runtime.matches.matches import Matches

__all__ = ["CHOSEN", "OUT", "SURVIVES", "WAITS", "WaitingMatches"]


class WaitingMatches:
    """Parallel arrays, those of a key in order of completion. `done` is the position of the completing event in the stream, `limit` the
    last time or ordinal that belongs to the gap behind the match, `pending` the negations that look there, as bits; `state` as in
    `kernels.negation.negation_gaps`."""

    FIELDS = ("done", "limit", "pending", "state")

    def __init__(self) -> None:
        self.matches = Matches.none()
        self.done = np.zeros(0, np.int64)
        self.limit = np.zeros(0, np.int64)
        self.pending = np.zeros(0, np.int64)
        self.state = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.done)

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self.state_arrays().values())

    def add(self, matches: Matches, done: np.ndarray, limit: np.ndarray, pending: np.ndarray) -> None:
        self.matches = self.matches.followed_by(matches)
        self.done = np.concatenate([self.done, done])
        self.limit = np.concatenate([self.limit, limit])
        self.pending = np.concatenate([self.pending, pending])
        self.state = np.concatenate([self.state, np.where(pending == 0, SURVIVES, WAITS)])

    def drop(self, gone: np.ndarray) -> None:
        if gone.any():
            kept = ~gone
            self.matches = self.matches.take(kept)
            for name in self.FIELDS:
                setattr(self, name, getattr(self, name)[kept])

    def drop_oldest(self, count: int) -> None:
        """Those whose first rows came first."""
        gone = np.zeros(len(self), np.bool_)
        gone[np.argsort(self.limit, kind="stable")[:count]] = True
        self.drop(gone)

    def earliest(self, keys: np.ndarray, known: int) -> np.ndarray:
        """Per key the first row of its matches, a large number where it has none."""
        first = np.full(known, np.iinfo(np.int64).max)
        np.minimum.at(first, self.matches.key, self.matches.start)
        return first[keys]

    def renumber(self, new_of_old: np.ndarray) -> None:
        self.matches.key = new_of_old[self.matches.key]

    def state_arrays(self) -> dict[str, np.ndarray]:
        m = self.matches
        arrays = {"key": m.key, "start": m.start, "offsets": m.offsets, "variables": m.variables, "ordinals": m.listed}
        return arrays | {name: getattr(self, name) for name in self.FIELDS}

    def load(self, arrays: dict[str, np.ndarray]) -> None:
        self.matches = Matches(*(arrays[name] for name in ("key", "start", "offsets", "variables", "ordinals")))
        for name in self.FIELDS:
            setattr(self, name, arrays[name])
