"""ISO row patterns: from each start the first sequence of rows, in the order of preferment, that the pattern accepts.

`sequences` enumerates what the standard (ISO/IEC 19075-5, 7.2) enumerates, in its order: alternatives from left to right, greedy
quantifiers with more iterations first, reluctant ones with fewer. Conditions and the window prune as rows are mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ostinato.algebra.pattern import Alternation, Empty, Excluded, PartitionEnd, PartitionStart, Pattern, Repetition, Sequence, Variable
from ostinato.algebra.policies import Skip, Ties
from ostinato.algebra.query import MatchQuery, Unit, When
from ostinato.base.errors import DataError, UnsupportedError
from ostinato.reference.binding import Binding, admits
from ostinato.reference.match import Match
from ostinato.reference.stream import Row, elapsed, partitions

Mapped = tuple[tuple[int, str, bool], ...]  # (index in the partition, variable, inside of an exclusion)
Extend = Callable[[Mapped, str], bool]  # may the next row be mapped to the variable, after these?


@dataclass(frozen=True)
class Attempt:
    """Where the sequences of an attempt begin, what may continue them, and how many rows the partition has."""

    start: int
    extend: Extend
    rows: int


def preferred_matches(query: MatchQuery, rows: list[dict[str, Any]]) -> list[Match]:
    _check(query)
    return [match for partition in partitions(query, rows) for match in _search(query, partition)]


def _search(query: MatchQuery, partition: list[Row]) -> Iterator[Match]:
    start, number = 0, 1
    while start < len(partition):
        mapped = _preferred(query, partition, start, number)
        if mapped is None:
            partial = _ended_by_window(query, partition, start) if query.timeouts else None
            if partial is not None:
                read = tuple((partition[index].position, variable) for index, variable, _ in partial)
                yield Match(read, partition[start].key or (), 0, partition[start].position, timed_out=True)
            start += 1
            continue
        found = tuple((partition[index].position, variable) for index, variable, _ in mapped)
        hidden = frozenset(partition[index].position for index, _, excluded in mapped if excluded)
        yield Match(found, partition[start].key or (), number, partition[start].position, hidden)
        number += 1
        start = _next_start(query, mapped, start) if mapped else start + 1


def _next_start(query: MatchQuery, mapped: Mapped, start: int) -> int:
    if query.skip is Skip.PAST_LAST_ROW:
        return mapped[-1][0] + 1
    if query.skip is Skip.TO_NEXT_ROW:
        return start + 1
    assert query.skip_to is not None
    targets = [index for index, variable, _ in mapped if variable in query.members(query.skip_to)]
    if not targets:
        raise DataError(
            f"AFTER MATCH SKIP goes to {query.skip_to}, but a match has no row of it",
            hint="Skip to a variable that every match has, or TO NEXT ROW",
        )
    target = targets[0] if query.skip is Skip.TO_FIRST else targets[-1]
    if target == start:
        raise DataError(
            f"AFTER MATCH SKIP goes to {query.skip_to}, which is the first row of the match: the search would never end",
            hint="Skip to a later row, or TO NEXT ROW",
        )
    return target


def _preferred(query: MatchQuery, partition: list[Row], start: int, number: int) -> Mapped | None:
    def extend(mapped: Mapped, variable: str) -> bool:
        index = start + len(mapped)
        if index >= len(partition) or not _inside_window(query, partition, start, index):
            return False
        bound = (*((index, name) for index, name, _ in mapped), (index, variable))
        return admits(query, variable, Binding(partition, bound, number, unions=query.unions))

    return next(sequences(query.pattern, (), Attempt(start, extend, len(partition))), None)


def _ended_by_window(query: MatchQuery, partition: list[Row], start: int) -> Mapped | None:
    """Of the ways in which the pattern reads all rows of the window from `start` on, the first in the order of preferment. The end of the
    input ends every window."""
    found: list[Mapped] = []

    def extend(mapped: Mapped, variable: str) -> bool:
        index = start + len(mapped)
        if index >= len(partition) or not _inside_window(query, partition, start, index):
            found.append(mapped)
            return False
        bound = (*((index, name) for index, name, _ in mapped), (index, variable))
        return not found and admits(query, variable, Binding(partition, bound, 0, unions=query.unions))

    for _ in sequences(query.pattern, (), Attempt(start, extend, len(partition))):
        break
    return found[0] if found else None


def sequences(pattern: Pattern, mapped: Mapped, attempt: Attempt) -> Iterator[Mapped]:
    """All ways in which the pattern continues `mapped`, best first, each once."""
    seen: set[tuple[str, ...]] = set()  # the same rows again would only be continued, and fail, in the same way
    for after in _continue(pattern, mapped, attempt):
        variables = tuple(variable for _, variable, _ in after)
        if variables not in seen:
            seen.add(variables)
            yield after


def _continue(pattern: Pattern, mapped: Mapped, attempt: Attempt) -> Iterator[Mapped]:
    place = attempt.start + len(mapped)
    match pattern:
        case Empty():
            yield mapped
        case PartitionStart():
            if place == 0:
                yield mapped
        case PartitionEnd():
            if place == attempt.rows:
                yield mapped
        case Variable(name):
            if attempt.extend(mapped, name):
                yield (*mapped, (place, name, False))
        case Excluded(item):
            for after in sequences(item, mapped, attempt):
                yield (*mapped, *((index, variable, True) for index, variable, _ in after[len(mapped) :]))
        case Sequence(items):
            yield from _in_turn(items, mapped, attempt)
        case Alternation(items):
            for item in items:
                yield from sequences(item, mapped, attempt)
        case Repetition():
            yield from _repeat(pattern, 0, mapped, attempt)


def _in_turn(items: tuple[Pattern, ...], mapped: Mapped, attempt: Attempt) -> Iterator[Mapped]:
    if not items:
        yield mapped
        return
    for after in sequences(items[0], mapped, attempt):
        yield from _in_turn(items[1:], after, attempt)


def _repeat(loop: Repetition, done: int, mapped: Mapped, attempt: Attempt) -> Iterator[Mapped]:
    """An empty iteration stands at its own place in the order (7.2.8). It ends the loop once the minimum is reached; below that
    later iterations may still map rows: `(A?){2,3}` allows (empty, A) but not (A, empty, A)."""
    enough = done >= loop.at_least
    if enough and not loop.greedy:
        yield mapped
    if loop.at_most is None or done < loop.at_most:
        for after in sequences(loop.item, mapped, attempt):
            if len(after) == len(mapped) and done + 1 >= loop.at_least:
                yield after
            else:
                yield from _repeat(loop, done + 1, after, attempt)
    if enough and loop.greedy:
        yield mapped


def _inside_window(query: MatchQuery, partition: list[Row], start: int, index: int) -> bool:
    if query.within is None:
        return True
    if query.within.unit is Unit.EVENTS:
        return index - start + 1 <= query.within.length
    return elapsed(query, partition[start], partition[index]) <= query.within.length


def _check(query: MatchQuery) -> None:
    if query.ties is not Ties.ORDER:
        raise UnsupportedError("row patterns follow the order of rows", hint='leave ties= at "order"')
    if query.negations:
        raise UnsupportedError("negation belongs to the run-based selections", span=query.negations[0].span)
    for definition in query.definitions:
        for condition in definition.conditions:
            if condition.when is When.LEAVING:
                raise UnsupportedError("a condition about a finished variable belongs to the run-based selections", span=condition.span)
