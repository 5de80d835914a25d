"""Instances that have come to their end, as the user sees them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.arrow_types import to_arrow as type_arrow
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_VALUE
from ostinato.kernels.vectors.column_calls import error_of
from ostinato.kernels.vectors.evaluate import Evaluator
from ostinato.kernels.vectors.vector import Vector, to_arrow
from ostinato.program.pattern import Pattern
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matches.finished_instances import FinishedInstances
from ostinato.runtime.output.report import SHOWN_AT_ONCE, Report
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool


class InstanceReport(Report):
    """Attributes are computed from registers, a whole batch of instances at a time."""

    def __init__(self, automaton: Pattern, pool: StringPool, budget: Budget) -> None:
        super().__init__(automaton, pool, budget)
        self._automaton = automaton

    def of_instances(self, found: FinishedInstances, rows: PatternRows, keys: KeyIndex | None) -> pa.Table:
        pieces = [self._piece(found, rows, keys)] if len(found) <= SHOWN_AT_ONCE else [
            self._piece(found.take(slice(begin, begin + SHOWN_AT_ONCE)), rows, keys)
            for begin in range(0, len(found), SHOWN_AT_ONCE)
        ]  # fmt: skip
        self.emitted += len(found)
        return pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)

    def _piece(self, found: FinishedInstances, rows: PatternRows, keys: KeyIndex | None) -> pa.Table:
        evaluator = self._measures()
        assert isinstance(evaluator, Evaluator)
        columns = [to_arrow(vector) for vector in evaluator.evaluate(len(found), lambda name: self._input(name, found, rows, keys))]
        shown = pa.table([c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, self.schema, strict=True)], schema=self.schema)
        return self.with_queries(shown, found.key, keys)

    def _input(self, name: str, found: FinishedInstances, rows: PatternRows, keys: KeyIndex | None) -> Vector:
        """An input of the measures' code, see `InstanceAutomaton`."""
        kind, _, rest = name.partition(":")
        if kind == "register":
            return self._register(int(rest), found, rows)
        if kind == "partition":
            assert keys is not None  # only programs with keys ask for their values
            return keys.values(self._automaton.reads.key_names.index(rest), found.key)
        time = self._automaton.reads.columns[self._automaton.reads.time].type
        return Vector(time, found.start if kind == "start" else found.end)

    def _register(self, number: int, found: FinishedInstances, rows: PatternRows) -> Vector:
        type_, flags = self._automaton.registers[number].type, found.register_valid[:, number]
        failed = flags == HAS_FAILED
        if failed.any():
            raise error_of(self._automaton.scalar, int(found.registers[failed, number][0]))
        valid = None if flags.all() else flags == IS_VALUE
        words = np.ascontiguousarray(found.registers[:, number])
        if type_.kind is Kind.OPAQUE:
            return Vector(type_, words, valid, rows.heap(type_arrow(type_)))
        return _typed(type_, words, valid, self._pool)


def _typed(type_: Type, words: np.ndarray, valid: np.ndarray | None, pool: StringPool) -> Vector:
    if type_.kind is Kind.STRING:
        return Vector(type_, words, valid, pool.strings)
    if type_.kind is Kind.FLOAT:
        return Vector(type_, words.view(np.float64), valid)
    return Vector(type_, words.astype(np.bool_) if type_.kind is Kind.BOOL else words, valid)
