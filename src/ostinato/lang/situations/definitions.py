"""Definitions of situations to the algebra."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from ostinato.algebra.situations import Duration, SituationDefinition
from ostinato.base.errors import QuerySyntaxError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import Expr, Literal
from ostinato.expr.types import BOOL
from ostinato.lang.situations.conditions import lower_condition
from ostinato.lang.situations.sources import Sources
from ostinato.lang.situations.syntax import Definition, Lasting, Name
from ostinato.lang.streams.stream import Stream
from ostinato.lang.streams.window import Window, length_of_what_lasts


def definition_named(name: str, definitions: Sequence[Definition], span: Span | None) -> Definition:
    for definition in definitions:
        if definition.name.lower() == name.lower():
            return definition
    close = get_close_matches(name.lower(), [definition.name.lower() for definition in definitions], 1)
    hint = f"Situations are {', '.join(definition.name for definition in definitions)}"
    if close:
        hint = f"Did you mean `{next(known.name for known in definitions if known.name.lower() == close[0])}`?"
    raise UnknownNameError(f"There is no situation `{name}`", hint=hint, span=span)


def check_names(definitions: Sequence[Definition]) -> None:
    seen: dict[str, Definition] = {}
    for definition in definitions:
        if definition.name.lower() in seen:
            raise QuerySyntaxError(f"`{definition.name}` is defined twice", hint="Names differ in more than case", span=definition.span)
        seen[definition.name.lower()] = definition


def lower_partition(columns: Sequence[Name], sources: Sources) -> tuple[str, ...]:
    """Every stream has these columns: its events are of a partition."""
    found: dict[str, None] = {}
    for column in columns:
        own = sources.column(column, tuple(sources.schemas))
        if own in found:
            raise QuerySyntaxError(f"PARTITION BY names `{own}` twice", hint="Leave one of them out", span=column.span)
        if not sources.stream.schema.type_of(own).is_computable:
            message = f"`{own}` is of type {sources.stream.schema.type_of(own)}, and cannot be a key"
            raise TypeMismatchError(message, hint="Partition by a plain column, or by a field of a struct", span=column.span)
        found[own] = None
    return tuple(found)


def lower_definition(definition: Definition, sources: Sources) -> SituationDefinition:
    names, start = sources.of(definition), sources.start_of(definition)
    condition, lasting = _condition(definition, sources, given=start is not None)
    return SituationDefinition(
        definition.name,
        condition,
        _duration(lasting, sources.stream),
        names if len(names) < len(sources.schemas) else (),
        start,
    )


def _condition(definition: Definition, sources: Sources, given: bool) -> tuple[Expr, Lasting | None]:
    """BETWEEN behind a complete condition is its duration."""
    if definition.condition is None:
        if not given:
            hint = f"DEFINE {definition.name} AS ...; only rows that last, of a stream INTERVAL (start, end), need none"
            raise QuerySyntaxError(f"`{definition.name}` has no condition", hint=hint, span=definition.span)
        return Literal(True, type=BOOL), definition.lasting
    if definition.compared is None:
        return lower_condition(definition.condition, definition, sources), definition.lasting
    try:
        return lower_condition(definition.condition, definition, sources), definition.lasting
    except TypeMismatchError:
        return lower_condition(definition.compared, definition, sources), None


def _duration(lasting: Lasting | None, stream: Stream) -> Duration:
    if lasting is None:
        return Duration()
    both = lasting.at_least is not None and lasting.at_most is not None
    least = None if lasting.at_least is None else _length(lasting.at_least, "BETWEEN" if both else "AT LEAST", stream, up=True)
    most = None if lasting.at_most is None else _length(lasting.at_most, "AND" if both else "AT MOST", stream)
    if least is not None and most is not None and least > most:
        raise QuerySyntaxError("No situation lasts so long and so short", hint="Turn the bounds round", span=lasting.span)
    if most == 0:
        raise QuerySyntaxError("Every situation lasts longer than this", hint="What ends when it starts is no situation", span=lasting.span)
    return Duration(least, most)


def _length(window: Window, clause: str, stream: Stream, up: bool = False) -> int:
    if window.unit == "event":
        raise UnsupportedError("Durations are in time", hint=f"{clause} 5 SECONDS", span=window.span)
    return length_of_what_lasts(window, clause, stream.time, stream.time_type, up)
