"""Output columns of a query, as code over whole batches of matches."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.algebra.policies import RowsPerMatch
from ostinato.algebra.query import MatchQuery
from ostinato.expr.nodes import Aggregate, Case, Classifier, Expr, Field, MatchNumber, Nav, type_of
from ostinato.expr.types import BOOL, INT, STRING
from ostinato.plan.column_code import ColumnBuilder
from ostinato.program.code_inputs import COLUMN
from ostinato.program.measure_code import MatchAggregate, MeasureCode, Point


class RowExists(Expr):
    """Whether the row that a navigation asks for is there; lives only while measures are emitted."""


class MeasureEmitter:
    def __init__(self, query: MatchQuery, numbers: Mapping[str, int]) -> None:
        """`numbers` are those of variables and unions."""
        self._query = query
        self._numbers = numbers
        self._code = ColumnBuilder()
        self._rows = ColumnBuilder()
        self._row_results: list[int] = []
        self._points: list[Point] = []
        self._aggregates: list[MatchAggregate] = []

    def emit(self) -> MeasureCode:
        query = self._query
        if query.measures is None:
            return MeasureCode((), None)
        leading = query.partition if query.measured_partition and query.rows_per_match is RowsPerMatch.ONE else ()
        names = [*leading, *(m.name for m in query.measures)]
        results = [self._partition(column) for column in leading]
        results += [self.value(measure.expr) for measure in query.measures]
        return self.finish(tuple(names), results)

    def value(self, expr: Expr) -> int:
        """The operation that computes an expression over a match."""
        return self._code.add(expr, self._resolve)

    def finish(self, names: tuple[str, ...], results: list[int]) -> MeasureCode:
        return MeasureCode(
            names, self._code.finish(results), tuple(self._points), tuple(self._aggregates), self._rows.finish(self._row_results)
        )

    def _partition(self, column: str) -> int:
        return self._code.input(f"partition:{column}", self._query.schema.type_of(column))

    def _resolve(self, expr: Expr) -> int | None:
        """The operation of a leaf that only a match can answer; None for what the builder can do itself."""
        if isinstance(expr, Nav):
            return self._navigation(expr)
        if isinstance(expr, Aggregate):
            return self._aggregate(expr)
        if isinstance(expr, MatchNumber):
            return self._code.input("match_number", INT)
        if isinstance(expr, Classifier):
            point = self._point(Point(self._number(expr.variable), expr.anchor.value, expr.offset, 0, expr.final))
            return self._code.input(f"classifier:{point}", STRING)
        return None

    def _navigation(self, nav: Nav) -> int:
        point = self._point(Point(self._number(nav.variable), nav.anchor.value, nav.offset, nav.shift, nav.final))

        def leaf(expr: Expr) -> int | None:
            if isinstance(expr, Field):
                return self._code.input(f"point:{point}:{expr.name}", type_of(expr))
            if isinstance(expr, Classifier):
                return self._code.input(f"classifier:{point}", STRING)
            if isinstance(expr, MatchNumber):
                return self._code.input("match_number", INT)
            return self._code.input(f"exists:{point}", BOOL) if isinstance(expr, RowExists) else None

        if isinstance(nav.body, Field | Classifier):
            return self._code.add(nav.body, leaf)
        # no such row: null, whatever the body makes of nulls (row_patterns: PREV(COALESCE(v, 0)) at the first row)
        guarded = Case(((RowExists(type=BOOL), nav.body),), None, type=nav.body.type)
        return self._code.add(guarded, leaf)

    def _number(self, variable: str | None) -> int:
        return -1 if variable is None else self._numbers[variable]

    def _point(self, point: Point) -> int:
        if point not in self._points:
            self._points.append(point)
        return self._points.index(point)

    def _aggregate(self, aggregate: Aggregate) -> int:
        value = -1
        if aggregate.body is not None:
            value = self._row_value(aggregate.body)
        spec = MatchAggregate(aggregate.function, self._number(aggregate.variable), value, type_of(aggregate), aggregate.final)
        if spec not in self._aggregates:
            self._aggregates.append(spec)
        return self._code.input(f"aggregate:{self._aggregates.index(spec)}", type_of(aggregate))

    def _row_value(self, body: Expr) -> int:
        def leaf(expr: Expr) -> int | None:
            if isinstance(expr, Field):
                return self._rows.input(COLUMN + expr.name, type_of(expr))
            if isinstance(expr, Classifier):
                return self._rows.input("classifier", STRING)
            return self._rows.input("match_number", INT) if isinstance(expr, MatchNumber) else None

        op = self._rows.add(body, leaf)
        if op not in self._row_results:
            self._row_results.append(op)
        return self._row_results.index(op)
