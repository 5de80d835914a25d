"""ISO row patterns: from each start the first sequence of rows, in the order of preferment, that the pattern accepts.

`sequences` enumerates what the standard (ISO/IEC 19075-5, 7.2) enumerates, in its order: alternatives from left to right, greedy
quantifiers with more iterations first, reluctant ones with fewer. Conditions and the window prune as rows are mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ostinato.algebra.pattern import Alternation, Empty, Pattern, Repetition, Sequence, Variable
from ostinato.algebra.policies import Skip, Ties
from ostinato.algebra.query import MatchQuery, Unit, When
from ostinato.base.errors import UnsupportedError
from ostinato.reference.binding import Binding, admits
from ostinato.reference.match import Match
from ostinato.reference.stream import Row, elapsed, partitions

Mapped = tuple[tuple[int, str], ...]  # (index in the partition, variable)
Extend = Callable[[Mapped, str], bool]  # may the next row be mapped to the variable, after these?


def preferred_matches(query: MatchQuery, rows: list[dict[str, Any]]) -> list[Match]:
    _check(query)
    return [match for partition in partitions(query, rows) for match in _search(query, partition)]


def _search(query: MatchQuery, partition: list[Row]) -> Iterator[Match]:
    start, number = 0, 1
    while start < len(partition):
        mapped = _preferred(query, partition, start, number)
        if mapped is not None:
            found = tuple((partition[index].position, variable) for index, variable in mapped)
            yield Match(found, partition[start].key or (), number, partition[start].position)
            number += 1
        if mapped and query.skip is Skip.PAST_LAST_ROW:
            start = mapped[-1][0] + 1
        else:
            start += 1


def _preferred(query: MatchQuery, partition: list[Row], start: int, number: int) -> Mapped | None:
    def extend(mapped: Mapped, variable: str) -> bool:
        index = start + len(mapped)
        if index >= len(partition) or not _inside_window(query, partition, start, index):
            return False
        return admits(query, variable, Binding(partition, (*mapped, (index, variable)), number))

    return next(sequences(query.pattern, start, (), extend), None)


def sequences(pattern: Pattern, start: int, mapped: Mapped, extend: Extend) -> Iterator[Mapped]:
    """All ways in which the pattern continues `mapped`, best first, each once."""
    seen: set[Mapped] = set()  # the same rows again would only be continued, and fail, in the same way
    for after in _continue(pattern, start, mapped, extend):
        if after not in seen:
            seen.add(after)
            yield after


def _continue(pattern: Pattern, start: int, mapped: Mapped, extend: Extend) -> Iterator[Mapped]:
    match pattern:
        case Empty():
            yield mapped
        case Variable(name):
            if extend(mapped, name):
                yield (*mapped, (start + len(mapped), name))
        case Sequence(items):
            yield from _in_turn(items, start, mapped, extend)
        case Alternation(items):
            for item in items:
                yield from sequences(item, start, mapped, extend)
        case Repetition():
            yield from _repeat(pattern, 0, start, mapped, extend)


def _in_turn(items: tuple[Pattern, ...], start: int, mapped: Mapped, extend: Extend) -> Iterator[Mapped]:
    if not items:
        yield mapped
        return
    for after in sequences(items[0], start, mapped, extend):
        yield from _in_turn(items[1:], start, after, extend)


def _repeat(loop: Repetition, done: int, start: int, mapped: Mapped, extend: Extend) -> Iterator[Mapped]:
    """An empty iteration stands at its own place in the order (7.2.8). It ends the loop once the minimum is reached; below that
    later iterations may still map rows: `(A?){2,3}` allows (empty, A) but not (A, empty, A)."""
    enough = done >= loop.at_least
    if enough and not loop.greedy:
        yield mapped
    if loop.at_most is None or done < loop.at_most:
        for after in sequences(loop.item, start, mapped, extend):
            if after == mapped and done + 1 >= loop.at_least:
                yield after
            else:
                yield from _repeat(loop, done + 1, start, after, extend)
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
        raise UnsupportedError("row patterns follow the order of rows", hint="leave ties= at \"order\"")
    if query.negations:
        raise UnsupportedError("negation belongs to the run-based selections", span=query.negations[0].span)
    for definition in query.definitions:
        for condition in definition.conditions:
            if condition.when is When.LEAVING:
                raise UnsupportedError("a condition about a finished variable belongs to the run-based selections", span=condition.span)
