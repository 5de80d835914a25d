"""Where the negations of a pattern stand, and what they forbid there."""

from __future__ import annotations

from dataclasses import dataclass

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
    negations_of,
    variables_of,
)
from ostinato.base.errors import UnsupportedError


@dataclass(frozen=True)
class Gap:
    """One negation between the parts of the pattern's sequence. `negated` are the variables of its item, one event each."""

    negation: Negation
    before: tuple[Pattern, ...]
    after: tuple[Pattern, ...]
    negated: tuple[str, ...]

    @property
    def position(self) -> int:
        """The number of elements before it, those of all alternatives counted."""
        return len(variables_of(Sequence(self.before)))

    @property
    def leads(self) -> bool:
        """Whether nothing has to be selected before it."""
        return all(map(_may_be_empty, self.before))

    @property
    def trails(self) -> bool:
        return all(map(_may_be_empty, self.after))


def gaps_of(pattern: Pattern) -> tuple[Gap, ...]:
    """Refuses negations inside of alternatives, repetitions and other negations, and items that are no sequence of single events."""
    parts = pattern.items if isinstance(pattern, Sequence) else (pattern,)
    for part in parts:
        if not isinstance(part, Negation) and negations_of(part):
            raise UnsupportedError("a negation stands between the parts of the pattern's sequence", span=negations_of(part)[0].span)
    return tuple(
        Gap(part, parts[:place], parts[place + 1 :], _negated(part)) for place, part in enumerate(parts) if isinstance(part, Negation)
    )


def _negated(negation: Negation) -> tuple[str, ...]:
    items = negation.item.items if isinstance(negation.item, Sequence) else (negation.item,)
    names = tuple(item.name for item in items if isinstance(item, Variable))
    if not names or len(names) < len(items):
        raise UnsupportedError("a negation forbids an event, or a sequence of events", span=negation.span)
    return names


def _may_be_empty(pattern: Pattern) -> bool:
    match pattern:
        case Variable():
            return False
        case Empty() | PartitionStart() | PartitionEnd() | Negation():
            return True
        case Excluded(item) | Where(item):
            return _may_be_empty(item)
        case Sequence(items) | Conjunction(items):
            return all(map(_may_be_empty, items))
        case Alternation(items):
            return any(map(_may_be_empty, items))
        case Repetition(item, at_least):
            return at_least == 0 or _may_be_empty(item)
