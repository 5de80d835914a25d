"""The values that accumulators take from rows, as words."""

from __future__ import annotations

import numpy as np

from ostinato.expr.types import Kind
from ostinato.kernels.aggregation import aggregation_cells as cells
from ostinato.kernels.rows.grouping import ranges
from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.code_inputs import COLUMN
from ostinato.program.pattern import EventPattern
from ostinato.runtime.aggregation.aggregation_plan import Accumulator, AccumulatorPlan
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.output.measures import MatchView
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool

NO_VALUES = np.zeros((1, 1), np.int64)
NO_VALID = np.zeros((1, 1), np.uint8)
FLOAT_ACCUMULATORS = (cells.SUM_FLOAT, cells.LEAST_FLOAT, cells.GREATEST_FLOAT)


class AccumulatorValues:
    def __init__(self, pattern: EventPattern, plan: AccumulatorPlan, pool: StringPool) -> None:
        self._pattern = pattern
        self._accumulators = plan.accumulators
        self._pool = pool

    def of(self, rows: PatternRows, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Words and whether they are there, a line per row and a column per accumulator, and where the lines of each stretch begin."""
        if len(self._accumulators) == 1:
            return NO_VALUES, NO_VALID, np.zeros(len(bounds), np.int64)
        counts = bounds[:, 1] - bounds[:, 0]
        value_at = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        index = ranges(bounds[:, 0], counts)
        view = MatchView(self._pattern, Matches.none(), rows, self._pool, None, None)
        found = evaluate(self._pattern.measures.rows, len(index), lambda name: view.stored(name.removeprefix(COLUMN), index))
        values = np.ones((max(1, len(index)), len(self._accumulators)), np.int64)
        valid = np.ones(values.shape, np.uint8)
        for number, accumulator in enumerate(self._accumulators):
            source = found[max(accumulator.value, accumulator.counted)] if max(accumulator.value, accumulator.counted) >= 0 else None
            if source is not None and source.valid is not None:
                valid[: len(index), number] = source.valid
            if accumulator.value >= 0 and source is not None:
                values[: len(index), number] = accumulator_words(accumulator, source)
        return values, valid, value_at


def accumulator_words(accumulator: Accumulator, source: Vector) -> np.ndarray:
    if accumulator.kind not in FLOAT_ACCUMULATORS:
        return source.data.astype(np.int64, copy=False)
    data = source.data.astype(np.float64, copy=False)
    if source.type.kind is Kind.DECIMAL:
        data = data / 10.0**source.type.scale
    return np.ascontiguousarray(data).view(np.int64)
