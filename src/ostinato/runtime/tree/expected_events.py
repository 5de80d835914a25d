"""How many events a search is expected to look at, from the rates of events and how many pairs satisfy what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ostinato.program.tree import Branch, NegatedBranch, TreePattern
from ostinato.runtime.tree.negation_needs import begins_only, wanted_by

EQUAL, COMPARED = 0.02, 0.5  # of pairs of events, how many satisfy an equality, another test
COUNTED = 0.5  # of the cost of an event: a search in time
LOOK = 0.1  # the same: to begin a search


class ExpectedEvents:
    """`rates` are, per variable, how many events a window has; `satisfied`, per test, the share of combinations that satisfy it, where that
    was measured. All numbers are per window. `last`, where it is told, completes what is searched: all others are looked for in the window
    before it."""

    def __init__(self, pattern: TreePattern, rates: Mapping[int, float], satisfied: Mapping[int, float] | None = None) -> None:
        self.pattern = pattern
        self._rates = rates
        self._satisfied = satisfied or {}

    def rate(self, variable: int) -> float:
        return self._rates.get(variable, 1.0)

    def satisfied(self, test: int) -> float:
        """The share of combinations that satisfy a test."""
        return self._satisfied.get(test, COMPARED if self.pattern.tests[test].equal is None else EQUAL)

    def looked_at(self, branch: Branch, variable: int, before: frozenset[int], last: int | None) -> float:
        """How many events are looked at to bind a variable, if those `before` are bound."""
        combinations = self.combinations(branch, before, last)
        if self._is_counted(branch, variable, before):
            return combinations * COUNTED
        between = in_order(branch, before | {variable}, last) / in_order(branch, before, last)
        seen = self.rate(variable) * between * self._until_found(branch, variable, before)
        return combinations * (LOOK + seen * self._joined(branch, variable, before))

    def _joined(self, branch: Branch, variable: int, before: frozenset[int]) -> float:
        """The share of its events that is found by an equal value."""
        tests = self.pattern.tests
        due = [test for test in branch.tests if tests[test].equal is not None and variable in tests[test].variables]
        return min((self.satisfied(test) for test in due if {*tests[test].variables} <= before | {variable}), default=1.0)

    def _until_found(self, branch: Branch, variable: int, before: frozenset[int]) -> float:
        """The share of a variable's events, latest first, behind which something that must not be there is not known yet."""
        share = 1.0
        for negation in branch.negations:
            wanted = wanted_by(negation, self.pattern)
            decides = variable in wanted and wanted <= before | {variable}
            cuts = self.pattern.cuts and self.pattern.evaluation == "joins"
            if cuts and decides and begins_only(negation, variable, self.pattern):
                share /= 1.0 + self.occurrences(negation)
        return share

    def occurrences(self, negation: NegatedBranch) -> float:
        """How often a window has something that must not be there, for the values around it."""
        found = []
        for variable in negation.branch.variables:
            tests = [test for test in negation.branch.tests if variable in self.pattern.tests[test].variables]
            equal = [self.satisfied(test) for test in tests if self.pattern.tests[test].equal is not None]
            found.append(self.rate(variable) * min(equal, default=1.0))
        return min(found)

    def _is_counted(self, branch: Branch, variable: int, before: frozenset[int]) -> bool:
        """Whether its events are counted and not looked at: it is the last, and nothing is asked of it but its place in time."""
        asked = branch.negations or any(variable in self.pattern.tests[test].variables for test in branch.tests)
        return self.pattern.counts_events and not asked and {*branch.variables} <= before | {variable}

    def combinations(self, branch: Branch, bound: frozenset[int], last: int | None) -> float:
        """How many combinations of events these have."""
        found = in_order(branch, bound, last)
        for variable in bound:
            found *= max(self.rate(variable), 0.01)
        for test in branch.tests:
            if {*self.pattern.tests[test].variables} <= bound:
                found *= self.satisfied(test)
        for negation in branch.negations:
            if wanted_by(negation, self.pattern) <= bound:
                found /= 1.0 + self.occurrences(negation)
        return found


def in_order(branch: Branch, bound: frozenset[int], last: int | None) -> float:
    """The share of combinations of these variables' events that stand in the order that is asked for: where it is one after the other, one
    in as many as there are orders; else each has to be the last of itself and those before it."""
    found = 1.0
    for variable in bound - {last}:
        found /= 1 + len(_earlier(branch)[variable] & bound)
    return found


@cache
def _earlier(branch: Branch) -> dict[int, frozenset[int]]:
    """Which variables have to come before each, directly or not."""
    found: dict[int, frozenset[int]] = {}

    def of(variable: int) -> frozenset[int]:
        if variable not in found:
            direct = {a for a, b in branch.follows if b == variable}
            found[variable] = frozenset(direct).union(*map(of, direct))
        return found[variable]

    for variable in branch.variables:
        of(variable)
    return found
