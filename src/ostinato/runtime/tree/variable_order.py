"""In which order the variables of a branch are bound: by what it costs, or as the text nests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from ostinato.program.tree import Branch, Group, NegatedBranch, TreePattern, TreeVariable
from ostinato.runtime.tree.negation_needs import begins_only, wanted_by

EQUAL, COMPARED, IN_ORDER = 0.02, 0.5, 0.5  # of pairs of events, how many satisfy an equality, another test, an order in time
COUNTED = 0.5  # of the cost of an event: a search in time
MOST_COMPARED = 10  # variables, of which all orders are compared; of more, the cheapest next one is taken


Unit = int | Group


def flattened(units: tuple[Unit, ...]) -> tuple[int, ...]:
    return tuple(variable for unit in units for variable in ((unit,) if isinstance(unit, int) else unit.variables))


class VariableOrder(Protocol):
    def units(self, branch: Branch, variables: tuple[int, ...], groups: tuple[Group, ...], last: int | None) -> tuple[Unit, ...]:
        """These variables of the branch, as they are bound; nested expressions may stay together. `last` completes the match, and is bound
        before the others unless it repeats; those that repeat come at the end."""
        ...


def _with_last(tree: tuple[TreeVariable, ...], single: tuple[Unit, ...], repeated: tuple[Unit, ...], last: int | None) -> tuple[Unit, ...]:
    if last is None:
        return (*single, *repeated)
    return (*single, *repeated, last) if tree[last].repeats else (last, *single, *repeated)


class CheapestOrder:
    """Left-deep joins as ZStream and OpenCEP choose them: of all orders the one that is expected to look at the fewest events. `rates` are,
    per variable, how many events a window has."""

    def __init__(self, pattern: TreePattern, rates: Mapping[int, float]) -> None:
        self._pattern = pattern
        self._rates = rates

    def units(self, branch: Branch, variables: tuple[int, ...], groups: tuple[Group, ...], last: int | None) -> tuple[Unit, ...]:
        tree = self._pattern.tree
        single = tuple(v for v in variables if not tree[v].repeats and v != last)
        repeated = tuple(v for v in variables if tree[v].repeats and v != last)
        begun = frozenset() if last is None or tree[last].repeats else frozenset((last,))
        ordered = self._compared(branch, single, begun) if len(single) <= MOST_COMPARED else self._greedy(branch, single, begun)
        return _with_last(tree, ordered, repeated, last)

    def _compared(self, branch: Branch, single: tuple[int, ...], begun: frozenset[int]) -> tuple[int, ...]:
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
                    found.append((cost + self._looked_at(branch, variable, before), (*order, variable)))
            return min(found, key=lambda one: one[0])

        return best(frozenset(single))[1]

    def _greedy(self, branch: Branch, single: tuple[int, ...], begun: frozenset[int]) -> tuple[int, ...]:
        order: tuple[int, ...] = ()
        while len(order) < len(single):
            left = [variable for variable in single if variable not in order]
            order = (*order, min(left, key=lambda variable: self._looked_at(branch, variable, begun | {*order})))
        return order

    def _looked_at(self, branch: Branch, variable: int, before: frozenset[int]) -> float:
        """How many events are looked at to bind a variable, if those `before` are bound."""
        seen = self._rates.get(variable, 1.0) * self._in_order(branch, variable, before)
        tests = [self._pattern.tests[test] for test in branch.tests]
        if self._is_counted(branch, variable, before):
            return self._combinations(branch, before) * COUNTED
        joined = any(test.equal is not None and variable in test.variables and {*test.variables} <= before | {variable} for test in tests)
        seen *= self._until_found(branch, variable, before)
        return self._combinations(branch, before) * (0.1 + seen * (EQUAL if joined else 1.0))

    def _until_found(self, branch: Branch, variable: int, before: frozenset[int]) -> float:
        """The share of a variable's events, latest first, behind which something that must not be there is not known yet."""
        share = 1.0
        for negation in branch.negations:
            wanted = wanted_by(negation, self._pattern)
            decides = variable in wanted and wanted <= before | {variable}
            if self._pattern.cuts and decides and begins_only(negation, variable, self._pattern):
                share /= 1.0 + self._occurrences(negation)
        return share

    def _occurrences(self, negation: NegatedBranch) -> float:
        """How often a window has something that must not be there, for the values around it."""
        tests = [self._pattern.tests[test] for test in negation.branch.tests]
        joined = {variable for test in tests if test.equal is not None for variable in test.variables}
        return min(self._rates.get(one, 1.0) * (EQUAL if one in joined else 1.0) for one in negation.branch.variables)

    def _is_counted(self, branch: Branch, variable: int, before: frozenset[int]) -> bool:
        """Whether its events are counted and not looked at: it is the last, and nothing is asked of it but its place in time."""
        asked = branch.negations or any(variable in self._pattern.tests[test].variables for test in branch.tests)
        return self._pattern.counts_events and not asked and {*branch.variables} <= before | {variable}

    @staticmethod
    def _in_order(branch: Branch, variable: int, before: frozenset[int]) -> float:
        sides = {(a in before, b in before) for a, b in branch.follows if variable in (a, b) and (a in before or b in before)}
        return IN_ORDER ** len(sides)

    def _combinations(self, branch: Branch, bound: frozenset[int]) -> float:
        """How many combinations of events these have."""
        found = 1.0
        for variable in bound:
            found *= max(self._rates.get(variable, 1.0), 0.01)
        for a, b in branch.follows:
            found *= IN_ORDER if a in bound and b in bound else 1.0
        for number in branch.tests:
            test = self._pattern.tests[number]
            if {*test.variables} <= bound:
                found *= EQUAL if test.equal is not None else COMPARED
        for negation in branch.negations:
            if wanted_by(negation, self._pattern) <= bound:
                found /= 1.0 + self._occurrences(negation)
        return found


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
        return _with_last(tree, (*single, *whole, *(unit for unit in parts if unit not in later)), (*repeated, *later), last)

    def _opened(self, variables: tuple[int, ...], groups: tuple[Group, ...], last: int | None) -> tuple[tuple[int, ...], tuple[Group, ...]]:
        inside = {variable for group in groups for variable in group.variables}
        outer = tuple(variable for variable in reversed(variables) if variable not in inside)
        closed = tuple(group for group in reversed(groups) if last not in group.variables)
        for group in groups:
            if last in group.variables:
                more, further = self._opened(group.variables, group.groups, last)
                outer, closed = (*more, *outer), (*further, *closed)
        return outer, closed
