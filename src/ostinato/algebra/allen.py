"""Allen's thirteen relations between two intervals, each a set of comparisons of their four endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """An endpoint of one of the two intervals, A and B: of `A relation B`."""

    A_START = "A.start"
    A_END = "A.end"
    B_START = "B.start"
    B_END = "B.end"


class Compare(Enum):
    LESS = "<"
    EQUAL = "="


Comparison = tuple[Side, Compare, Side]


class Relation(Enum):
    """`A relation B`. Of any two intervals of positive length exactly one holds."""

    BEFORE = "before"
    MEETS = "meets"
    OVERLAPS = "overlaps"
    STARTS = "starts"
    DURING = "during"
    FINISHES = "finishes"
    EQUALS = "equals"
    FINISHED_BY = "finished by"
    CONTAINS = "contains"
    STARTED_BY = "started by"
    OVERLAPPED_BY = "overlapped by"
    MET_BY = "met by"
    AFTER = "after"

    @property
    def inverse(self) -> Relation:
        """`B inverse A` says the same as `A relation B`."""
        return _INVERSES[self]

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Those that tell it from all others, given that intervals have a positive length. They all hold."""
        return _COMPARISONS[self]

    @property
    def can_be_bounded(self) -> bool:
        """Whether there is a gap, or a common part that is neither of the intervals: something that metric bounds can be about."""
        return self in _DISTANCES

    @property
    def distance(self) -> tuple[Side, Side]:
        """From where to where its gap or its common part lasts."""
        return _DISTANCES[self]


_INVERSES = {
    Relation.BEFORE: Relation.AFTER,
    Relation.MEETS: Relation.MET_BY,
    Relation.OVERLAPS: Relation.OVERLAPPED_BY,
    Relation.STARTS: Relation.STARTED_BY,
    Relation.DURING: Relation.CONTAINS,
    Relation.FINISHES: Relation.FINISHED_BY,
    Relation.EQUALS: Relation.EQUALS,
}
_INVERSES |= {inverse: relation for relation, inverse in _INVERSES.items()}

_A_START, _A_END, _B_START, _B_END = Side
_LESS, _EQUAL = Compare
_COMPARISONS: dict[Relation, tuple[Comparison, ...]] = {
    Relation.BEFORE: ((_A_END, _LESS, _B_START),),
    Relation.MEETS: ((_A_END, _EQUAL, _B_START),),
    Relation.OVERLAPS: ((_A_START, _LESS, _B_START), (_B_START, _LESS, _A_END), (_A_END, _LESS, _B_END)),
    Relation.STARTS: ((_A_START, _EQUAL, _B_START), (_A_END, _LESS, _B_END)),
    Relation.DURING: ((_B_START, _LESS, _A_START), (_A_END, _LESS, _B_END)),
    Relation.FINISHES: ((_B_START, _LESS, _A_START), (_A_END, _EQUAL, _B_END)),
    Relation.EQUALS: ((_A_START, _EQUAL, _B_START), (_A_END, _EQUAL, _B_END)),
    Relation.FINISHED_BY: ((_A_START, _LESS, _B_START), (_A_END, _EQUAL, _B_END)),
    Relation.CONTAINS: ((_A_START, _LESS, _B_START), (_B_END, _LESS, _A_END)),
    Relation.STARTED_BY: ((_A_START, _EQUAL, _B_START), (_B_END, _LESS, _A_END)),
    Relation.OVERLAPPED_BY: ((_B_START, _LESS, _A_START), (_A_START, _LESS, _B_END), (_B_END, _LESS, _A_END)),
    Relation.MET_BY: ((_B_END, _EQUAL, _A_START),),
    Relation.AFTER: ((_B_END, _LESS, _A_START),),
}
_DISTANCES = {
    Relation.BEFORE: (_A_END, _B_START),
    Relation.AFTER: (_B_END, _A_START),
    Relation.OVERLAPS: (_B_START, _A_END),
    Relation.OVERLAPPED_BY: (_A_START, _B_END),
}


@dataclass(frozen=True)
class Bounds:
    """How long a gap or a common part lasts, in the unit of the times; both are included."""

    least: int
    most: int


@dataclass(frozen=True)
class Related:
    """One of the relations that a constraint allows. Only those that can be bounded have `bounds`."""

    relation: Relation
    bounds: Bounds | None = None

    @property
    def inverse(self) -> Related:
        return Related(self.relation.inverse, self.bounds)


@dataclass(frozen=True)
class Constraint:
    """Two situations, by name, are in one of these relations: `first relation second`."""

    first: str
    second: str
    allowed: tuple[Related, ...]

    @property
    def inverse(self) -> Constraint:
        """The same, seen from the other side."""
        return Constraint(self.second, self.first, tuple(related.inverse for related in self.allowed))
