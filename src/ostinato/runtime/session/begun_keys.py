"""In which keys patterns over the same rows have begun something."""

from __future__ import annotations

import numpy as np


class BegunKeys:
    """`flags`: a line per pattern, a column per key."""

    def __init__(self, patterns: int, keys: int) -> None:
        self.flags = np.zeros((patterns, keys), np.bool_)

    def reach(self, keys: int) -> None:
        if keys > self.flags.shape[1]:
            flags = np.zeros((len(self.flags), keys), np.bool_)
            flags[:, : self.flags.shape[1]] = self.flags
            self.flags = flags

    def renumber(self, old_of_new: np.ndarray) -> None:
        """As in `Matcher.renumber`."""
        self.reach(int(old_of_new.max(initial=-1)) + 1)
        self.flags = np.ascontiguousarray(self.flags[:, old_of_new])
