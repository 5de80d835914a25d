"""Output columns for a batch of matches."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pyarrow as pa

from ostinato.expr.types import BOOL, INT, STRING, Kind, Type
from ostinato.expr.typing.arrow_types import to_arrow as arrow_type
from ostinato.kernels.output import match_rows
from ostinato.kernels.output.match_runs import locate_runs_in_arena
from ostinato.kernels.output.match_stretches import locate_stretches_in_arena
from ostinato.kernels.vectors.evaluate import Evaluator, evaluate
from ostinato.kernels.vectors.vector import Vector, to_arrow
from ostinato.program.analysis.match_edges import always_first, always_last
from ostinato.program.analysis.single_rows import at_most_one
from ostinato.program.code_inputs import COLUMN
from ostinato.program.measure_code import MatchAggregate, Point
from ostinato.program.pattern import Pattern, RowPattern
from ostinato.runtime.limits.budget import over_budget
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.output.match_aggregates import aggregated, arrays, listed_values
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool

_NO_ROWS = np.empty(0, np.int64)
LONG = 16  # rows of a match, on average
_ANY_ROW = np.empty(0, np.uint8)


class MatchView:
    """The values that measures ask for, each computed once per batch of matches."""

    def __init__(
        self,
        pattern: Pattern,
        matches: Matches,
        rows: PatternRows,
        pool: StringPool,
        keys: KeyIndex | None,
        numbers: np.ndarray | None,
        most_listed: int | None = None,
        evaluator: Evaluator | None = None,
    ) -> None:
        """`most_listed`: how many values all arrays of ARRAY_AGG together may hold. `evaluator`: of the measures, where it is there."""
        self.pattern = pattern
        self.matches = matches
        self.rows = rows
        self.pool = pool
        self._keys = keys
        self._numbers = numbers
        self._most_listed = most_listed
        self._evaluator = evaluator
        self._ordinals = _NO_ROWS if matches.ordinals is None else matches.ordinals
        self._points: dict[int, tuple[np.ndarray, bool]] = {}
        self._row_values: list[Vector] | None = None

    def measure_columns(self) -> list[Vector]:
        evaluator = self._evaluator or measure_evaluator(self.pattern)
        assert evaluator is not None
        return evaluator.evaluate(len(self.matches), self.input)

    def input(self, name: str) -> Vector:
        """An input of the measures' code, see `MeasureCode`."""
        kind, _, rest = name.partition(":")
        if kind == "point":
            point, _, column = rest.partition(":")
            return self._at(*self._point(int(point)), column)
        if kind == "exists":
            return Vector(BOOL, self._point(int(rest))[0] >= 0, None, None)
        if kind == "aggregate":
            return self._aggregate(self.pattern.measures.aggregates[int(rest)])
        if kind == "match_number":
            return Vector(INT, self.numbers, None, None)
        if kind == "classifier":
            return self._classifier(self.pattern.measures.points[int(rest)])
        assert self._keys is not None  # only programs with keys ask for their values
        names = [self.pattern.reads.columns[k].name for k in self.pattern.reads.keys]
        return self._keys.values(names.index(rest), self.matches.key)

    @property
    def numbers(self) -> np.ndarray:
        assert self._numbers is not None  # counted where a measure asks for them
        return self._numbers

    def belonging(self, variable: int) -> np.ndarray:
        """Flags per variable: which rows a number stands for; empty: all."""
        return _ANY_ROW if variable < 0 else _flags(len(self.pattern.variables), self.pattern.members(variable))

    def _point(self, point: int) -> tuple[np.ndarray, bool]:
        """Per match the arena row that a navigation leads to, -1 where there is none; and whether there is one everywhere."""
        if point not in self._points:
            out = np.empty(len(self.matches), np.int64)
            self._points[point] = out, self._locate(self.pattern.measures.points[point], out)
        return self._points[point]

    def _locate(self, spec: Point, out: np.ndarray) -> bool:
        m, rows, last = self.matches, self.rows, spec.anchor == "LAST"
        held = (m.key, spec.shift, rows.offset, rows.base, rows.length, out)
        if spec.variable < 0 or self._is_edge(spec):
            return match_rows.locate_in_arena(m.start, m.offsets, self._ordinals, _ANY_ROW, _ANY_ROW, last, spec.offset, False, *held)
        belongs = self.belonging(spec.variable)
        if m.runs is not None:
            return locate_runs_in_arena(m.start, m.offsets, m.runs.ends, m.runs.runs, belongs, last, spec.offset, *held)
        if m.stretches is not None:
            in_order = belongs[m.stretches.order]
            return locate_stretches_in_arena(m.start, m.stretches.ends, in_order, last, spec.offset, *held)
        only = self._is_only(spec)
        return match_rows.locate_in_arena(m.start, m.offsets, self._ordinals, m.variables, belongs, last, spec.offset, only, *held)

    def _is_edge(self, spec: Point) -> bool:
        """Whether the row is the first or the last of its match, whatever the match is."""
        if spec.offset != 0 or not isinstance(self.pattern, RowPattern):
            return False
        members = self.pattern.members(spec.variable)
        if spec.anchor == "FIRST":
            return always_first(self.pattern.nfa, members)
        return not self.pattern.timeouts and always_last(self.pattern.nfa, members)  # a partial match ends anywhere

    def _is_only(self, spec: Point) -> bool:
        """Whether the row is told from all others of its match by its variable alone; asked where matches are long."""
        if self.matches.row_count < LONG * len(self.matches) or spec.variable < 0 or spec.offset != 0:
            return False
        return isinstance(self.pattern, RowPattern) and at_most_one(self.pattern.nfa, self.pattern.members(spec.variable))

    def _at(self, index: np.ndarray, complete: bool, column: str) -> Vector:
        """`complete`: no index is -1."""
        held = self.rows.held_as(column)
        arena, known = self.rows.arena, self.rows.arena.valid[held]
        valid: np.ndarray | None
        if not arena.capacity:
            values, valid = np.zeros(len(index), arena.column(held).dtype), np.zeros(len(index), np.bool_)
        elif complete:
            values, valid = arena.taken(held, index), None if known is None else known.take(index)
        else:
            there = np.maximum(index, 0)
            values, valid = arena.taken(held, there), index >= 0 if known is None else known[there] & (index >= 0)
        type_ = self.pattern.reads.types[column]
        if column in self.rows.opaque:
            return Vector(type_, values, valid, self.rows.opaque[column])
        return self._typed(type_, values, valid)

    def _typed(self, type_: Type, values: np.ndarray, valid: np.ndarray | None) -> Vector:
        if type_.kind is not Kind.STRING:
            return Vector(type_, values, valid, None)
        return Vector(type_, values, valid, self.pool.strings)

    def _classifier(self, spec: Point) -> Vector:
        m = self.matches
        places = np.empty(len(m), np.int64)
        match_rows.locate(m.offsets, m.variables, self.belonging(spec.variable), spec.anchor == "LAST", spec.offset, places)
        return self.classified(places, spec.shift, m.offsets[:-1], m.offsets[1:])

    def classified(self, places: np.ndarray, shift: int, low: np.ndarray, high: np.ndarray) -> Vector:
        """The names of the variables some rows away from `places` among the rows of all matches (-1: none); null outside of the
        matches, which have their rows from `low` to `high`."""
        moved = places + shift
        valid = (places >= 0) & (low <= moved) & (moved < high)
        codes = np.where(valid, self.matches.variables[np.where(valid, moved, 0)] if len(self.matches.variables) else 0, 0)
        return self._names(codes, valid)

    def _names(self, variables: np.ndarray, valid: np.ndarray | None) -> Vector:
        names = pa.array(self.pattern.variables, pa.large_string())
        return Vector(STRING, variables.astype(np.int64), valid, names)

    def event_rows(self) -> np.ndarray:
        """Arena indices of all rows of all matches."""
        out = np.empty(self.matches.row_count, np.int64)
        m = self.matches
        match_rows.event_index(m.key, m.start, m.offsets, self._ordinals, self.rows.offset, self.rows.base, out)
        return out

    def stored(self, column: str, index: np.ndarray) -> Vector:
        """A column at arena rows, null where the index is -1."""
        return self._at(index, not len(index) or bool(index.min() >= 0), column)

    def row_values(self) -> list[Vector]:
        """What aggregates are over, at all rows of all matches."""
        if self._row_values is None:
            code = self.pattern.measures.rows
            self._row_values = evaluate(code, self.matches.row_count, self._row_input(self.event_rows()))
        return self._row_values

    def _row_input(self, index: np.ndarray) -> Callable[[str], Vector]:
        def given(name: str) -> Vector:
            if name == "classifier":
                return self._names(self.matches.variables, None)
            if name == "match_number":
                return Vector(INT, np.repeat(self.numbers, np.diff(self.matches.offsets)), None, None)
            return self._at(index, True, name.removeprefix(COLUMN))

        return given

    def _aggregate(self, spec: MatchAggregate) -> Vector:
        m = self.matches
        belongs = self.belonging(spec.variable)
        values = None if spec.value < 0 else self.row_values()[spec.value]
        if spec.function == "array" and values is not None:
            return self.arrays(spec, values, m.offsets[:-1], m.offsets[1:])
        return aggregated(spec, m, belongs, values)

    def arrays(self, spec: MatchAggregate, values: Vector, begin: np.ndarray, behind: np.ndarray) -> Vector:
        """ARRAY_AGG over the rows begin[i]..behind[i] of all matches, within the budget."""
        belongs, variables = self.belonging(spec.variable), self.matches.variables
        listed = listed_values(variables, belongs, begin, behind)
        if self._most_listed is not None and listed > self._most_listed:
            message = f"the arrays of ARRAY_AGG hold {listed:,} values, and the budget has room for {self._most_listed:,}"
            raise over_budget(self.pattern, message, "bound the matches by WITHIN, take FINAL ARRAY_AGG, or raise the budget's bytes")
        return arrays(spec, variables, belongs, values, begin, behind)


@lru_cache(1024)
def _flags(count: int, members: tuple[int, ...]) -> np.ndarray:
    flags = np.zeros(count, np.uint8)
    flags[list(members)] = 1
    return flags


def measure_evaluator(pattern: Pattern) -> Evaluator | None:
    """None: the query has no measures."""
    return None if pattern.measures.code is None else Evaluator(pattern.measures.code, pattern.measures.names)


def measured(view: MatchView, schema: pa.Schema) -> pa.Table:
    columns = [to_arrow(v) for v in view.measure_columns()]
    return pa.table([c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def measured_schema(pattern: Pattern) -> pa.Schema:
    code = pattern.measures.code
    assert code is not None
    types = [code.ops[result].type for result in code.results]
    return pa.schema([pa.field(name, arrow_type(type_)) for name, type_ in zip(pattern.measures.names, types, strict=True)])
