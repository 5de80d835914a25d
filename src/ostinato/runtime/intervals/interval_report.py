"""Matches of situations, as the user sees them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.expr.types import STRING
from ostinato.kernels.intervals.interval_layout import OPEN
from ostinato.kernels.vectors.vector import TEXT, Vector, to_arrow
from ostinato.program.pattern import Pattern
from ostinato.runtime.instances.instance_report import InstanceReport
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matches.finished_instances import FinishedInstances
from ostinato.runtime.matches.finished_intervals import FinishedIntervals
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool


class IntervalReport(InstanceReport):
    """Measures are computed from the registers of situations, a whole batch of matches at a time."""

    def __init__(self, pattern: Pattern, pool: StringPool, budget: Budget) -> None:
        super().__init__(pattern, pool, budget)
        self._names = pa.array(pattern.variables, TEXT)

    def of_instances(self, found: FinishedInstances, rows: PatternRows, keys: KeyIndex | None) -> pa.Table:
        assert isinstance(found, FinishedIntervals)
        return super().of_instances(found if keys is None else self._listed(found, keys), rows, keys)

    def _listed(self, found: FinishedIntervals, keys: KeyIndex) -> FinishedIntervals:
        """By detection, then by the values of the partition, nulls last, then by the starts of the situations; so far simultaneous ones are
        in the order of the numbers of their partitions."""
        simultaneous = (found.detected[1:] == found.detected[:-1]) & (found.key[1:] != found.key[:-1])
        if not simultaneous.any():
            return found
        numbers = np.flatnonzero(np.bincount(found.key))
        order = _sorted({f"key{i}": to_arrow(keys.values(i, numbers)) for i in range(len(self._automaton.reads.keys))})
        ranks = np.empty(numbers[-1] + 1, np.int64)
        ranks[numbers[order]] = np.arange(len(numbers))
        own = ranks[found.key]
        in_order = (own[1:] >= own[:-1]) | ~simultaneous
        return found if in_order.all() else found.take(np.lexsort((own, found.detected)))

    def _input(self, name: str, found: FinishedInstances, rows: PatternRows, keys: KeyIndex | None) -> Vector:
        """An input of the measures' code, see `IntervalPattern`."""
        assert isinstance(found, FinishedIntervals)
        time = self._automaton.reads.columns[self._automaton.reads.time].type
        if name == "situation":
            return Vector(STRING, np.argmin(found.starts, axis=0), dictionary=self._names)
        if name == "detected":
            return Vector(time, found.detected)
        if name == "end":
            ended = found.end != OPEN
            return Vector(time, np.where(ended, found.end, 0), None if ended.all() else ended)
        return super()._input(name, found, rows, keys)


def _sorted(columns: dict[str, pa.Array | np.ndarray]) -> np.ndarray:
    """The places of lines in ascending order, by one column after the other."""
    found: np.ndarray = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns]).to_numpy()
    return found
