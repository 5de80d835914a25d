"""Patterns of situations, as TPStream has them: what lasts while a condition holds, and Allen's relations between such intervals.

A row that satisfies a definition begins a situation, or goes on with the one that is open; another row that the definition reads ends it.
Or each such row is a situation by itself, which ends at its time. Situations carry registers and their two times, never rows. After all
rows of one time, a moment of the partition, combinations are looked for that this moment has decided."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.program.pattern import Pattern

RELATIONS = (
    "before", "meets", "overlaps", "starts", "during", "finishes", "equals", "finished by", "contains", "started by", "overlapped by",
    "met by", "after",
)  # fmt: skip
BOUNDED = ("before", "after", "overlaps", "overlapped by")
LATENCIES = ("earliest", "final")


def inverse_of(relation: int) -> int:
    """`B inverse A` says the same as `A relation B`: they are listed so that the first is that of the last."""
    return len(RELATIONS) - 1 - relation


@dataclass(frozen=True)
class SituationTest:
    """Rows with the bit `reads` (-1: all of them) are read; of these, those with `bit` satisfy the definition. `block` takes a row into the
    registers of its situation, -1: these are not asked for anything. A situation lasts `at_least` and `at_most` so long, -1: any time.
    `start`: the slot with the start, where each row is a situation; -1: they are derived."""

    bit: int
    reads: int = -1
    block: int = -1
    at_least: int = -1
    at_most: int = -1
    start: int = -1


@dataclass(frozen=True)
class AllowedRelation:
    """A relation, by its place in `RELATIONS`; where it is bounded, its gap or common part lasts from `least` to `most`."""

    relation: int
    bounded: bool = False
    least: int = 0
    most: int = 0


@dataclass(frozen=True)
class IntervalConstraint:
    """Two situations, by the numbers of their definitions, are in one of these relations."""

    first: int
    second: int
    allowed: tuple[AllowedRelation, ...]

    def closes(self, first_is_derived: bool, second_is_derived: bool) -> tuple[bool, bool]:
        """Whether the first knows all that may be its second when it has ended, and the other way round. What is derived is known when it
        begins, what is given when it ends."""
        relations = [allowed.relation for allowed in self.allowed]
        turned = [inverse_of(relation) for relation in relations]
        return _are_known(relations, second_is_derived), _are_known(turned, first_is_derived)


def _are_known(relations: list[int], derived: bool) -> bool:
    """Of `before` and `meets` the second begins when the first has ended; from `finishes` on it ends no later than the first."""
    return min(relations) >= RELATIONS.index("overlaps" if derived else "finishes")


@dataclass(frozen=True)
class IntervalPattern(Pattern):
    """`evaluation` is "intervals"; `variables` are the names of the definitions. `owners`: the definition that each register belongs to.
    `orders`: for each definition whose situation decides a match, all of them in the order in which the others are looked for, unless
    another order is expected to cost less. `latency`: "earliest", as soon as nothing can refute a match, or "final", when all of its
    situations have ended. `each`: there are no matches, each situation is a result when it has ended; what other definitions carry is as
    before their first row then. Measures read "register:R" of the situations, "partition:K", "start", "end" and "detected"; with `each`
    also "situation", the name of the definition."""

    definitions: tuple[SituationTest, ...] = ()
    constraints: tuple[IntervalConstraint, ...] = ()
    owners: tuple[int, ...] = ()
    orders: tuple[tuple[int, ...], ...] = ()
    latency: str = "earliest"
    each: bool = False
    passes_over: bool = True  # rows at which nothing begins, ends or becomes long enough are not decided one by one
    adapts: bool = True  # the orders follow what is measured
    drops_partnerless: bool = True  # a situation that has ended without one that a constraint asks for

    @property
    def is_timed(self) -> bool:
        return True

    @property
    def is_decided_by_time(self) -> bool:
        """A moment is over when no more rows of its time can come."""
        return True

    @property
    def decides_moments(self) -> bool:
        return True
