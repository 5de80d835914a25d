"""The row pattern as it was written, to a pattern of the algebra."""

from __future__ import annotations

from itertools import permutations
from math import factorial

from ostinato.algebra.pattern import (
    Alternation,
    Empty,
    Excluded,
    PartitionEnd,
    PartitionStart,
    Pattern,
    Repetition,
    Sequence,
    Variable,
)
from ostinato.base.errors import UnsupportedError
from ostinato.lang.sql.syntax import Edge, Hidden, InOrder, NoRows, OneOf, PatternTree, Permuted, Repeated, RowVariable

MOST_PARTS = 20_000  # variables that PERMUTE may expand to


def lower_pattern(tree: PatternTree, every_row: bool = False) -> Pattern:
    """`every_row`: all rows of a match are shown, so that exclusions matter."""
    match tree:
        case RowVariable(name):
            return Variable(name.value)
        case NoRows():
            return Empty()
        case Edge(start):
            return PartitionStart() if start else PartitionEnd()
        case Hidden(item):
            inside = lower_pattern(item, every_row)
            return Excluded(inside) if every_row else inside
        case InOrder(items):
            return Sequence(tuple(lower_pattern(item, every_row) for item in items))
        case OneOf(items):
            return Alternation(tuple(lower_pattern(item, every_row) for item in items))
        case Permuted(items):
            _check_size(tree)
            lowered = [lower_pattern(item, every_row) for item in items]
            return Alternation(tuple(Sequence(order) for order in permutations(lowered))) if len(lowered) > 1 else lowered[0]
    return Repetition(lower_pattern(tree.item, every_row), tree.at_least, tree.at_most, tree.greedy)


def _check_size(tree: Permuted) -> None:
    """Before anything is expanded: n items stand in n! orders."""
    if _parts(tree) > MOST_PARTS:
        raise UnsupportedError(
            "PERMUTE has too many orders",
            detail=f"Its {len(tree.items)} items stand in {factorial(len(tree.items)):,} orders." if len(tree.items) <= 20 else None,
            hint="List fewer items, or describe the rows by conditions",
            span=tree.span,
        )


def _parts(tree: PatternTree) -> int:
    """The variables that are left when every PERMUTE is written out; counting stops where it is too many anyway."""
    match tree:
        case InOrder(items) | OneOf(items):
            return sum(map(_parts, items))
        case Permuted(items):
            return factorial(min(len(items), 12)) * sum(map(_parts, items))
        case Repeated(item) | Hidden(item):
            return _parts(item)
    return 1
