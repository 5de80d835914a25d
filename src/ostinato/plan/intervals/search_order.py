"""In which order the situations of a match are looked for, beginning with each of them."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ostinato.algebra.allen import Constraint, Relation

SELECTIVITIES = dict.fromkeys(Relation, 0.0049) | {
    Relation.BEFORE: 0.445,
    Relation.AFTER: 0.445,
    Relation.DURING: 0.03,
    Relation.CONTAINS: 0.03,
    Relation.OVERLAPS: 0.01,
    Relation.OVERLAPPED_BY: 0.01,
    Relation.EQUALS: 0.0006,
}  # before anything is known of the stream: Körber's thesis, Table 5.3


def search_orders(names: tuple[str, ...], constraints: tuple[Constraint, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(_from(name, names, constraints) for name in names)


def _from(first: str, names: tuple[str, ...], constraints: tuple[Constraint, ...]) -> tuple[int, ...]:
    """Next comes that of which the constraints to those before it leave the fewest; one without any is last."""
    order = [first]
    while len(order) < len(names):
        waiting = [name for name in names if name not in order]
        order.append(min(waiting, key=lambda name: _left(name, order, constraints)))
    return tuple(names.index(name) for name in order)


def _left(name: str, chosen: list[str], constraints: Iterable[Constraint]) -> float:
    """The part of its situations that is expected to remain."""
    between = [one for one in constraints if {one.first, one.second} <= {name, *chosen} and name in (one.first, one.second)]
    return prod(min(sum(SELECTIVITIES[related.relation] for related in one.allowed), 1.0) for one in between) if between else 2.0
