"""What a pattern is made of. One frozen class per operator."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """One row, mapped to a name."""

    name: str


@dataclass(frozen=True)
class Empty:
    """The pattern that maps no row: `()`."""


@dataclass(frozen=True)
class PartitionStart:
    """`^`: holds before the first row of the partition, and maps no row."""


@dataclass(frozen=True)
class PartitionEnd:
    """`$`: holds behind the last row of the partition, and maps no row."""


@dataclass(frozen=True)
class Excluded:
    """`{- item -}`: as the item; its rows are not shown where all rows of a match are."""

    item: Pattern


@dataclass(frozen=True)
class Sequence:
    items: tuple[Pattern, ...]


@dataclass(frozen=True)
class Alternation:
    """Left alternatives are preferred."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True)
class Repetition:
    """`at_most` None is unbounded. Greedy prefers more iterations, reluctant fewer."""

    item: Pattern
    at_least: int
    at_most: int | None
    greedy: bool = True


Pattern = Variable | Empty | PartitionStart | PartitionEnd | Excluded | Sequence | Alternation | Repetition


def variables_of(pattern: Pattern) -> tuple[str, ...]:
    """The names in a pattern, in the order of the text, each once."""
    if isinstance(pattern, Variable):
        return (pattern.name,)
    if isinstance(pattern, Empty | PartitionStart | PartitionEnd):
        return ()
    items = pattern.items if isinstance(pattern, Sequence | Alternation) else (pattern.item,)
    return tuple(dict.fromkeys(name for item in items for name in variables_of(item)))
