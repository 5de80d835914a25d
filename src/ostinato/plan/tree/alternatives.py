"""The ways through the alternatives of a nested pattern: each is a pattern without any."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ostinato.algebra.pattern import Alternation, Conjunction, Empty, Negation, Pattern, Repetition, Sequence, Variable, Where
from ostinato.base.errors import UnsupportedError

MOST_WAYS = 256


def ways_through(pattern: Pattern) -> tuple[Pattern, ...]:
    """In the order of the text. What is negated keeps its alternatives: each of them must not be there."""
    found: list[Pattern] = []
    for way in _ways(pattern):
        found.append(way)
        if len(found) > MOST_WAYS:
            raise UnsupportedError(
                f"The alternatives of this pattern can be combined in more than {MOST_WAYS} ways",
                hint="Split the query: an OR of few members at a time",
            )
    return tuple(found)


def _ways(pattern: Pattern) -> Iterator[Pattern]:
    match pattern:
        case Variable() | Empty() | Negation():
            yield pattern
        case Alternation(items):
            for item in items:
                yield from _ways(item)
        case Where(item, conditions):
            yield from (Where(way, conditions) for way in _ways(item))
        case Sequence(items):
            yield from (Sequence(ways) for ways in product(*map(ways_through, items)))
        case Conjunction(items):
            yield from (Conjunction(ways, pattern.span) for ways in product(*map(ways_through, items)))
        case Repetition(Variable(), 0, None):
            yield Empty()
            yield Repetition(pattern.item, 1, None)
        case Repetition(Variable() as variable, 0, 1):
            yield Empty()
            yield variable
        case Repetition(Variable(), 1, None):
            yield pattern
        case _:
            raise UnsupportedError("A nested pattern is made of SEQ, AND, OR, negation, events and their repetition with + * or ?")
