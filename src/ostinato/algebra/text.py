"""The canonical text of a query: one clause a line, the same text for equal queries, for people and for golden tests."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.algebra.event_streams import EventQuery
from ostinato.algebra.event_text import event_query_text
from ostinato.algebra.input_text import name_text as _name
from ostinato.algebra.input_text import part_text, quoted
from ostinato.algebra.pattern import (
    Alternation,
    Conjunction,
    Empty,
    Excluded,
    Negation,
    PartitionEnd,
    PartitionStart,
    Pattern,
    Repetition,
    Sequence,
    Variable,
    Where,
)
from ostinato.algebra.policies import MatchOrder, NullKeys, RowsPerMatch, Selection, Ties
from ostinato.algebra.query import Definition, MatchQuery, OrderKey, Unit, When
from ostinato.algebra.situation_text import interval_clauses, stream_clauses
from ostinato.algebra.situations import MatchIntervals, SituationStream
from ostinato.expr.text import to_text as expression_text

_QUANTIFIERS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def to_text(query: MatchQuery | EventQuery | MatchIntervals | SituationStream) -> str:
    """A query, clause by clause. What has its default and says nothing is left out."""
    if isinstance(query, EventQuery):
        return event_query_text(query)
    if isinstance(query, SituationStream):
        return "\n".join(stream_clauses(query))
    return "\n".join(_clauses(query) if isinstance(query, MatchQuery) else interval_clauses(query))


def _clauses(query: MatchQuery) -> Iterator[str]:
    columns = ", ".join(f"{_name(name)} {type}" for name, type in query.schema.columns)
    yield f"FROM {_name(query.stream)} ({columns})"
    yield from map(part_text, query.parts)
    if query.partition:
        never = " NULLS NEVER" if query.null_keys is NullKeys.NEVER else ""
        yield f"PARTITION BY {', '.join(map(_name, query.partition))}{never}"
    if query.order:
        yield f"ORDER BY {', '.join(_order(key) for key in query.order)}"
    if query.time is not None:
        yield f"TIME {_name(query.time)}" + (" TIES EPOCH" if query.ties is Ties.EPOCH else "")
    if query.type_column is not None:
        yield f"TYPE {_name(query.type_column)}"
    yield f"SELECTION {query.selection.value}"
    skip = query.skip.value if query.skip_to is None else f"{query.skip.value} {_name(query.skip_to)}"
    yield f"SKIP {skip}" if query.selection is Selection.PREFERRED else f"OUTPUT {query.output.value}"
    if query.rows_per_match is not RowsPerMatch.ONE:
        yield f"ROWS {query.rows_per_match.value}"
    if query.timeouts:
        yield "TIMEOUTS shown"
    yield f"PATTERN {pattern_text(query.pattern)}"
    yield from (f"UNION {_name(union.name)} = {', '.join(map(_name, union.members))}" for union in query.unions)
    if query.within is not None:
        yield f"WITHIN {query.within.length}" + (" events" if query.within.unit is Unit.EVENTS else "")
    for definition in query.definitions:
        yield from _definition(definition)
    if query.kleene:
        yield f"LISTS {', '.join(map(_name, query.kleene))}"
    if query.shown is not None:
        yield f"SHOWN {', '.join(map(_name, query.shown)) or 'none'}"
    if query.listed is not MatchOrder.COMPLETION:
        yield f"LISTED {query.listed.value}"
    if query.measures is not None:
        yield "MEASURES" + (" WITH PARTITION" if query.measured_partition else "")
        yield from (f"  {_name(measure.name)} = {expression_text(measure.expr)}" for measure in query.measures)


def _definition(definition: Definition) -> Iterator[str]:
    event_type = "" if definition.event_type is None else f" : {quoted(definition.event_type, chr(39))}"
    yield f"DEFINE {_name(definition.variable)}{event_type}"
    for condition in definition.conditions:
        when = "" if condition.when is When.EACH else f"{condition.when.value}: "
        yield f"  {when}{expression_text(condition.expr)}"


def pattern_text(pattern: Pattern) -> str:
    """A pattern in the notation of the SQL clause, `~(x y)` where these events must not be, `x & y` for both in any order, `[x y WHERE
    ...]` for those matches of it that satisfy the conditions; with no parenthesis more than it needs."""
    match pattern:
        case Empty():
            return "()"
        case PartitionStart():
            return "^"
        case PartitionEnd():
            return "$"
        case Excluded(item):
            return f"{{- {pattern_text(item)} -}}"
        case Negation(item):
            return f"~({pattern_text(item)})"
        case Variable(name):
            return _name(name)
        case Where(item, conditions):
            return f"[{pattern_text(item)} WHERE {', '.join(map(expression_text, conditions))}]"
        case Sequence(items):
            return " ".join(_grouped(item, Sequence, Alternation, Conjunction) for item in items) if items else "()"
        case Conjunction(items):
            return " & ".join(_grouped(item, Sequence, Alternation, Conjunction) for item in items)
        case Alternation(items):
            return " | ".join(_grouped(item, Alternation, Conjunction) for item in items)
    return _grouped(pattern.item, Sequence, Alternation, Conjunction, Repetition) + _quantifier(pattern)


def _grouped(item: Pattern, *kinds: type) -> str:
    text = pattern_text(item)
    return f"({text})" if isinstance(item, kinds) and text != "()" else text


def _quantifier(loop: Repetition) -> str:
    upper = "" if loop.at_most is None else loop.at_most
    bounds = f"{loop.at_least}" if loop.at_least == loop.at_most else f"{loop.at_least},{upper}"
    return _QUANTIFIERS.get((loop.at_least, loop.at_most), f"{{{bounds}}}") + ("" if loop.greedy else "?")


def _order(key: OrderKey) -> str:
    return _name(key.column) + (" DESC" if key.descending else "") + (" NULLS FIRST" if key.nulls_first else "")
