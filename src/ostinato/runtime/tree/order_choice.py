"""Which order of variables the search takes: chosen anew when what was measured says something else."""

from __future__ import annotations

import numpy as np

from ostinato.program.tree import TreePattern
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.tree.event_rates import event_rates
from ostinato.runtime.tree.step_arrays import StepArrays
from ostinato.runtime.tree.tree_plan import StepWriter
from ostinato.runtime.tree.variable_order import CheapestOrder, NestedOrder

FIRST_LOOK = 256  # rows; then again whenever there are four times as many


class OrderChoice:
    def __init__(self, pattern: TreePattern) -> None:
        self._pattern = pattern
        self._next_look = FIRST_LOOK
        self._seen = 0
        self._adapts = pattern.evaluation == "joins" and pattern.reorders
        self.arrays = self._written(dict.fromkeys(range(len(pattern.tree)), 1.0))

    def _written(self, rates: dict[int, float]) -> StepArrays:
        order = CheapestOrder(self._pattern, rates) if self._adapts else NestedOrder(self._pattern)
        return StepWriter(self._pattern, order).write()

    def reconsider(self, taken_in: int, rows: PatternRows, keys: np.ndarray) -> bool:
        """Whether another order is taken from now on. `taken_in` rows have come, and lie among `rows`."""
        self._seen += taken_in
        if not self._adapts or self._seen < self._next_look:
            return False
        self._next_look = 4 * self._seen
        written = self._written(event_rates(self._pattern, rows, keys))
        changed = written.orders != self.arrays.orders
        if changed:
            self.arrays = written
        return changed
