"""Constraints of PATTERN: between situations that are defined, and of all of them together."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.algebra import allen
from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.lang.situations.definitions import definition_named
from ostinato.lang.situations.relations import Bounded
from ostinato.lang.situations.syntax import Definition, Name
from ostinato.lang.streams.stream import Stream
from ostinato.lang.streams.window import Window, length_of_what_lasts
from ostinato.lang.tpstream.syntax import Constraint, TpstreamQuery


def lower_constraint(constraint: Constraint, definitions: Sequence[Definition], stream: Stream) -> allen.Constraint:
    first, second = (definition_named(name.name, definitions, name.span) for name in (constraint.first, constraint.second))
    if first is second:
        hint = f"Define it under another name, too, for a relation between two of them: {first.name}2 AS ..."
        raise QuerySyntaxError(f"`{first.name}` is related to itself", hint=hint, span=constraint.span)
    allowed = dict.fromkeys(_related(bounded, stream) for bounded in constraint.allowed)
    return allen.Constraint(first.name, second.name, tuple(allowed))


def _related(bounded: Bounded, stream: Stream) -> allen.Related:
    if bounded.least is None or bounded.most is None:
        return allen.Related(bounded.relation)
    least, most = _length(bounded.least, stream, up=True), _length(bounded.most, stream)
    if least > most:
        raise QuerySyntaxError("The lower bound is above the upper one", hint="Turn the bounds round", span=bounded.span)
    if most == 0:
        what = "gap" if bounded.relation in (allen.Relation.BEFORE, allen.Relation.AFTER) else "common part"
        hint = "Without a gap situations are in the relation `meets` or `met by`"
        raise QuerySyntaxError(f"`{bounded.relation.value}` has a {what} that is longer than this", hint=hint, span=bounded.span)
    return allen.Related(bounded.relation, allen.Bounds(least, most))


def _length(window: Window, stream: Stream, up: bool = False) -> int:
    if window.unit == "event":
        raise UnsupportedError("Bounds are in time", hint="before[1 MINUTE, 5 MINUTES]", span=window.span)
    return length_of_what_lasts(window, "a bound of", stream.time, stream.time_type, up)


def check_connected(query: TpstreamQuery) -> None:
    """Every situation is related to every other one, directly or by others: the rest would be a cross product."""
    definitions = query.definitions
    if query.alone is not None:
        definition_named(query.alone.name, definitions, query.alone.span)
    edges = [(constraint.first, constraint.second) for constraint in query.constraints]
    begin = query.alone or query.constraints[0].first
    reached, grows = {begin.name.lower()}, True
    while grows:
        before = len(reached)
        for a, b in edges:
            if {a.name.lower(), b.name.lower()} & reached:
                reached |= {a.name.lower(), b.name.lower()}
        grows = len(reached) > before
    for definition in definitions:
        if definition.name.lower() not in reached:
            raise _apart(definition, begin, query)


def _apart(definition: Definition, begin: Name, query: TpstreamQuery) -> UnsupportedError:
    used = [name for constraint in query.constraints for name in (constraint.first, constraint.second)]
    place = next((name for name in used if name.name.lower() == definition.name.lower()), None)
    if place is None:
        message = f"PATTERN does not relate `{definition.name}` to anything"
        hint = f"Every situation would be combined with each `{definition.name}`: relate it, or leave the definition out"
        return UnsupportedError(message, hint=hint, span=definition.span)
    message = f"Nothing relates `{definition.name}` to `{begin.name}`"
    hint = "Every match of the one part would be combined with each of the other: add a constraint between them, or run two queries"
    return UnsupportedError(message, hint=hint, span=place.span)
