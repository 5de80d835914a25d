"""In which order the situations of a match are looked for, beginning with each of them: by the cost model of Körber's thesis, 5.5.4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ostinato.program.intervals import RELATIONS, IntervalConstraint

MOST_COMPARED = 10  # situations of which all orders are compared; of more, the one that leaves the fewest comes next
FIRST_SIZE = 100.0  # of each buffer, before anything is known
SELECTIVITIES = {
    "before": 0.445, "after": 0.445, "during": 0.03, "contains": 0.03, "overlaps": 0.01, "overlapped by": 0.01, "equals": 0.0006,
}  # fmt: skip
OF_THE_OTHERS = 0.0049  # the thesis, Table 5.3


def first_selectivity(constraint: IntervalConstraint) -> float:
    """The part of all pairs that is expected to satisfy it, before anything is known of the stream."""
    return min(sum(SELECTIVITIES.get(RELATIONS[allowed.relation], OF_THE_OTHERS) for allowed in constraint.allowed), 1.0)


@dataclass(frozen=True)
class SearchCost:
    """What is known of the buffers: `sizes` by definition, `selectivities` by constraint."""

    pairs: tuple[tuple[int, int], ...]
    sizes: Sequence[float]
    selectivities: Sequence[float]

    def order_from(self, first: int) -> tuple[int, ...]:
        others = [number for number in range(len(self.sizes)) if number != first]
        return (first, *(self._compared(first, others) if len(others) <= MOST_COMPARED else self._greedy(first, others)))

    def _found(self, chosen: int, definition: int) -> float | None:
        """How many of its situations go with one combination of those that are chosen, a bit for each; None: nothing relates it to them."""
        left, related = self.sizes[definition], False
        for (a, b), selectivity in zip(self.pairs, self.selectivities, strict=True):
            if (a == definition and chosen >> b & 1) or (b == definition and chosen >> a & 1):
                left, related = left * selectivity, True
        return left if related else None

    def _compared(self, first: int, others: list[int]) -> tuple[int, ...]:
        """The order that is expected to look at the fewest situations. How many combinations there are of some follows from which they are,
        so that the best order of each set is enough."""
        best: dict[int, tuple[float, float, tuple[int, ...]]] = {1 << first: (0.0, 1.0, ())}
        for _ in others:
            reached: dict[int, tuple[float, float, tuple[int, ...]]] = {}
            for chosen, (cost, count, order) in best.items():
                for definition, found in self._next(chosen, others):
                    combined = count * found
                    candidate = (cost + combined, combined, (*order, definition))
                    known = reached.get(chosen | 1 << definition)
                    if known is None or candidate[0] < known[0]:
                        reached[chosen | 1 << definition] = candidate
            best = reached
        ((_, _, order),) = best.values()
        return order

    def _next(self, chosen: int, others: list[int]) -> list[tuple[int, float]]:
        """Those that may come next: of all, if nothing relates any of them to what is chosen."""
        waiting = [definition for definition in others if not chosen >> definition & 1]
        related = [(definition, self._found(chosen, definition)) for definition in waiting]
        known = [(definition, found) for definition, found in related if found is not None]
        return known or [(definition, self.sizes[definition]) for definition in waiting]

    def _greedy(self, first: int, others: list[int]) -> tuple[int, ...]:
        order: list[int] = []
        chosen = 1 << first
        while len(order) < len(others):
            definition = min(self._next(chosen, others), key=lambda one: one[1])[0]
            order.append(definition)
            chosen |= 1 << definition
        return tuple(order)


def first_orders(count: int, constraints: Sequence[IntervalConstraint]) -> tuple[tuple[int, ...], ...]:
    cost = SearchCost(
        tuple((one.first, one.second) for one in constraints), [FIRST_SIZE] * count, [first_selectivity(one) for one in constraints]
    )
    return tuple(cost.order_from(first) for first in range(count))
