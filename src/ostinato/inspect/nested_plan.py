"""How a nested pattern is searched: for every event that can complete a match, in which order the others are looked for, and how; and what
each evaluation is expected to look at.

from ostinato.inspect.nested_plan import chosen_evaluations
print(chosen_evaluations(session))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ostinato.algebra.query import MatchQuery
from ostinato.inspect.nested_tree import nested_tree
from ostinato.kernels.tree import tree_layout as layout
from ostinato.program.analysis.event_sequence import event_sequence
from ostinato.program.tree import TreePattern
from ostinato.runtime.session.session import Session
from ostinato.runtime.tree.evaluation_choice import EvaluationChoice
from ostinato.runtime.tree.evaluation_costs import SEQUENCES, evaluation_costs
from ostinato.runtime.tree.event_rates import EventRates
from ostinato.runtime.tree.step_arrays import StepArrays
from ostinato.runtime.tree.tree_matcher import TreeMatcher

SUPPOSED = 10.0  # events of each variable per window, where no rates are known
LINES = {
    layout.TRIGGER: "{name} completes the match",
    layout.BIND: "{name}, latest first{how}",
    layout.REPEAT: "{name}, one or more{how}",
    layout.ABSENT: "none of these{where}:",
    layout.FOUND: "found: no match",
    layout.MATCH: "a match",
    layout.CACHED: "({members}), from its matches that are kept{how}",
    layout.STORE: "kept",
}


def nested_plan(query: MatchQuery, pattern: TreePattern) -> Iterator[str]:
    yield "tree:"
    yield from (f"  {line}" for line in nested_tree(query))
    if pattern.reads.keys and not query.partition:
        keys = ", ".join(pattern.reads.key_names)
        yield f"equality key: all events are equal in {keys}, those that must not be there too; each value is searched by itself"
    yield from _expected(pattern)
    if pattern.evaluation == SEQUENCES:
        yield "nothing is searched: each event goes to the partial matches that it can follow, which are kept together"
        return
    arrays = EvaluationChoice(pattern).arrays
    if pattern.evaluation == "joins":
        yield "order of the search, until rates of events are known:"
    else:
        yield "order of the search: outer events first, then nested expressions"
    steps = _Steps(pattern, arrays)
    for number, (first, _) in enumerate(arrays.plans.tolist()):
        branch = f", alternative {arrays.plan_branches[number] + 1}" if len(pattern.branches) > 1 else ""
        yield f"  plan {number + 1}{branch}:"
        yield from steps.lines(first, "    ")
    if pattern.trails:
        yield "matches wait until the watermark has passed their window, for what must not come behind them"


def _expected(pattern: TreePattern) -> Iterator[str]:
    if pattern.by_cost:
        yield f"evaluation: {pattern.evaluation} until rates of events are known, then the one that is expected to look at the fewest"
        against = event_sequence(pattern)
        if isinstance(against, str):
            yield f"not by {SEQUENCES}: {against}"
    supposed = EventRates(dict.fromkeys(range(len(pattern.tree)), SUPPOSED))
    yield f"expected with {SUPPOSED:.0f} events of each variable per window: {_costs(evaluation_costs(pattern, supposed))}"


def _costs(costs: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {cost:,.0f}" for name, cost in costs.items())


def chosen_evaluations(session: Session) -> str:
    """Which evaluation a session takes for each of its nested patterns, and what was expected of each when it was chosen."""
    lines = []
    for operator in session.graph.operators:
        matcher = getattr(operator, "matcher", None)
        if isinstance(matcher, TreeMatcher):
            chosen = matcher.chosen
            why = f"expected per window: {_costs(chosen.costs)}" if chosen.costs else "no rates are known, or it was asked for"
            lines.append(f"{chosen.evaluation} ({why})\n")
    return "".join(lines)


class _Steps:
    def __init__(self, pattern: TreePattern, arrays: StepArrays) -> None:
        self._names = pattern.names
        self._arrays = arrays

    def lines(self, first: int, indent: str) -> Iterator[str]:
        arrays, at = self._arrays, first
        while True:
            step = arrays.steps[at]
            kind = int(step[layout.KIND])
            members = self._listed(step[layout.MEMBERS], step[layout.MEMBERS_END])
            name = self._names[step[layout.VARIABLE]]
            yield indent + LINES[kind].format(name=name, how=self._how(step), members=members, where=self._where(step))
            if kind == layout.ABSENT:
                yield from self.lines(int(step[layout.INNER]), indent + "  ")
            for plan in range(step[layout.PLANS], step[layout.PLANS_END]) if kind == layout.CACHED else ():
                yield from self.lines(int(arrays.group_plans[plan, layout.FIRST_STEP]), indent + "  ")
            if kind in (layout.MATCH, layout.FOUND, layout.STORE):
                return
            at = int(step[layout.NEXT])

    def _listed(self, begin: int, end: int) -> str:
        return ", ".join(self._names[variable] for variable in self._arrays.terms[begin:end])

    def _where(self, step: np.ndarray) -> str:
        if step[layout.KIND] != layout.ABSENT:
            return ""
        left = self._limit(step[layout.LEFT_KIND], step[layout.LEFT], step[layout.LEFT_END], "from", "behind")
        right = self._limit(step[layout.RIGHT_KIND], step[layout.RIGHT], step[layout.RIGHT_END], "to", "before")
        cut = step[layout.CUTS]
        ends = f"; one that is found ends the search for {self._names[self._arrays.steps[cut, layout.VARIABLE]]}" if cut >= 0 else ""
        return f" {left} {right}{ends}"

    def _limit(self, kind: int, begin: int, end: int, at: str, beyond: str) -> str:
        if kind == layout.WINDOW:
            return f"{at} the end of the window"
        return f"{at if kind == layout.INCLUDING else beyond} {self._listed(begin, end)}"

    def _how(self, step: np.ndarray) -> str:
        chain = step[layout.CHAIN]
        return "" if chain < 0 else f", by a value that equals one of {self._names[step[layout.CHAIN_VARIABLE]]}"
