"""Equalities between an event and what was begun: one that goes through all events of a chain is their key, another one finds instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ostinato.expr.nodes import Call, Expr, Field, Nav, type_of
from ostinato.expr.types import Kind
from ostinato.plan.instances.chain import Link, event, running
from ostinato.plan.instances.one_event import one_event

HELD_ALIKE = (Kind.INT, Kind.STRING, Kind.TIMESTAMP, Kind.DATE)  # equal as values exactly if they are equal as held


@dataclass(frozen=True)
class Equality:
    """A value of the event that a state waits for, and one of the instance."""

    own: Nav
    other: Nav


def equality(condition: Expr, number: int, link: Link) -> Equality | None:
    """Of a condition of state `number` that says no more than that two values are equal, which are held alike."""
    if not isinstance(condition, Call) or condition.name != "eq":
        return None
    left, right = (_value(side) for side in condition.args)
    if left is None or right is None:
        return None
    own, other = (left, right) if left.variable == event(number) else (right, left)
    if own.variable != event(number) or other.variable == event(number) or not _are_alike(own, other):
        return None
    return Equality(own, other) if other.variable != running(number) or _follows_events(other, link) else None


def _value(side: Expr) -> Nav | None:
    """Of one event, or what a repetition has made of an attribute."""
    return side if isinstance(side, Nav) else one_event(side)


def _are_alike(a: Nav, b: Nav) -> bool:
    one, other = type_of(a), type_of(b)
    return one.kind is other.kind and one.kind in HELD_ALIKE and one.ticks == other.ticks


def _follows_events(held: Nav, link: Link) -> bool:
    """Whether it is always the value of an event, and nothing that was computed from several."""
    assert link.repetition is not None and isinstance(held.body, Field)
    name = held.body.name
    return one_event(link.repetition.initial[name]) is not None and one_event(link.repetition.changed[name]) is not None


Place = tuple[int, str]  # an event of the chain, and a column


def common_key(links: Sequence[Link]) -> Mapping[str, str] | None:
    """Per stream the column in which all events of a chain are equal; None if there is none."""
    if len(links) < 2:
        return None
    known: dict[Place, Nav] = {}
    pairs = [pair for number, link in enumerate(links[1:], 1) for pair in _equal_places(number, link, known)]
    for place in sorted(place for place in known if place[0] == 0):
        found = _reached(place, pairs)
        columns = [sorted(column for number, column in found if number == of) for of in range(len(links))]
        if all(columns) and len({type_of(known[place]) for place in found}) == 1:
            keys = _per_stream(links, columns)
            if keys is not None:
                return keys
    return None


def _per_stream(links: Sequence[Link], columns: Sequence[Sequence[str]]) -> Mapping[str, str] | None:
    """A stream that is read several times has one key: a column that all its events have among theirs."""
    keys: dict[str, str] = {}
    for stream in dict.fromkeys(link.stream for link in links):
        shared = set.intersection(*(set(columns[number]) for number, link in enumerate(links) if link.stream == stream))
        if not shared:
            return None
        keys[stream] = min(shared)
    return keys


def _equal_places(number: int, link: Link, known: dict[Place, Nav]) -> Iterator[tuple[Place, Place]]:
    for condition in link.relevant:
        found = equality(condition, number, link)
        if found is None or not isinstance(found.own.body, Field):
            continue
        other: Expr = found.other
        if found.other.variable == running(number):
            other = _constant(found, link)
        if isinstance(other, Nav) and other.variable is not None and other.variable.startswith("@") and isinstance(other.body, Field):
            places = (number, found.own.body.name), (int(other.variable[1:]), other.body.name)
            known |= dict(zip(places, (found.own, other), strict=True))
            yield places


def _constant(found: Equality, link: Link) -> Expr:
    """What a repetition began with, where each of its events equals the one before in the same column."""
    assert link.repetition is not None and isinstance(found.other.body, Field)
    name = found.other.body.name
    return link.repetition.initial[name] if link.repetition.changed[name] == found.own else found.other


def _reached(start: Place, pairs: Sequence[tuple[Place, Place]]) -> set[Place]:
    reached, size = {start}, 0
    while size < len(reached):
        size = len(reached)
        reached |= {place for pair in pairs if reached & {*pair} for place in pair}
    return reached
