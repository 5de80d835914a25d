"""Which order of variables the search takes: chosen anew when what was measured says something else."""

from __future__ import annotations

import numpy as np

from ostinato.program.analysis.event_links import link_bits
from ostinato.program.tree import TreePattern
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.tree.tree_plan import StepArrays, StepWriter
from ostinato.runtime.tree.variable_order import CheapestOrder, NestedOrder

FIRST_LOOK = 256  # rows; then again whenever there are four times as many
ALL_ROWS = 1000.0  # that a window has, where nothing says how many


class OrderChoice:
    def __init__(self, pattern: TreePattern) -> None:
        self._pattern = pattern
        self._bits = link_bits(pattern).tolist()
        self._next_look = FIRST_LOOK
        self._adapts = pattern.evaluation == "joins" and pattern.reorders
        self.arrays = self._written(dict.fromkeys(range(len(pattern.tree)), 1.0))

    def _written(self, rates: dict[int, float]) -> StepArrays:
        order = CheapestOrder(self._pattern, rates) if self._adapts else NestedOrder(self._pattern)
        return StepWriter(self._pattern, order).write()

    def reconsider(self, seen: np.ndarray, rows: PatternRows, keys: np.ndarray) -> bool:
        """Whether another order is taken from now on. `seen` are the events by their bits."""
        total = int(seen.sum())
        if not self._adapts or total < self._next_look:
            return False
        self._next_look = 4 * total
        window = float(max(rows.length[keys].mean(), 1.0)) if len(keys) else ALL_ROWS
        share = {bit: count / total * window for bit, count in zip(self._bits, seen.tolist(), strict=True)}
        written = self._written({number: share.get(variable.bit, window) for number, variable in enumerate(self._pattern.tree)})
        changed = written.orders != self.arrays.orders
        if changed:
            self.arrays = written
        return changed
