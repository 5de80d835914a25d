"""Output columns for a batch of matches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.expr.arrow_types import to_arrow as arrow_type
from ostinato.expr.types import BOOL, FLOAT, INT, STRING, Kind, Type
from ostinato.kernels import match_rows
from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.vector import Vector, to_arrow
from ostinato.program.program import MatchAggregate, Program
from ostinato.runtime.key_index import KeyIndex
from ostinato.runtime.keyed_rows import KeyedRows
from ostinato.runtime.matches import Matches
from ostinato.runtime.string_pool import StringPool, ranks_of

_REDUCTIONS = {
    "sum": match_rows.SUM,
    "min": match_rows.MIN,
    "max": match_rows.MAX,
    "first": match_rows.FIRST,
    "last": match_rows.LAST,
    "avg": match_rows.MEAN,
    "stddev": match_rows.STDDEV,
}
_NO_ROWS = np.empty(0, np.int64)
_NO_FLAGS = np.empty(0, np.uint8)


class MatchView:
    """The values that measures ask for, each computed once per batch of matches."""

    def __init__(
        self, program: Program, matches: Matches, rows: KeyedRows, pool: StringPool, keys: KeyIndex | None, numbers: np.ndarray | None
    ) -> None:
        self.program = program
        self.matches = matches
        self.rows = rows
        self.pool = pool
        self._keys = keys
        self._numbers = numbers
        self._ordinals = _NO_ROWS if matches.ordinals is None else matches.ordinals
        self._points: dict[int, tuple[np.ndarray, bool]] = {}
        self._row_values: list[Vector] | None = None

    def measure_columns(self) -> list[Vector]:
        code = self.program.measures.code
        assert code is not None
        return evaluate(code, len(self.matches), self._input, _no_shift, self.program.measures.names)

    def _input(self, name: str) -> Vector:
        kind, _, rest = name.partition(":")
        if kind == "point":
            point, _, column = rest.partition(":")
            return self._at(*self._point(int(point)), column)
        if kind == "exists":
            return Vector(BOOL, self._point(int(rest))[0] >= 0, None, None)
        if kind == "aggregate":
            return self._aggregate(self.program.measures.aggregates[int(rest)])
        if kind == "match_number":
            assert self._numbers is not None  # counted where a measure asks for them
            return Vector(INT, self._numbers, None, None)
        if kind == "classifier":
            return self._classifier(int(rest))
        assert self._keys is not None  # only programs with keys ask for their values
        names = [self.program.columns[k].name for k in self.program.keys]
        return self._keys.values(names.index(rest), self.matches.key)

    def _located(self, point: int) -> np.ndarray:
        spec = self.program.measures.points[point]
        out = np.empty(len(self.matches), np.int64)
        m = self.matches
        match_rows.locate(m.start, m.offsets, self._ordinals, m.variables, spec.variable, spec.anchor == "LAST", spec.offset, out)
        return out

    def _point(self, point: int) -> tuple[np.ndarray, bool]:
        """Per match the arena row that a navigation leads to, -1 where there is none; and whether there is one everywhere."""
        if point not in self._points:
            spec = self.program.measures.points[point]
            out = np.empty(len(self.matches), np.int64)
            m, rows = self.matches, self.rows
            complete = match_rows.locate_in_arena(
                m.start, m.offsets, self._ordinals, m.variables, spec.variable, spec.anchor == "LAST", spec.offset,
                m.key, spec.shift, rows.offset, rows.base, rows.length, out,
            )  # fmt: skip
            self._points[point] = out, complete
        return self._points[point]

    def _at(self, index: np.ndarray, complete: bool, column: str) -> Vector:
        """`complete`: no index is -1."""
        held = self.rows.held_as(column)
        data, known = self.rows.arena.data[held], self.rows.arena.valid[held]
        valid: np.ndarray | None
        if not len(data):
            values, valid = np.zeros(len(index), data.dtype), np.zeros(len(index), np.bool_)
        elif complete:
            values, valid = data.take(index), None if known is None else known.take(index)
        else:
            there = np.maximum(index, 0)
            values, valid = data[there], index >= 0 if known is None else known[there] & (index >= 0)
        type_ = next(c.type for c in self.program.columns if c.name == column)
        return self._typed(type_, values, valid)

    def _typed(self, type_: Type, values: np.ndarray, valid: np.ndarray | None) -> Vector:
        if type_.kind is not Kind.STRING:
            return Vector(type_, values, valid, None)
        return Vector(type_, values, valid, self.pool.strings)

    def _classifier(self, point: int) -> Vector:
        m = self.matches
        located = self._located(point)
        at = np.where(located < 0, 0, m.offsets[:-1] + (located - m.start)) if m.ordinals is None else self._event_of(located)
        names = pa.array(self.program.variables, pa.large_string())
        valid = located >= 0
        codes = np.where(valid, m.variables[np.where(valid, at, 0)] if len(m.variables) else 0, 0).astype(np.int64)
        return Vector(STRING, codes, valid, names)

    def _event_of(self, located: np.ndarray) -> np.ndarray:
        owner = np.repeat(np.arange(len(self.matches)), np.diff(self.matches.offsets))
        hit = np.flatnonzero(self._ordinals == located[owner])
        out = np.zeros(len(located), np.int64)
        out[owner[hit]] = hit
        return out

    def event_rows(self) -> np.ndarray:
        """Arena indices of all rows of all matches."""
        out = np.empty(int(self.matches.offsets[-1]), np.int64)
        m = self.matches
        match_rows.event_index(m.key, m.start, m.offsets, self._ordinals, self.rows.offset, self.rows.base, out)
        return out

    def stored(self, column: str, index: np.ndarray) -> Vector:
        """A column at arena rows, null where the index is -1."""
        return self._at(index, not len(index) or bool(index.min() >= 0), column)

    def row_values(self) -> list[Vector]:
        """What aggregates are over, at all rows of all matches."""
        if self._row_values is None:
            index = self.event_rows()
            self._row_values = evaluate(self.program.measures.rows, len(index), lambda name: self._at(index, True, name), _no_shift)
        return self._row_values

    def _aggregate(self, spec: MatchAggregate) -> Vector:
        m = self.matches
        if spec.value < 0:
            return self._count(_NO_FLAGS, spec.variable)
        values = self.row_values()[spec.value]
        valid = _NO_FLAGS if values.valid is None else values.valid.view(np.uint8)
        if spec.function == "count":
            return self._count(valid, spec.variable)
        if spec.function in ("avg", "stddev") or values.data.dtype == np.float64:
            return self._reduce_floats(spec, values, valid)
        out, found = np.zeros(len(m), np.int64), np.zeros(len(m), np.bool_)
        data, back = _orderable(values)
        failed = match_rows.reduce_ints(m.offsets, m.variables, data, valid, spec.variable, _REDUCTIONS[spec.function], out, found)
        if failed >= 0:
            raise DataError("SUM goes beyond 64 bits", hint="CAST its argument to DOUBLE if rounding is acceptable")
        return Vector(spec.type, back(out), found, values.dictionary)

    def _reduce_floats(self, spec: MatchAggregate, values: Vector, valid: np.ndarray) -> Vector:
        m = self.matches
        data = values.data.astype(np.float64, copy=False)
        if values.type.kind is Kind.DECIMAL:
            data = data / 10.0**values.type.scale
        out, found = np.zeros(len(m), np.float64), np.zeros(len(m), np.bool_)
        match_rows.reduce_floats(
            m.offsets, m.variables, np.ascontiguousarray(data), valid, spec.variable, _REDUCTIONS[spec.function], out, found
        )
        if spec.type.kind is FLOAT.kind:
            return Vector(spec.type, out, found, None)
        return Vector(spec.type, np.rint(out).astype(np.int64), found, None)  # the mean of intervals

    def _count(self, valid: np.ndarray, variable: int) -> Vector:
        if variable < 0 and not len(valid):
            return Vector(INT, np.diff(self.matches.offsets), None, None)
        out = np.zeros(len(self.matches), np.int64)
        match_rows.count_rows(self.matches.offsets, self.matches.variables, valid, variable, out)
        return Vector(INT, out, None, None)


def _orderable(values: Vector) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Integers that compare as the values do, and the way back."""
    if values.type.kind is Kind.STRING:
        ranks = ranks_of(values.dictionary) if len(values.dictionary) else np.zeros(1, np.int64)
        code_of_rank = np.argsort(ranks)
        return ranks[values.data], lambda out: code_of_rank[out]
    if values.data.dtype == np.bool_:
        return values.data.astype(np.int64), lambda out: out.astype(np.bool_)
    return np.ascontiguousarray(values.data, np.int64), lambda out: out


def _no_shift(vector: Vector, n: int) -> Vector:
    raise AssertionError("measures have no neighbours: their navigation is in points")


def measured(view: MatchView, schema: pa.Schema) -> pa.Table:
    columns = [to_arrow(v) for v in view.measure_columns()]
    return pa.table([c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def measured_schema(program: Program) -> pa.Schema:
    code = program.measures.code
    assert code is not None
    types = [code.ops[result].type for result in code.results]
    return pa.schema([pa.field(name, arrow_type(type_)) for name, type_ in zip(program.measures.names, types, strict=True)])
