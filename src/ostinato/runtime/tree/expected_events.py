"""How many events a search is expected to look at, from the rates of events and how many pairs satisfy what is asked of them."""

from __future__ import annotations

from functools import cache

import numpy as np

from ostinato.program.tree import Branch, NegatedBranch, TreePattern
from ostinato.runtime.tree.event_rates import EventRates
from ostinato.runtime.tree.negation_needs import begins_only, wanted_by

EQUAL, COMPARED = 0.02, 0.5  # of pairs of events, how many satisfy an equality, another test
COUNTED = 0.5  # of the cost of an event: a search in time
LOOK = 0.1  # the same: to begin a search
ENOUGH = 24  # of the combinations that were tried: so many say something about those among them that satisfy something else, too


class ExpectedEvents:
    """All numbers are per window. `last`, where it is told, completes what is searched: all others are looked for in the window before
    it."""

    def __init__(self, pattern: TreePattern, measured: EventRates) -> None:
        self.pattern = pattern
        self._rates = measured.rates
        self._satisfied = measured.satisfied
        self._tried = measured.tried
        self._together: dict[frozenset[int], float] = {}

    def rate(self, variable: int) -> float:
        return self._rates.get(variable, 1.0)

    def satisfied(self, test: int) -> float:
        """The share of combinations that satisfy a test."""
        return self._satisfied.get(test, COMPARED if self.pattern.tests[test].equal is None else EQUAL)

    def together(self, tests: frozenset[int]) -> float:
        """The share of combinations that satisfy all of these tests, which may have to do with each other: of those that satisfy the first,
        how many the second, as long as enough of them were tried to say so."""
        if tests not in self._together:
            known = next((tried for tried in self._tried if tests & tried.keys()), {})
            found, left = 1.0, None
            for test in sorted(tests, key=lambda test: (-self.satisfied(test), test)):
                tried = known.get(test)
                if tried is None or self.satisfied(test) * np.count_nonzero(tried.counts) < ENOUGH:
                    found *= self.satisfied(test)
                    continue
                counts = tried.counts if left is None else left & tried.counts
                among = np.count_nonzero(counts)
                if among < ENOUGH:
                    found *= self.satisfied(test)
                    continue
                left = counts & tried.satisfied
                found *= max(float(np.count_nonzero(left)), 0.5) / float(among)
            self._together[tests] = found
        return self._together[tests]

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
        found *= self.together(frozenset(test for test in branch.tests if {*self.pattern.tests[test].variables} <= bound))
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


def between(branch: Branch, bound: frozenset[int], inside: frozenset[int], last: int | None) -> float:
    """Of the combinations that a window has of the variables `inside`, those that lie where the ones that are `bound` leave room."""
    return in_order(branch, bound | inside, last) / (in_order(branch, bound, last) * in_order(branch, inside, None))


def before(branch: Branch, variables: frozenset[int], others: frozenset[int]) -> frozenset[int]:
    """Which of the others come before these variables."""
    return others.intersection(*(_earlier(branch)[variable] for variable in variables)) if variables else frozenset()


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
