"""What the search over a nested pattern works on: its stack, registers and bound events."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.tree import tree_layout as layout
from ostinato.program.tree import TreePattern
from ostinato.runtime.rows.array_growth import grown

SPARE_LEVELS = 4


class SearchStack:
    """`control` has the numbers that the kernels keep between calls, and what they are told."""

    def __init__(self, pattern: TreePattern) -> None:
        levels = 2 * len(pattern.tree) + sum(len(branch.negations) for one in pattern.branches for branch in one.walk()) + SPARE_LEVELS
        self.levels = np.zeros((levels, layout.STACK_WIDTH), np.int64)
        self.registers = np.zeros((levels + 1, len(pattern.registers)), np.int64)
        self.register_valid = np.zeros((levels + 1, len(pattern.registers)), np.uint8)
        self.register_valid[0] = [register.counter for register in pattern.registers]  # counters begin with 0, all else is null
        self.bound = np.zeros((max(1, len(pattern.tree)), 2), np.int64)
        self.control = np.zeros(layout.CONTROL_CELLS, np.int64)
        self.control[layout.LEVEL] = -1
        self._contexts = np.zeros((1, layout.CONTEXT_WIDTH), np.int64)

    def contexts(self, count: int) -> np.ndarray:
        self._contexts = grown(self._contexts, count)
        return self._contexts

    def grow(self) -> None:
        """A repetition takes a level for each of its events."""
        self.levels = grown(self.levels, 2 * len(self.levels))
        self.registers = grown(self.registers, len(self.levels) + 1)
        self.register_valid = grown(self.register_valid, len(self.levels) + 1)
