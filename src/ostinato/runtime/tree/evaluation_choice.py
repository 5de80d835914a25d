"""Which evaluation the search takes, and which order of variables: chosen anew when what was measured says something else."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.program.tree import TreePattern
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.tree.evaluation_costs import SEQUENCES, evaluation_costs
from ostinato.runtime.tree.event_rates import EventRates, all_alike, event_rates
from ostinato.runtime.tree.expected_events import ExpectedEvents
from ostinato.runtime.tree.step_arrays import StepArrays
from ostinato.runtime.tree.tree_plan import StepWriter
from ostinato.runtime.tree.variable_order import CheapestOrder, NestedOrder

FIRST_LOOK = 256  # rows; then again whenever there are four times as many
WORTHWHILE = 0.8  # of what the evaluation at hand is expected to look at: less than that, and another one is taken
MOST_KEPT = 1_000_000  # matches of nested expressions, where the evaluation was not asked for
BYTES_KEPT = 1024  # of the room for each of them: some ten times what they take


@dataclass(frozen=True)
class Chosen:
    """`costs` are what was expected of each evaluation, by which this one was chosen; none where it was asked for, or nothing is known."""

    evaluation: str
    costs: dict[str, float]


class EvaluationChoice:
    """`pattern` is with the evaluation that is taken, `arrays` are its steps. `room` is how many bytes there are, if that is limited: only
    a part of it is for what is kept."""

    def __init__(self, pattern: TreePattern, room: int | None = None) -> None:
        self.pattern = pattern
        self._most_kept = MOST_KEPT if room is None else min(MOST_KEPT, room // BYTES_KEPT)
        self._next_look = FIRST_LOOK
        self._seen = 0
        self.chosen = Chosen(pattern.evaluation, {})
        self.arrays = self._written(pattern, all_alike(pattern))

    @staticmethod
    def _written(pattern: TreePattern, measured: EventRates) -> StepArrays:
        if pattern.evaluation == SEQUENCES:  # nothing is searched, and the steps are those of joins
            pattern = replace(pattern, evaluation="joins")
        adapts = pattern.evaluation == "joins" and pattern.reorders
        expected = ExpectedEvents(pattern, measured)
        return StepWriter(pattern, CheapestOrder(expected) if adapts else NestedOrder(pattern)).write()

    def reconsider(self, taken_in: int, rows: PatternRows, keys: np.ndarray, code: Interpreter) -> bool:
        """Whether other steps are taken from now on. `taken_in` rows have come, and lie among `rows`. Between two calls no search is
        under way, and everything that is kept follows from the rows: nothing is lost."""
        self._seen += taken_in
        if self._seen < self._next_look or not (self.pattern.by_cost or (self.pattern.evaluation == "joins" and self.pattern.reorders)):
            return False
        self._next_look = 4 * self._seen
        measured = event_rates(self.pattern, rows, keys, code)
        pattern = self._cheapest(measured) if self.pattern.by_cost else self.pattern
        written = self._written(pattern, measured)
        changed = pattern.evaluation != self.pattern.evaluation or written.orders != self.arrays.orders
        if changed:
            self.pattern, self.arrays = pattern, written
        return changed

    def _cheapest(self, measured: EventRates) -> TreePattern:
        costs = evaluation_costs(self.pattern, measured, self._most_kept)
        best = min(costs, key=lambda name: costs[name])
        if costs[best] > WORTHWHILE * costs[self.pattern.evaluation]:
            best = self.pattern.evaluation
        self.chosen = Chosen(best, costs)
        return replace(self.pattern, evaluation=best)
