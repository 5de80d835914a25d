"""How a nested pattern is searched: for every event that can complete a match, in which order the others are looked for, and how."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ostinato.kernels.tree import tree_layout as layout
from ostinato.program.tree import TreePattern
from ostinato.program.tree_text import tree_lines
from ostinato.runtime.tree.order_choice import OrderChoice
from ostinato.runtime.tree.step_arrays import StepArrays

LINES = {
    layout.TRIGGER: "{name} completes the match",
    layout.BIND: "{name}, latest first{how}",
    layout.REPEAT: "{name}, one or more{how}",
    layout.ABSENT: "none of:",
    layout.FOUND: "found: no match",
    layout.MATCH: "a match",
    layout.CACHED: "({members}), from its matches that are kept{how}",
    layout.STORE: "kept",
}


def nested_plan(pattern: TreePattern) -> Iterator[str]:
    yield from tree_lines(pattern)
    arrays = OrderChoice(pattern).arrays
    if pattern.evaluation == "joins":
        yield "order of the search, until rates of events are known:"
    else:
        yield "order of the search: outer events first, then nested expressions"
    names = [*pattern.variables, *(f"!{number}" for number in range(len(pattern.variables), len(pattern.tree)))]
    for number, (first, _) in enumerate(arrays.plans.tolist()):
        yield f"  plan {number}, branch {arrays.plan_branches[number]}:"
        yield from _steps(arrays, first, names, "    ")
    if pattern.trails:
        yield "matches wait until the watermark has passed their window, for what must not come behind them"


def _steps(arrays: StepArrays, first: int, names: list[str], indent: str) -> Iterator[str]:
    at = first
    while True:
        step = arrays.steps[at]
        kind = int(step[layout.KIND])
        members = arrays.terms[step[layout.MEMBERS] : step[layout.MEMBERS_END]]
        inside = ", ".join(names[member] for member in members)
        yield indent + LINES[kind].format(name=names[step[layout.VARIABLE]], how=_how(step, names), members=inside)
        if kind == layout.ABSENT:
            yield from _steps(arrays, int(step[layout.INNER]), names, indent + "  ")
        for plan in range(step[layout.PLANS], step[layout.PLANS_END]) if kind == layout.CACHED else ():
            yield from _steps(arrays, int(arrays.group_plans[plan, layout.FIRST_STEP]), names, indent + "  ")
        if kind in (layout.MATCH, layout.FOUND, layout.STORE):
            return
        at = int(step[layout.NEXT])


def _how(step: np.ndarray, names: list[str]) -> str:
    chain = step[layout.CHAIN]
    return "" if chain < 0 else f", by a value that equals one of {names[step[layout.CHAIN_VARIABLE]]}"
