"""A parsed clause and the columns of its input, to a query of the algebra."""

from __future__ import annotations

from ostinato.algebra.pattern import variables_of
from ostinato.algebra.policies import NullKeys, RowsPerMatch, Selection, Skip
from ostinato.algebra.query import LONGEST, Condition, Definition, MatchQuery, Measure, OrderKey, Union, Within
from ostinato.base.errors import QuerySyntaxError, SchemaError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.expr.nodes import Field
from ostinato.expr.times.nanoseconds import nanos_of_length
from ostinato.expr.types import BOOL, Kind
from ostinato.expr.typing.coerce import coerce, refuse_opaque
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema
from ostinato.lang.sql.lower_expression import lower_expression, refuse_arrays
from ostinato.lang.sql.lower_pattern import lower_pattern
from ostinato.lang.sql.row_reference import Names
from ostinato.lang.sql.syntax import (
    DefineItem,
    MatchRecognize,
    MeasureItem,
    Name,
    OrderItem,
    SkipTree,
    SubsetItem,
    WithinTree,
    hidden_parts,
)

TIMED_OUT = "timed_out"
TIME_KINDS = (Kind.TIMESTAMP, Kind.DATE, Kind.INT)


def lower(tree: MatchRecognize, schema: Schema, stream: str = "input") -> MatchQuery:
    """`stream` is the name of the input."""
    every_row = tree.rows.rows is not RowsPerMatch.ONE
    pattern = lower_pattern(tree.pattern, every_row)
    _check_exclusions(tree)
    _check_shown(tree, schema)
    _check_timeouts(tree)
    unions = _unions(tree.subsets, variables_of(pattern))
    names = Names(schema, variables_of(pattern), tuple(union.name for union in unions))
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
        skip=_skip(tree.skip),
        skip_to=None if tree.skip.to is None else names.variable(tree.skip.to.value, True, tree.skip.to.span),
        rows_per_match=tree.rows.rows,
        timeouts=tree.rows.timeouts,
        unions=unions,
        measures=_measures(tree, partition, names, every_row),
        measured_partition=True,
    )


def _check_exclusions(tree: MatchRecognize) -> None:
    if tree.rows.rows is RowsPerMatch.ALL_AND_UNMATCHED:
        for hidden in hidden_parts(tree.pattern):
            hint = "Without WITH UNMATCHED ROWS it is not shown; with it, leave the braces out"
            raise QuerySyntaxError("An exclusion cannot stand beside WITH UNMATCHED ROWS", hint=hint, span=hidden.span)


def _check_timeouts(tree: MatchRecognize) -> None:
    if not tree.rows.timeouts:
        return
    if tree.within is None:
        raise QuerySyntaxError("SHOW TIMEOUT MATCHES needs WITHIN: without it no match is ever timed out", span=tree.rows.span)
    if tree.skip.to is not None:
        hint = "Skip past the last row, or to the next row"
        raise UnsupportedError("SHOW TIMEOUT MATCHES is not offered with AFTER MATCH SKIP TO a variable", hint=hint, span=tree.skip.span)
    for name in (*(measure.name for measure in tree.measures), *tree.partition):
        if name.value.lower() == TIMED_OUT:
            raise QuerySyntaxError(f"SHOW TIMEOUT MATCHES adds a column {TIMED_OUT}", hint="Give this one another name", span=name.span)


def _check_shown(tree: MatchRecognize, schema: Schema) -> None:
    if tree.rows.rows is not RowsPerMatch.ONE and schema.unusable:
        own, type_, _ = schema.unusable[0]
        hint = "Leave the column out in a subquery before MATCH_RECOGNIZE, or use ONE ROW PER MATCH"
        raise SchemaError(f"Column {own} has the type {type_}, which ALL ROWS PER MATCH cannot show", hint=hint, span=tree.rows.span)


def _skip(tree: SkipTree) -> Skip:
    if tree.to is not None:
        return Skip.TO_FIRST if tree.to_first else Skip.TO_LAST
    return Skip.TO_NEXT_ROW if tree.to_next_row else Skip.PAST_LAST_ROW


def _unions(items: tuple[SubsetItem, ...], variables: tuple[str, ...]) -> tuple[Union, ...]:
    found: dict[str, Union] = {}
    for item in items:
        name = item.name.value
        if name in variables or name in found:
            other = "a variable of the pattern" if name in variables else "another union"
            raise QuerySyntaxError(f"`{name}` is already the name of {other}", hint="Give the union another name", span=item.name.span)
        for member in item.members:
            if member.value not in variables:
                hint = f"A union is made of variables of the pattern: {', '.join(variables)}"
                raise UnknownNameError(f"There is no pattern variable {member.value}", hint=hint, span=member.span)
        found[name] = Union(name, tuple(dict.fromkeys(member.value for member in item.members)))
    return tuple(found.values())


def _partition(columns: tuple[Name, ...], names: Names) -> tuple[str, ...]:
    found: list[str] = []
    for column in columns:
        own = names.column(column.value, column.span)
        if own in found:
            raise QuerySyntaxError(f"`{column.value}` stands twice in PARTITION BY", hint="Name each column once", span=column.span)
        _refuse_opaque(own, column, "PARTITION BY", names)
        found.append(own)
    return tuple(found)


def _refuse_opaque(own: str, column: Name, where: str, names: Names) -> None:
    refuse_opaque((Field(own, span=column.span, type=names.schema.type_of(own)),), where)


def _distinct_order(items: tuple[OrderItem, ...], names: Names) -> tuple[OrderKey, ...]:
    """A column that comes again decides nothing any more. Nulls come last unless the query says otherwise, whatever the host."""
    found: dict[str, OrderKey] = {}
    for item in items:
        column = names.column(item.column.value, item.column.span)
        _refuse_opaque(column, item.column, "ORDER BY", names)
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
    own = names.schema.type_of(time)
    kind = own.kind
    if not isinstance(within.length, int):
        if kind is Kind.INT:
            hint = f"Write WITHIN and a number, in the unit of `{time}`"
            raise TypeMismatchError(f"WITHIN an interval, but the time column `{time}` is an integer", hint=hint, span=within.span)
        return _bounded(nanos_of_length(within.length) * own.ticks // 1000, within)
    if kind is not Kind.INT:
        hint = "Write WITHIN INTERVAL '5' MINUTE"
        raise TypeMismatchError(f"WITHIN a number, but the time column `{time}` is a {kind.value}", hint=hint, span=within.span)
    return _bounded(within.length, within)


def _bounded(length: int, within: WithinTree) -> Within:
    if length > LONGEST:
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
            what = "a union, and unions are not defined" if variable.value in names.unions else "defined, but not in the pattern"
            raise UnknownNameError(
                f"`{variable.value}` is {what}",
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
    refuse_arrays(expr, "ARRAY_AGG in DEFINE", "Use it in MEASURES")
    return Condition(coerce(expr, BOOL), span=item.span)


def _measures(tree: MatchRecognize, partition: tuple[str, ...], names: Names, every_row: bool) -> tuple[Measure, ...]:
    if not tree.measures and not partition and not every_row:
        hint = "Add MEASURES, such as MEASURES COUNT(*) AS length"
        raise QuerySyntaxError("The result would have no columns", hint=hint, span=tree.pattern_span)
    shown = [column for column, _ in names.schema.columns] if every_row else []
    taken = {column.lower(): "a column that is shown" for column in shown}
    taken |= {column.lower(): "a PARTITION BY column" for column in partition}
    return tuple(_measure(item, taken, names, every_row) for item in tree.measures)


def _measure(item: MeasureItem, taken: dict[str, str], names: Names, every_row: bool) -> Measure:
    name = item.name.value
    if name.lower() in taken:
        other = taken[name.lower()]
        raise QuerySyntaxError(f"`{name}` is already the name of {other}", hint="Give the measure another name", span=item.name.span)
    taken[name.lower()] = "another measure"
    expr = infer(lower_expression(item.expr, names, "MEASURES", every_row), names.schema)
    for part in expr.children():
        refuse_arrays(part, "ARRAY_AGG inside of an expression", "Make it a measure of its own, and compute with it outside")
    return Measure(name, expr)


def _article(word: str) -> str:
    return f"an {word}" if word[:1] in "aeiou" else f"a {word}"
