"""Negations to program: bits for what a negated event says of itself, code over (match, event) pairs for what it says of others."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.algebra.query import Definition, MatchQuery, When
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Call, Case, Cast, Expr, Field, Literal, Nav, type_of
from ostinato.expr.types import BOOL, INT, Kind
from ostinato.plan.classify import Classified, classify, type_test
from ostinato.plan.column_code import ColumnBuilder
from ostinato.plan.gaps import Gap, gaps_of
from ostinato.plan.measures import MeasureEmitter, RowExists
from ostinato.plan.row_predicates import RowEmitter
from ostinato.program.measure_code import MeasureCode
from ostinato.program.negation import EventPoint, NegatedEvent, Negation

JOINED_BY = (Kind.INT, Kind.STRING, Kind.TIMESTAMP, Kind.DATE)  # equal as values exactly if they are equal as held
MAX_NEGATIONS = 60  # those that a match waits for are bits of a word


def emit_negations(query: MatchQuery, variables: tuple[str, ...], rows: RowEmitter) -> tuple[Negation, ...]:
    """`rows` receives the bits of negated events."""
    gaps = gaps_of(query.pattern)
    if len(gaps) > MAX_NEGATIONS:
        raise UnsupportedError(f"a pattern may have at most {MAX_NEGATIONS} negations", span=gaps[MAX_NEGATIONS].negation.span)
    return tuple(_emit(query, variables, rows, gap) for gap in gaps)


def _emit(query: MatchQuery, variables: tuple[str, ...], rows: RowEmitter, gap: Gap) -> Negation:
    if (gap.leads or gap.trails) and query.within is None:
        raise UnsupportedError("a negation that can stand at an end of the match needs a window", span=gap.negation.span)
    pairs = _Pairs(query, variables, gap.negated)
    items = tuple(_item(query, rows, pairs, number, query.definition(name)) for number, name in enumerate(gap.negated))
    return Negation(gap.position, items, gap.leads, gap.trails, pairs.given(), pairs.chained)


def _item(query: MatchQuery, rows: RowEmitter, pairs: _Pairs, number: int, definition: Definition) -> NegatedEvent:
    parts: tuple[Classified, ...] = (*type_test(query, definition), *classify(definition))
    for part in parts:
        if part.when is not When.EACH:
            raise UnsupportedError("a condition of a forbidden event holds for every event", span=part.expr.span)
    bit = rows.bit([part.expr for part in parts if part.columnar])
    correlated = [part.expr for part in parts if not part.columnar]
    return pairs.negated(bit, number, correlated) if correlated else NegatedEvent(bit)


@dataclass(frozen=True)
class _Place:
    """Where a navigation leads: to the event of an item of the negation, or to `nav` in the match."""

    item: int = -1
    nav: Nav | None = None


class _Pairs:
    """The tests of one negation. The match is complete and followed by the negated events, the current one last."""

    def __init__(self, query: MatchQuery, variables: tuple[str, ...], names: tuple[str, ...]) -> None:
        self._names = names
        self._match = MeasureEmitter(query, {name: i for i, name in enumerate(variables)})
        self._given: list[int] = []
        self.chained = False

    def given(self) -> MeasureCode:
        return self._match.finish(tuple(str(number) for number in range(len(self._given))), self._given)

    def negated(self, bit: int, number: int, conditions: list[Expr]) -> NegatedEvent:
        test = _Test(self, number)
        whole = conditions[0] if len(conditions) == 1 else Call("and", tuple(conditions), type=BOOL)
        code = test.builder.finish([test.builder.add(whole, test.resolve)])
        joins = (test.join(condition) for condition in conditions) if number == 0 else ()
        return NegatedEvent(bit, code, tuple(test.points), next((join for join in joins if join is not None), None))

    def of_match(self, expr: Expr) -> int:
        """The number of a value that the match gives."""
        op = self._match.value(expr)
        if op not in self._given:
            self._given.append(op)
        return self._given.index(op)

    def item(self, variable: str | None) -> int | None:
        return self._names.index(variable) if variable in self._names else None


class _Test:
    """The conditions of one item on others."""

    def __init__(self, pairs: _Pairs, number: int) -> None:
        self.builder = ColumnBuilder()
        self.points: list[EventPoint] = []
        self._pairs = pairs
        self._number = number

    def resolve(self, expr: Expr) -> int | None:
        if isinstance(expr, Nav):
            return self._navigation(expr)
        if isinstance(expr, Aggregate):
            return self._aggregate(expr)
        return None

    def join(self, condition: Expr) -> tuple[str, int] | None:
        """A column of the event that must equal a value of the match, where the condition says so."""
        if not isinstance(condition, Call) or condition.name != "eq":
            return None
        for own, other in (condition.args, condition.args[::-1]):
            if isinstance(own, Nav) and isinstance(other, Nav) and own.shift == 0 and isinstance(own.body, Field):
                here, there = self._place(own), self._place(other)
                alike = type_of(own.body).kind is type_of(other.body).kind and type_of(own.body).kind in JOINED_BY
                if alike and here is not None and here.item == self._number and there is not None and there.nav is not None:
                    return own.body.name, self._pairs.of_match(there.nav)
        return None

    def _navigation(self, nav: Nav) -> int:
        place = self._place(nav)
        if place is None:
            return self.builder.literal(None, type_of(nav.body))
        if place.nav is not None:
            return self._of_match(place.nav)
        self._pairs.chained |= place.item != self._number
        point = self._point(EventPoint(place.item, nav.shift))

        def leaf(expr: Expr) -> int | None:
            if isinstance(expr, Field):
                return self.builder.input(f"event:{point}:{expr.name}", type_of(expr))
            return self.builder.input(f"there:{point}", BOOL) if isinstance(expr, RowExists) else None

        if nav.shift == 0 or isinstance(nav.body, Field):
            return self.builder.add(nav.body, leaf)
        return self.builder.add(Case(((RowExists(type=BOOL), nav.body),), None, type=nav.body.type), leaf)

    def _place(self, nav: Nav) -> _Place | None:
        """None: there is no such row."""
        item = self._pairs.item(nav.variable)
        if item is not None:
            return _Place(item) if nav.offset == 0 and item <= self._number else None
        if nav.variable is not None or (nav.anchor is Anchor.FIRST and nav.offset == 0):
            return _Place(nav=nav)
        if nav.anchor is Anchor.FIRST:
            raise UnsupportedError("a condition of a forbidden event names the variable that it looks at", span=nav.span)
        if nav.offset <= self._number:
            return _Place(self._number - nav.offset)
        return _Place(nav=Nav(None, Anchor.LAST, nav.offset - self._number - 1, nav.shift, nav.body, span=nav.span, type=nav.type))

    def _of_match(self, expr: Expr) -> int:
        return self.builder.input(f"match:{self._pairs.of_match(expr)}", type_of(expr))

    def _point(self, point: EventPoint) -> int:
        if point not in self.points:
            self.points.append(point)
        return self.points.index(point)

    def _aggregate(self, aggregate: Aggregate) -> int:
        """Over the match, or over the one row that a negated event is."""
        if aggregate.variable is None:
            raise UnsupportedError("a condition of a forbidden event names the variable that it looks at", span=aggregate.span)
        item = self._pairs.item(aggregate.variable)
        if item is None:
            return self._of_match(aggregate)
        bound = item < self._number or (item == self._number and not aggregate.before)
        return self.builder.add(_over_one_row(aggregate) if bound else _over_nothing(aggregate), self.resolve)


def _over_one_row(aggregate: Aggregate) -> Expr:
    if aggregate.body is None:
        return Literal(1, type=INT)
    value = Nav(aggregate.variable, Anchor.LAST, 0, 0, aggregate.body, type=aggregate.body.type)
    if aggregate.function == "count":
        missing = Call("is_null", (value,), type=BOOL)
        return Case(((missing, Literal(0, type=INT)),), Literal(1, type=INT), type=INT)
    if aggregate.function == "stddev":
        return Literal(None, type=aggregate.type)
    return value if aggregate.type == value.type else Cast(value, type_of(aggregate), type=aggregate.type)


def _over_nothing(aggregate: Aggregate) -> Expr:
    return Literal(0, type=INT) if aggregate.function == "count" else Literal(None, type=aggregate.type)
