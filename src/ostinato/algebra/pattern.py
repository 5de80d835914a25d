"""What a pattern is made of. One frozen class per operator."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.base.span import Span
from ostinato.expr.nodes import Expr


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


@dataclass(frozen=True)
class Negation:
    """`~(item)`: maps no row, and holds where the item has no match, by the query's selection, that lies in its gap. The gap is what is
    between the last event selected before it in its sequence and the first selected after it. With nothing selected on one side it goes
    on, outside the match, as far as the window would have reached; of a negation inside a negation, as far as the gap of the outer one.
    It plays no part in how matches are found, so that the conditions of the item's variables may speak of every variable around it."""

    item: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Conjunction:
    """All items, in any order, overlapping or not, no event in two of them. A negation among them forbids its item between the first and
    the last event of the others."""

    items: tuple[Pattern, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Where:
    """Of the matches of the item those for which every condition is true (unknown is not) whose variables are all bound. A condition with
    a variable of an alternative that was not taken says nothing. Conditions may name the variables of the item that are not negated, and
    those of everything around it."""

    item: Pattern
    conditions: tuple[Expr, ...]


Pattern = Variable | Empty | PartitionStart | PartitionEnd | Excluded | Sequence | Alternation | Repetition | Negation | Conjunction | Where


def variables_of(pattern: Pattern) -> tuple[str, ...]:
    """The names of what a match holds, in the order of the text, each once: not those that are negated."""
    if isinstance(pattern, Variable):
        return (pattern.name,)
    if isinstance(pattern, Empty | PartitionStart | PartitionEnd | Negation):
        return ()
    return tuple(dict.fromkeys(name for item in parts_of(pattern) for name in variables_of(item)))


def negations_of(pattern: Pattern) -> tuple[Negation, ...]:
    """The negations in a pattern, in the order of the text; not those inside of others."""
    if isinstance(pattern, Negation):
        return (pattern,)
    return tuple(negation for item in parts_of(pattern) for negation in negations_of(item))


def is_nested(pattern: Pattern) -> bool:
    """Whether it has conjunctions or conditions of its own, anywhere: runs follow neither."""
    return isinstance(pattern, Conjunction | Where) or any(map(is_nested, parts_of(pattern)))


def may_be_empty(pattern: Pattern) -> bool:
    """Whether a match of it may hold no row."""
    if isinstance(pattern, Variable):
        return False
    if isinstance(pattern, Repetition):
        return pattern.at_least == 0 or may_be_empty(pattern.item)
    items = parts_of(pattern) if not isinstance(pattern, Negation) else ()
    return any(map(may_be_empty, items)) if isinstance(pattern, Alternation) else all(map(may_be_empty, items))


def parts_of(pattern: Pattern) -> tuple[Pattern, ...]:
    """What it is made of directly."""
    if isinstance(pattern, Sequence | Alternation | Conjunction):
        return pattern.items
    return (pattern.item,) if isinstance(pattern, Excluded | Repetition | Negation | Where) else ()
