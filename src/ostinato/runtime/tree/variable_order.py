"""In which order the variables of a branch are bound: by what it costs, or as the text nests."""

from __future__ import annotations

from functools import cache
from typing import Protocol

from ostinato.program.tree import Branch, Group, TreePattern, TreeVariable
from ostinato.runtime.tree.expected_events import ExpectedEvents

MOST_COMPARED = 10  # variables, of which all orders are compared; of more, the cheapest next one is taken


Unit = int | Group


def flattened(units: tuple[Unit, ...]) -> tuple[int, ...]:
    return tuple(variable for unit in units for variable in ((unit,) if isinstance(unit, int) else unit.variables))


def completing(variables: tuple[int, ...], branch: Branch) -> list[int]:
    """Of these variables those behind which no other of them has to come."""
    earlier = {a for a, b in branch.follows if b in variables}
    return [variable for variable in variables if variable not in earlier]


class VariableOrder(Protocol):
    def units(self, branch: Branch, variables: tuple[int, ...], groups: tuple[Group, ...], last: int | None) -> tuple[Unit, ...]:
        """These variables of the branch, as they are bound; nested expressions may stay together. `last` completes the match, and is bound
        before the others unless it repeats; those that repeat come at the end, in the order of the text: their conditions speak of lists
        that stand before them."""
        ...


def _with_last(
    branch: Branch, tree: tuple[TreeVariable, ...], single: tuple[Unit, ...], lists: tuple[int, ...], last: int | None
) -> tuple[Unit, ...]:
    if last is not None:
        single, lists = (single, (*lists, last)) if tree[last].repeats else ((last, *single), lists)
    return (*single, *sorted(lists, key=branch.variables.index))


class CheapestOrder:
    """Left-deep joins as ZStream and OpenCEP choose them: of all orders the one that is expected to look at the fewest events."""

    def __init__(self, expected: ExpectedEvents) -> None:
        self._pattern = expected.pattern
        self._expected = expected

    def units(self, branch: Branch, variables: tuple[int, ...], groups: tuple[Group, ...], last: int | None) -> tuple[Unit, ...]:
        tree = self._pattern.tree
        single = tuple(v for v in variables if not tree[v].repeats and v != last)
        repeated = tuple(v for v in variables if tree[v].repeats and v != last)
        begun = frozenset() if last is None or tree[last].repeats else frozenset((last,))
        chosen = self._compared if len(single) <= MOST_COMPARED else self._greedy
        ordered = chosen(branch, single, begun, last)
        return _with_last(branch, tree, ordered, repeated, last)

    def _compared(self, branch: Branch, single: tuple[int, ...], begun: frozenset[int], last: int | None) -> tuple[int, ...]:
        @cache
        def best(chosen: frozenset[int]) -> tuple[float, tuple[int, ...]]:
            """The least cost to have bound these, and in which order."""
            if not chosen:
                return 0.0, ()
            found = []
            for variable in single:
                if variable in chosen:
                    cost, order = best(chosen - {variable})
                    before = begun | (chosen - {variable})
                    found.append((cost + self._expected.looked_at(branch, variable, before, last), (*order, variable)))
            return min(found, key=lambda one: one[0])

        return best(frozenset(single))[1]

    def _greedy(self, branch: Branch, single: tuple[int, ...], begun: frozenset[int], last: int | None) -> tuple[int, ...]:
        order: tuple[int, ...] = ()
        while len(order) < len(single):
            left = [variable for variable in single if variable not in order]
            order = (*order, min(left, key=lambda variable: self._expected.looked_at(branch, variable, begun | {*order}, last)))
        return order


class NestedOrder:
    """Outer events first, latest first; then nested expressions, as the paper evaluates them (section II.B). One in which the completing
    event stands is part of what is outside."""

    def __init__(self, pattern: TreePattern) -> None:
        self._pattern = pattern

    def units(self, branch: Branch, variables: tuple[int, ...], groups: tuple[Group, ...], last: int | None) -> tuple[Unit, ...]:
        tree = self._pattern.tree
        outer, closed = self._opened(variables, groups, last)
        single = tuple(variable for variable in outer if not tree[variable].repeats and variable != last)
        repeated = tuple(variable for variable in outer if tree[variable].repeats and variable != last)
        whole = tuple(group for group in closed if not any(tree[variable].repeats for variable in group.variables))
        inside = tuple(self.units(branch, group.variables, group.groups, None) for group in closed if group not in whole)
        parts = tuple(unit for units in inside for unit in units)
        later = tuple(unit for unit in parts if isinstance(unit, int) and tree[unit].repeats)
        return _with_last(branch, tree, (*single, *whole, *(unit for unit in parts if unit not in later)), (*repeated, *later), last)

    def _opened(self, variables: tuple[int, ...], groups: tuple[Group, ...], last: int | None) -> tuple[tuple[int, ...], tuple[Group, ...]]:
        inside = {variable for group in groups for variable in group.variables}
        outer = tuple(variable for variable in reversed(variables) if variable not in inside)
        closed = tuple(group for group in reversed(groups) if last not in group.variables)
        for group in groups:
            if last in group.variables:
                more, further = self._opened(group.variables, group.groups, last)
                outer, closed = (*more, *outer), (*further, *closed)
        return outer, closed
