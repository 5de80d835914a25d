"""Verifies what is computed of matches: output columns, and what negations ask of a match."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError
from ostinato.expr.nodes import Aggregate
from ostinato.expr.types import BOOL, FLOAT, INT, STRING, Kind, Type
from ostinato.expr.typing.aggregate_types import aggregate_type
from ostinato.expr.typing.coerce import same_form
from ostinato.program.code_inputs import COLUMN
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.measure_code import MatchAggregate, MeasureCode
from ostinato.program.negation import NegatedEvent, Negation
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.verification.column_check import Inputs, check_columns
from ostinato.program.verification.requirement import require
from ostinato.program.verification.type_check import check_type

LIMIT = 1 << 62
AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last", "stddev", "array")


def column_types(pattern: Pattern) -> dict[str, Type]:
    return {column.name: column.type for column in pattern.reads.columns}


def check_measures(measures: MeasureCode, pattern: Pattern, name: str) -> None:
    columns = column_types(pattern)
    variables = len(pattern.numbers)
    row_inputs = {"classifier": STRING, "match_number": INT} | {COLUMN + column: type_ for column, type_ in columns.items()}
    check_columns(measures.rows, f"{name}.rows", row_inputs.get)
    for point in measures.points:
        require(-1 <= point.variable < variables and point.anchor in ("FIRST", "LAST"), f"points in {name} at known variables")
        require(0 <= point.offset < LIMIT and point.shift in pattern.neighbours, f"points in {name} within reach")
    for aggregate in measures.aggregates:
        require(aggregate.function in AGGREGATES and -1 <= aggregate.variable < variables, f"known aggregates in {name}")
        least = -1 if aggregate.function == "count" else 0
        require(least <= aggregate.value < len(measures.rows.results), f"aggregates in {name} over known values")
        check_type(aggregate.type)
        require(_is_of_type(aggregate, measures), f"aggregates in {name} of the types that they have")
    if measures.code is not None:
        carries = isinstance(pattern, InstanceAutomaton | IntervalPattern)
        given = carried_inputs(pattern) if carries else match_inputs(measures, pattern)
        check_columns(measures.code, name, given)
        require(name != "measures" or len(measures.names) == len(measures.code.results), "a name for every measure")


def _is_of_type(aggregate: MatchAggregate, measures: MeasureCode) -> bool:
    if aggregate.value < 0:
        return same_form(aggregate.type, INT)
    value = measures.rows.ops[measures.rows.results[aggregate.value]].type
    if aggregate.function in ("avg", "stddev") and value.kind is Kind.DECIMAL:
        return False  # it is cast before
    try:
        found = aggregate_type(Aggregate(aggregate.function, None, None), value)
    except OstinatoError:
        return False
    return found == aggregate.type if found.kind is Kind.LIST else same_form(found, aggregate.type)


def match_inputs(measures: MeasureCode, pattern: Pattern) -> Inputs:
    """See `MeasureCode`."""
    columns = column_types(pattern)
    keys = {pattern.reads.columns[key].name for key in pattern.reads.keys}

    def given(name: str) -> Type | None:
        kind, _, rest = name.partition(":")
        number, _, column = rest.partition(":")
        if kind == "point":
            return columns.get(column) if _is_number(number, len(measures.points)) else None
        if kind in ("exists", "classifier"):
            return (BOOL if kind == "exists" else STRING) if _is_number(rest, len(measures.points)) else None
        if kind == "aggregate":
            return measures.aggregates[int(rest)].type if _is_number(rest, len(measures.aggregates)) else None
        if kind == "partition":
            return columns[rest] if rest in keys else None
        return INT if name == "match_number" else None

    return given


def carried_inputs(pattern: Pattern) -> Inputs:
    """What results carry that have no rows: see `InstanceAutomaton` and `IntervalPattern`."""
    columns = column_types(pattern)
    time = columns.get(pattern.reads.time_name)
    times = ("start", "end", "detected") if isinstance(pattern, IntervalPattern) else ("start", "end")

    def given(name: str) -> Type | None:
        kind, _, rest = name.partition(":")
        if kind == "register":
            return pattern.registers[int(rest)].type if _is_number(rest, len(pattern.registers)) else None
        if kind == "partition":
            return columns[rest] if rest in pattern.reads.key_names else None
        if name == "situation":
            return STRING if isinstance(pattern, IntervalPattern) and pattern.each else None
        return time if name in times else None

    return given


def _is_number(text: str, count: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and int(text) < count


def check_negation(negation: Negation, pattern: EventPattern) -> None:
    require(len(negation.items) > 0, "events that a negation forbids")
    require(0 <= negation.before <= len(pattern.variables), "negations at known places")
    require(pattern.within >= 0 or not (negation.leads or negation.trails), "a window for negations at an end")
    require(negation.given.code is not None, "code for what negations ask of a match")
    check_measures(negation.given, pattern, "a negation")
    for number, item in enumerate(negation.items):
        _check_item(item, number, negation, pattern)


def _check_item(item: NegatedEvent, number: int, negation: Negation, pattern: Pattern) -> None:
    require(-1 <= item.bit < pattern.bits, "forbidden events with known bits")
    for point in item.points:
        require(0 <= point.item <= number and point.shift in pattern.neighbours, "points of a negation within reach")
        require(negation.chained or point.item == number, "a negation that says what its tests look at")
    if item.test is not None:
        check_columns(item.test, "a negation", _pair_inputs(item, negation, pattern))
        require(len(item.test.results) == 1, "one result of a test")
        require(item.test.ops[item.test.results[0]].type.kind in (Kind.BOOL, Kind.NULL), "a condition as the result of a test")
    if item.join is not None:
        own, given = column_types(pattern).get(item.join[0]), _given(negation, item.join[1])
        require(
            own is not None and given is not None and own.kind is given.kind and own.kind is not FLOAT.kind,
            "joins of values that are alike",
        )


def _given(negation: Negation, number: int) -> Type | None:
    """The type of what is asked of a match."""
    code = negation.given.code
    return code.ops[code.results[number]].type if code is not None and 0 <= number < len(code.results) else None


def _pair_inputs(item: NegatedEvent, negation: Negation, pattern: Pattern) -> Inputs:
    """See `NegatedEvent`."""
    columns = column_types(pattern)

    def given(name: str) -> Type | None:
        kind, _, rest = name.partition(":")
        number, _, column = rest.partition(":")
        if kind == "match":
            return _given(negation, int(rest)) if _is_number(rest, LIMIT) else None
        if kind == "event":
            return columns.get(column) if _is_number(number, len(item.points)) else None
        return BOOL if kind == "there" and _is_number(rest, len(item.points)) else None

    return given
