"""The ways through the alternatives of a nested pattern: each is a pattern without any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from ostinato.algebra.pattern import Alternation, Conjunction, Empty, Negation, Pattern, Repetition, Sequence, Variable, Where, parts_of
from ostinato.base.errors import UnsupportedError

MOST_WAYS = 256


@dataclass(frozen=True)
class LeftOut(Empty):
    """A member that selects nothing, of a branch that is taken: its list is empty, not unknown."""

    name: str


def left_out(pattern: Pattern) -> frozenset[str]:
    """The members that select nothing on a way; not those of what is negated, which has ways of its own."""
    if isinstance(pattern, LeftOut):
        return frozenset((pattern.name,))
    items = () if isinstance(pattern, Negation) else parts_of(pattern)
    return frozenset[str]().union(*map(left_out, items))


def ways_through(pattern: Pattern) -> tuple[Pattern, ...]:
    """In the order of the text, without a member before with it. What is negated keeps its alternatives: each of them must not be there."""
    found: list[Pattern] = []
    for way in _ways(pattern):
        found.append(way)
        if len(found) > MOST_WAYS:
            raise UnsupportedError(
                f"The alternatives, and members that may be left out, of this pattern can be combined in more than {MOST_WAYS} ways",
                hint="Split the query: an OR of few members, or few members with * or ?, at a time",
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
        case Repetition(Variable(name) as variable, 0, None):
            yield LeftOut(name)
            yield Repetition(variable, 1, None)
        case Repetition(Variable(name) as variable, 0, 1):
            yield LeftOut(name)
            yield variable
        case Repetition(Variable(), 1, None):
            yield pattern
        case _:
            raise UnsupportedError("A nested pattern is made of SEQ, AND, OR, negation, events and their repetition with + * or ?")
