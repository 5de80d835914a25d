"""A parsed clause and the columns of its input, to a query of the algebra."""

from __future__ import annotations

from datetime import timedelta

from ostinato.algebra.pattern import Alternation, Empty, Pattern, Repetition, Sequence, Variable, variables_of
from ostinato.algebra.policies import NullKeys, Selection, Skip
from ostinato.algebra.query import Condition, Definition, MatchQuery, Measure, OrderKey, Within
from ostinato.base.errors import QuerySyntaxError, TypeMismatchError, UnknownNameError
from ostinato.expr.coerce import coerce
from ostinato.expr.infer import infer
from ostinato.expr.schema import Schema
from ostinato.expr.types import BOOL, Kind
from ostinato.lang.sql.lower_expression import lower_expression
from ostinato.lang.sql.row_reference import Names
from ostinato.lang.sql.syntax import (
    DefineItem,
    InOrder,
    MatchRecognize,
    MeasureItem,
    Name,
    NoRows,
    OneOf,
    OrderItem,
    PatternTree,
    Repeated,
    RowVariable,
    WithinTree,
)

TIME_KINDS = (Kind.TIMESTAMP, Kind.DATE, Kind.INT)
MICROSECOND = timedelta(microseconds=1)


def lower(tree: MatchRecognize, schema: Schema, stream: str = "input") -> MatchQuery:
    """`stream` is the name of the input."""
    pattern = lower_pattern(tree.pattern)
    names = Names(schema, variables_of(pattern))
    order = _distinct_order(tree.order, names)
    time = _time_column(order, schema)
    partition = _partition(tree.partition, names)
    return MatchQuery(
        stream=stream,
        schema=schema,
        pattern=pattern,
        definitions=_definitions(tree.definitions, names),
        selection=Selection.PREFERRED,
        time=time,
        order=order,
        partition=partition,
        null_keys=NullKeys.GROUP,
        within=None if tree.within is None else _within(tree.within, tree, time, names),
        skip=Skip.TO_NEXT_ROW if tree.to_next_row else Skip.PAST_LAST_ROW,
        measures=_measures(tree, partition, names),
        measured_partition=True,
    )


def lower_pattern(tree: PatternTree) -> Pattern:
    if isinstance(tree, RowVariable):
        return Variable(tree.name.value)
    if isinstance(tree, NoRows):
        return Empty()
    if isinstance(tree, InOrder):
        return Sequence(tuple(lower_pattern(item) for item in tree.items))
    if isinstance(tree, OneOf):
        return Alternation(tuple(lower_pattern(item) for item in tree.items))
    assert isinstance(tree, Repeated)
    return Repetition(lower_pattern(tree.item), tree.at_least, tree.at_most, tree.greedy)


def _partition(columns: tuple[Name, ...], names: Names) -> tuple[str, ...]:
    found: list[str] = []
    for column in columns:
        own = names.column(column.value, column.span)
        if own in found:
            raise QuerySyntaxError(f"`{column.value}` stands twice in PARTITION BY", hint="Name each column once", span=column.span)
        found.append(own)
    return tuple(found)


def _distinct_order(items: tuple[OrderItem, ...], names: Names) -> tuple[OrderKey, ...]:
    """A column that comes again decides nothing any more. Nulls come last unless the query says otherwise, whatever the host."""
    found: dict[str, OrderKey] = {}
    for item in items:
        column = names.column(item.column.value, item.column.span)
        found.setdefault(column, OrderKey(column, item.descending, bool(item.nulls_first)))
    return tuple(found.values())


def _time_column(order: tuple[OrderKey, ...], schema: Schema) -> str | None:
    if not order or order[0].descending or schema.type_of(order[0].column).kind not in TIME_KINDS:
        return None
    return order[0].column


def _within(within: WithinTree, tree: MatchRecognize, time: str | None, names: Names) -> Within:
    if time is None:
        reason = "there is no ORDER BY" if not tree.order else f"the first ORDER BY column is {_why_no_time(tree.order[0], names)}"
        hint = "ORDER BY a timestamp or integer column, ascending, first"
        raise QuerySyntaxError(f"WITHIN needs a time to measure, but {reason}", hint=hint, span=within.span)
    kind = names.schema.type_of(time).kind
    if isinstance(within.length, timedelta):
        if kind is Kind.INT:
            hint = f"Write WITHIN and a number, in the unit of `{time}`"
            raise TypeMismatchError(f"WITHIN an interval, but the time column `{time}` is an integer", hint=hint, span=within.span)
        return _bounded(within.length // MICROSECOND, within)
    if kind is not Kind.INT:
        hint = "Write WITHIN INTERVAL '5' MINUTE"
        raise TypeMismatchError(f"WITHIN a number, but the time column `{time}` is a {kind.value}", hint=hint, span=within.span)
    return _bounded(within.length, within)


def _bounded(length: int, within: WithinTree) -> Within:
    if length >= 2**63:
        raise QuerySyntaxError("This window is too long", hint="Leave WITHIN out for no limit", span=within.span)
    return Within(length)


def _why_no_time(item: OrderItem, names: Names) -> str:
    own = names.column(item.column.value, item.column.span)
    return "descending" if item.descending else f"a {names.schema.type_of(own)}"


def _definitions(items: tuple[DefineItem, ...], names: Names) -> tuple[Definition, ...]:
    found: dict[str, Definition] = {}
    for item in items:
        variable = item.variable
        if variable.value not in names.variables:
            raise UnknownNameError(
                f"`{variable.value}` is defined, but not in the pattern",
                hint=f"Use it in PATTERN, or remove its definition; the pattern has {', '.join(names.variables)}",
                span=variable.span,
            )
        if variable.value in found:
            raise QuerySyntaxError(f"`{variable.value}` is defined twice", hint="Join the conditions with AND", span=variable.span)
        found[variable.value] = Definition(variable.value, (_condition(item, names),))
    return tuple(found.values())


def _condition(item: DefineItem, names: Names) -> Condition:
    expr = infer(lower_expression(item.condition, names, "DEFINE"), names.schema)
    if expr.type is not None and expr.type.kind not in (Kind.BOOL, Kind.NULL):
        raise TypeMismatchError(
            f"The condition of `{item.variable.value}` is {_article(str(expr.type))}, not a boolean",
            hint="DEFINE takes a condition, such as price > 10",
            span=item.condition.span,
        )
    return Condition(coerce(expr, BOOL), span=item.span)


def _measures(tree: MatchRecognize, partition: tuple[str, ...], names: Names) -> tuple[Measure, ...]:
    if not tree.measures and not partition:
        hint = "Add MEASURES, such as MEASURES COUNT(*) AS length"
        raise QuerySyntaxError("The result would have no columns", hint=hint, span=tree.pattern_span)
    taken = {column.lower(): "a PARTITION BY column" for column in partition}
    return tuple(_measure(item, taken, names) for item in tree.measures)


def _measure(item: MeasureItem, taken: dict[str, str], names: Names) -> Measure:
    name = item.name.value
    if name.lower() in taken:
        other = taken[name.lower()]
        raise QuerySyntaxError(f"`{name}` is already the name of {other}", hint="Give the measure another name", span=item.name.span)
    taken[name.lower()] = "another measure"
    return Measure(name, infer(lower_expression(item.expr, names, "MEASURES"), names.schema))


def _article(word: str) -> str:
    return f"an {word}" if word[:1] in "aeiou" else f"a {word}"
