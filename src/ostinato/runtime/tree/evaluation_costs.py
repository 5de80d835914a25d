"""What each evaluation of a nested pattern is expected to look at per window: events, and matches that are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from ostinato.program.analysis.event_sequence import event_sequence
from ostinato.program.tree import Branch, Group, NegatedBranch, TreePattern
from ostinato.runtime.tree.event_rates import EventRates
from ostinato.runtime.tree.expected_events import LOOK, ExpectedEvents, before, between
from ostinato.runtime.tree.negation_needs import depends_on, wanted_by
from ostinato.runtime.tree.variable_order import CheapestOrder, NestedOrder, Unit, VariableOrder, completing

EVALUATIONS = ("joins", "iterative", "object cache", "semantic cache")
SEQUENCES = "compact"  # of sequences of events, where nothing is searched
FOLLOWED, LISTED = 1.5, 0.5  # of the cost of an event that is looked at: an event that is followed, a match that is listed so
BEHIND, BETWEEN = 0.5, 1 / 3  # of what a window has, what ends behind one of its events, and what lies between two of them


def evaluation_costs(pattern: TreePattern, measured: EventRates, most_kept: float = inf) -> dict[str, float]:
    """By evaluation, the first of which is taken where they are alike. One that is expected to keep more than `most_kept` matches is beyond
    all costs."""
    found = {}
    for name in EVALUATIONS:
        cost = _Cost(replace(pattern, evaluation=name), measured)
        total = cost.total()
        found[name] = total if cost.kept <= most_kept else inf
    if not isinstance(event_sequence(pattern), str):
        found[SEQUENCES] = _followed(pattern, measured)
    return found


def _followed(pattern: TreePattern, measured: EventRates) -> float:
    """Each event costs the same, however many there are; and so does a match that is listed."""
    expected = ExpectedEvents(pattern, measured)
    variables = {variable for branch in pattern.branches for variable in branch.variables}
    rates = {pattern.tree[variable].bit: expected.rate(variable) for variable in variables}
    ends = ((branch, last) for branch in pattern.branches for last in completing(branch.variables, branch))
    matches = sum(expected.combinations(branch, frozenset(branch.variables), last) for branch, last in ends)
    return FOLLOWED * sum(rates.values()) + (0.0 if pattern.output == "count" else LISTED * matches)


@dataclass
class _Bound:
    """What a search has bound on its way, which negations it has still to look for, and which variable completes what it finds."""

    variables: frozenset[int]
    waiting: list[NegatedBranch]
    last: int | None


class _Cost:
    def __init__(self, pattern: TreePattern, measured: EventRates) -> None:
        self._pattern = pattern
        self._expected = ExpectedEvents(pattern, measured)
        joins = pattern.evaluation == "joins" and pattern.reorders
        self._order: VariableOrder = CheapestOrder(self._expected) if joins else NestedOrder(pattern)
        self._keeps = pattern.evaluation in ("object cache", "semantic cache")
        self.kept = 0.0  # matches of nested expressions

    def total(self) -> float:
        return sum(self._plan(branch, last) for branch in self._pattern.branches for last in completing(branch.variables, branch))

    def _plan(self, branch: Branch, last: int) -> float:
        units = self._order.units(branch, branch.variables, branch.groups, last)
        waiting = [negation for negation in branch.negations if not negation.trails]
        return self._units(branch, units, _Bound(frozenset(), waiting, last))

    def _units(self, branch: Branch, units: tuple[Unit, ...], bound: _Bound) -> float:
        found = 0.0
        for unit in units:
            if isinstance(unit, Group) and self._keeps:
                found += self._kept(branch, unit, bound)
                bound.variables |= frozenset(unit.variables)
                found += self._negations(branch, bound)
                continue
            for variable in (unit,) if isinstance(unit, int) else unit.variables:
                found += self._expected.looked_at(branch, variable, bound.variables, bound.last)
                bound.variables |= {variable}
                found += self._negations(branch, bound)
        return found

    # Nested expressions whose matches are kept

    def _kept(self, branch: Branch, group: Group, bound: _Bound) -> float:
        """They are looked for once, or once for each event with which an interval begins; and each time that one is asked for, walked over:
        all that end behind its beginning, or those in it."""
        lasts, inside = completing(group.variables, branch), frozenset(group.variables)
        own = sum(self._group_plan(branch, group, last) for last in lasts)
        share = self._equal_outside(branch, inside, bound.variables)
        asked = self._expected.combinations(branch, bound.variables, bound.last) if bound.variables else 1.0
        if self._pattern.evaluation == "object cache":
            kept = sum(self._expected.combinations(branch, inside, last) for last in lasts)
            self.kept += kept
            others = bound.variables - {bound.last}
            behind = 1.0 - len(before(branch, inside, others)) / (1.0 + len(others))
            return own + asked * (LOOK + kept * share * behind)
        kept, beginnings = self._expected.combinations(branch, inside, None), self._beginnings(branch, group, bound)
        self.kept += kept * beginnings
        return own * beginnings + asked * (LOOK + kept * share * between(branch, bound.variables, inside, bound.last))

    def _group_plan(self, branch: Branch, group: Group, last: int) -> float:
        units = self._order.units(branch, group.variables, group.groups, last)
        return self._units(branch, units, _Bound(frozenset(), [], last))

    def _equal_outside(self, branch: Branch, inside: frozenset[int], around: frozenset[int] | None = None) -> float:
        """The share of combinations of the variables inside that an equality with one outside, among those `around` it, leaves."""
        found = 1.0
        for number in branch.tests:
            test = self._pattern.tests[number]
            outside = frozenset(test.variables) - inside
            if test.equal is not None and len(outside) == 1 and (around is None or outside <= around):
                found = min(found, self._expected.satisfied(number))
        return found

    def _beginnings(self, branch: Branch, group: Group, bound: _Bound) -> float:
        """How many intervals begin at different times: each is looked through by itself, a third of the window on average, for the events
        of a match lie all behind its beginning. Where nothing stands before the expression, an interval goes on from the one before it."""
        before = {a for a, b in branch.follows if b in group.variables and a in bound.variables}
        return max(1.0, max((self._expected.rate(variable) for variable in before), default=0.0) / (1 + len(group.variables)))

    # What must not be there

    def _negations(self, branch: Branch, bound: _Bound) -> float:
        due = [negation for negation in bound.waiting if wanted_by(negation, self._pattern) <= bound.variables]
        bound.waiting = [negation for negation in bound.waiting if negation not in due]
        others = tuple(negation for negation in branch.negations if negation not in due)
        looks = self._expected.combinations(replace(branch, negations=others), bound.variables, bound.last)
        return sum(self._absent(negation, looks) for negation in due)

    def _absent(self, negation: NegatedBranch, looks: float) -> float:
        """A search ends with the first that it finds. Of those that are kept, all are looked for once, and walked over from the latest on
        up to the interval that is asked for; flags are one search for each interval and the values it depends on, however often it is
        asked for."""
        inner = negation.branch
        units = self._order.units(inner, inner.variables, inner.groups, None)
        whole = self._units(inner, units, _Bound(frozenset(), list(inner.negations), None))
        occurrences = self._expected.combinations(inner, frozenset(inner.variables), None)
        first = LOOK + BETWEEN * whole * self._equal_outside(inner, frozenset(inner.variables)) / (1.0 + BETWEEN * occurrences)
        if not self._keeps or len(inner.variables) < 2:
            return looks * first
        if self._pattern.evaluation == "object cache":
            self.kept += occurrences
            return whole + looks * (LOOK + BEHIND * occurrences)
        return min(looks, self._intervals(negation)) * first + looks * LOOK

    def _intervals(self, negation: NegatedBranch) -> float:
        """How many different ones are asked for. Of those in one that is empty, or around one that is not, nothing is asked any more."""
        limits = (negation.left, negation.right)
        found = max(1.0, *(min((self._expected.rate(variable) for variable in limit.variables), default=1.0) for limit in limits))
        for variable in {variable for variable, _ in depends_on(negation, self._pattern)}:
            found *= max(1.0, self._expected.rate(variable))
        return found * 2
