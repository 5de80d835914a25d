"""In which keys patterns over the same rows have begun something."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

BLOCK = 1 << 22  # flags of patterns and keys that are looked at together


class BegunKeys:
    """`flags`: a line per pattern, a column per key."""

    def __init__(self, patterns: int, keys: int) -> None:
        self.flags = np.zeros((patterns, keys), np.bool_)

    def blocks(self, keys: int) -> Iterator[slice]:
        """Lines to look at together, for so many keys."""
        step = max(1, BLOCK // max(1, keys))
        return (slice(low, min(low + step, len(self.flags))) for low in range(0, len(self.flags), step))

    def lines_in(self, keys: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The patterns that have begun something in one of `keys`, each with the places of those among `keys`."""
        for block in self.blocks(len(keys)):
            begun = self.flags[block, keys]
            for line in np.flatnonzero(begun.any(axis=1)).tolist():
                yield block.start + line, np.flatnonzero(begun[line])

    def grow_to(self, keys: int) -> None:
        if keys > self.flags.shape[1]:
            flags = np.zeros((len(self.flags), keys), np.bool_)
            flags[:, : self.flags.shape[1]] = self.flags
            self.flags = flags

    def renumber(self, old_of_new: np.ndarray) -> None:
        """As in `Matcher.renumber`."""
        self.grow_to(int(old_of_new.max(initial=-1)) + 1)
        self.flags = np.ascontiguousarray(self.flags[:, old_of_new])
