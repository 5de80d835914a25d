"""Patterns of situations by definition: every combination of situations is looked at, at every moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ostinato.algebra.allen import Compare, Constraint, Related, Side
from ostinato.algebra.policies import Latency
from ostinato.algebra.situations import DETECTED, END, START, MatchIntervals
from ostinato.expr.values.evaluate import evaluate
from ostinato.reference.binding import AtMatch, Binding
from ostinato.reference.situations import Events, Situation, lasts
from ostinato.reference.stream import partitions, rank

Found = tuple[Situation, ...]  # one per definition, in their order


def interval_rows(query: MatchIntervals, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a query returns, over the rows of the stream that it reads."""
    search = _earliest if query.latency is Latency.EARLIEST else _final
    found = []
    for partition in partitions(query.situations, rows):
        events = Events.of(query.situations, partition)
        key = tuple(rank(value, nulls_low=False) for value in partition[0].key or ())
        for match, detected in search(query, events):
            found.append(((detected, key, [one.start for one in match]), _row(query, events, match, detected)))
    return [row for _, row in sorted(found, key=lambda item: item[0])]


def _final(query: MatchIntervals, events: Events) -> Iterator[tuple[Found, int]]:
    """When all is known that the input tells: combinations of situations that have ended."""
    last = events.times[-1]
    ended = [[one for one in events.known(definition, last) if one.end is not None] for definition in query.situations.definitions]
    for match in _combinations(query, ended, last, _holds):
        end = max(one.end for one in match if one.end is not None)
        if _is_short(query, match, end):
            yield match, end


def _earliest(query: MatchIntervals, events: Events) -> Iterator[tuple[Found, int]]:
    """After all events of each time: combinations that hold however those go on that are still open."""
    reported: set[tuple[int, ...]] = set()
    for now in sorted(set(events.times)):
        known = [events.known(definition, now) for definition in query.situations.definitions]
        for match in _combinations(query, known, now, _is_certain):
            identity = tuple(one.first for one in match)
            if identity not in reported and _is_short(query, match, now):
                reported.add(identity)
                yield match, now


def _is_short(query: MatchIntervals, match: Found, end: int) -> bool:
    return query.within is None or end - min(one.start for one in match) <= query.within.length


Check = Callable[[Constraint, Situation, Situation, int], bool]


def _combinations(query: MatchIntervals, known: list[list[Situation]], now: int, check: Check) -> Iterator[Found]:
    """One situation of each definition, so that durations and constraints are satisfied."""
    chosen: dict[str, Situation] = {}

    def fits(constraint: Constraint, name: str) -> bool:
        if name not in (constraint.first, constraint.second) or not {constraint.first, constraint.second} <= set(chosen):
            return True
        return check(constraint, chosen[constraint.first], chosen[constraint.second], now)

    def extended(place: int) -> Iterator[Found]:
        if place == len(known):
            yield tuple(chosen.values())
            return
        definition = query.situations.definitions[place]
        for one in known[place]:
            chosen[definition.name] = one
            if lasts(definition.duration, one, now) and all(fits(constraint, definition.name) for constraint in query.constraints):
                yield from extended(place + 1)
            del chosen[definition.name]

    return extended(0)


def _holds(constraint: Constraint, a: Situation, b: Situation, now: int) -> bool:
    assert a.end is not None and b.end is not None
    return any(_related(related, a.start, a.end, b.start, b.end) for related in constraint.allowed)


def _related(related: Related, a_start: int, a_end: int, b_start: int, b_end: int) -> bool:
    at = {Side.A_START: a_start, Side.A_END: a_end, Side.B_START: b_start, Side.B_END: b_end}
    for left, compare, right in related.relation.comparisons:
        if not (at[left] < at[right] if compare is Compare.LESS else at[left] == at[right]):
            return False
    if related.bounds is None:
        return True
    begin, end = related.relation.distance
    return related.bounds.least <= at[end] - at[begin] <= related.bounds.most


def _is_certain(constraint: Constraint, a: Situation, b: Situation, now: int) -> bool:
    """In all continuations: each situation that is open ends at any time later than now."""
    ends = _later(constraint, a, b, now)
    return all(
        any(_related(related, a.start, a_end, b.start, b_end) for related in constraint.allowed)
        for a_end in ([a.end] if a.end is not None else ends)
        for b_end in ([b.end] if b.end is not None else ends)
    )


def _later(constraint: Constraint, a: Situation, b: Situation, now: int) -> list[int]:
    """Ends that stand for all: what a constraint says of two ends changes only where they meet, and at bounds counted from a start or
    an end. Two of each kind, so that either situation can end first; and two behind all of them."""
    counted = [time for one in (a, b) for time in (one.start, one.end) if time is not None]
    bounds = [
        length for related in constraint.allowed if related.bounds is not None for length in (related.bounds.least, related.bounds.most)
    ]
    points = {now, *(time + length for time in counted for length in (0, *bounds))}
    last = max(points)
    return sorted(end for point in (*points, last + 2) for end in range(point - 2, point + 3) if end > now)


def _row(query: MatchIntervals, events: Events, match: Found, detected: int) -> dict[str, Any]:
    mapped = sorted((index, one.name) for one in match for index in one.events)
    context = AtMatch(Binding(events.rows, tuple(mapped), 0))
    measures = {measure.name: evaluate(measure.expr, context) for measure in query.measures}
    open_ = any(one.end is None for one in match)
    time = query.situations.time
    return measures | {
        START: min(match, key=lambda one: one.start).began,
        END: None if open_ else max(match, key=lambda one: one.end or 0).ended,
        DETECTED: events.rows[events.times.index(detected)].values[time],
    }
