"""A nested pattern as lists of steps: which variable is bound when, how its events are found, and when what must not be there is looked
for. The lists are data for `kernels.tree`; see `kernels.tree.tree_layout`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ostinato.kernels.tree import tree_layout as layout
from ostinato.program.analysis.disjoint_bits import DisjointBits
from ostinato.program.tree import Branch, Limit, NegatedBranch, TreePattern
from ostinato.runtime.tree.variable_order import VariableOrder


@dataclass(frozen=True)
class StepArrays:
    """What the kernels read. `plans` begin with an event that completes a match; `confirmations` are, per branch, the first step that looks
    again at a match which waited (-1: none of its negations look behind it)."""

    steps: np.ndarray
    terms: np.ndarray
    tests: np.ndarray
    plans: np.ndarray
    plan_branches: tuple[int, ...]
    confirmations: tuple[int, ...]
    link_bits: np.ndarray
    chains: np.ndarray
    contexts: int
    mask: int
    orders: tuple[tuple[int, ...], ...]  # of the plans, the variables as they are bound


@dataclass
class _Placed:
    """What is bound already on the way to a step."""

    variables: tuple[int, ...]
    tests: set[int] = field(default_factory=set)


class StepWriter:
    """Writes the steps of a pattern; used once. `order` decides about the order of variables."""

    def __init__(self, pattern: TreePattern, order: VariableOrder) -> None:
        self._pattern = pattern
        self._order = order
        self._steps: list[list[int]] = []
        self._terms: list[int] = []
        self._tests: list[tuple[int, int]] = []
        self._chains: list[tuple[int, int]] = []
        self._link_bits = sorted({variable.bit for variable in pattern.tree if variable.bit >= 0})
        self._contexts = 1
        self._apart = DisjointBits(pattern)

    def write(self) -> StepArrays:
        plans, owners, orders = [], [], []
        for number, branch in enumerate(self._pattern.branches):
            for last in _may_be_last(branch):
                plans.append((len(self._steps), self._pattern.tree[last].bit))
                owners.append(number)
                orders.append(self._plan(branch, last))
        confirmations = tuple(self._confirmation(branch) for branch in self._pattern.branches)
        bits = [bit for _, bit in plans]
        return StepArrays(
            _table(self._steps, layout.STEP_WIDTH), np.array(self._terms or [0], np.int64), _table(self._tests, 2), _table(plans, 2),
            tuple(owners), confirmations, np.array(self._link_bits, np.int64), _table(self._chains, 2), self._contexts,
            -1 if -1 in bits else sum(1 << bit for bit in set(bits)), tuple(orders),
        )  # fmt: skip

    def _plan(self, branch: Branch, last: int) -> tuple[int, ...]:
        tree = self._pattern.tree
        order = self._order.of(branch, last)
        placed = _Placed(())
        waiting = [negation for negation in branch.negations if not negation.trails]
        if not tree[last].repeats:
            self._bound(layout.TRIGGER, last, branch, placed, 0)
            waiting = self._negations_due(waiting, branch, placed)
        for variable in order:
            if variable == last and not tree[last].repeats:
                continue
            step = self._bound(layout.REPEAT if tree[variable].repeats else layout.BIND, variable, branch, placed, 0)
            step[layout.ENDS_MATCH] = int(variable == last)
            waiting = self._negations_due(waiting, branch, placed)
        assert not waiting
        self._step(layout.MATCH, 0)
        return order

    def _confirmation(self, branch: Branch) -> int:
        late = [negation for negation in branch.negations if negation.trails]
        if not late:
            return -1
        first = len(self._steps)
        placed = _Placed(())
        for variable in branch.variables:
            self._bound(layout.GIVEN, variable, branch, placed, 0)
        placed.tests = set(branch.tests)
        assert not self._negations_due(late, branch, placed)
        self._step(layout.MATCH, 0)
        return first

    def _negations_due(self, waiting: list[NegatedBranch], around: Branch, placed: _Placed) -> list[NegatedBranch]:
        """Those whose interval is known, and in which no event counts that is bound later, are looked for now; returns the others."""
        later = [variable for variable in around.variables if variable not in placed.variables]
        left = []
        for negation in waiting:
            if _wanted_by(negation, self._pattern) <= {*placed.variables} and not self._may_share(negation, later):
                self._absent(negation, placed)
            else:
                left.append(negation)
        return left

    def _may_share(self, negation: NegatedBranch, later: list[int]) -> bool:
        tree = self._pattern.tree
        inside = {tree[variable].bit for branch in negation.branch.walk() for variable in branch.variables}
        return any(not self._apart(tree[variable].bit, bit) for variable in later for bit in inside)

    def _absent(self, negation: NegatedBranch, placed: _Placed) -> None:
        step = self._step(layout.ABSENT, 0)
        for limit, begin, end, kind in (
            (negation.left, layout.LEFT, layout.LEFT_END, layout.LEFT_KIND),
            (negation.right, layout.RIGHT, layout.RIGHT_END, layout.RIGHT_KIND),
        ):
            step[begin], step[end] = self._range(limit.variables)
            step[kind] = _limit_kind(limit)
        context = self._contexts
        self._contexts += 1
        inner = _Placed(placed.variables, set(placed.tests))
        step[layout.INNER] = len(self._steps)
        waiting = list(negation.branch.negations)
        for variable in self._order.of(negation.branch, None):
            kind = layout.REPEAT if self._pattern.tree[variable].repeats else layout.BIND
            self._bound(kind, variable, negation.branch, inner, context)
            waiting = self._negations_due(waiting, negation.branch, inner)
        assert not waiting
        self._step(layout.FOUND, context)
        step[layout.NEXT] = len(self._steps)

    def _bound(self, kind: int, variable: int, branch: Branch, placed: _Placed, context: int) -> list[int]:
        tree, pattern = self._pattern.tree, self._pattern
        known = {*placed.variables}
        step = self._step(kind, context)
        step[layout.VARIABLE] = variable
        step[layout.LINK] = -1 if tree[variable].bit < 0 else self._link_bits.index(tree[variable].bit)
        step[layout.FIRST], step[layout.FIRST_END] = self._code(tree[variable].first_block)
        step[layout.LATER], step[layout.LATER_END] = self._code(tree[variable].later_block)
        step[layout.AFTER], step[layout.AFTER_END] = self._range(a for a, b in branch.follows if b == variable and a in known)
        step[layout.BEFORE], step[layout.BEFORE_END] = self._range(b for a, b in branch.follows if a == variable and b in known)
        step[layout.SHARES] = int(any(not self._apart(tree[variable].bit, tree[other].bit) for other in known))
        placed.variables = (*placed.variables, variable)
        due = [test for test in branch.tests if test not in placed.tests and {*pattern.tests[test].variables} <= {*placed.variables}]
        placed.tests |= {*due}
        chained = self._chain(step, variable, known, due) if kind == layout.BIND else None
        step[layout.TESTS] = len(self._tests)
        self._tests += [pattern.scalar.blocks[pattern.tests[test].block] for test in due if test != chained]
        step[layout.TESTS_END] = len(self._tests)
        return step

    def _chain(self, step: list[int], variable: int, known: set[int], due: list[int]) -> int | None:
        """An equality by which the events of a variable are found; returns the test that needs no evaluation then."""
        for test in due:
            equal = self._pattern.tests[test].equal
            if equal is None:
                continue
            for (own, slot), (other, other_slot) in (equal, equal[::-1]):
                if own == variable and other in known:
                    chain = self._pattern.tree[variable].bit, slot
                    if chain not in self._chains:
                        self._chains.append(chain)
                    step[layout.CHAIN] = self._chains.index(chain)
                    step[layout.CHAIN_VARIABLE], step[layout.CHAIN_SLOT] = other, other_slot
                    return test
        return None

    def _step(self, kind: int, context: int) -> list[int]:
        step = [0] * layout.STEP_WIDTH
        step[layout.KIND], step[layout.CONTEXT] = kind, context
        step[layout.LINK] = step[layout.CHAIN] = -1
        self._steps.append(step)
        step[layout.NEXT] = len(self._steps)
        return step

    def _range(self, variables: Iterable[int]) -> tuple[int, int]:
        begin = len(self._terms)
        self._terms += list(variables)
        return begin, len(self._terms)

    def _code(self, block: int) -> tuple[int, int]:
        return self._pattern.scalar.blocks[block] if block >= 0 else (0, 0)


def _limit_kind(limit: Limit) -> int:
    if limit.is_window:
        return layout.WINDOW
    return layout.INCLUDING if limit.includes else layout.BEYOND


def _may_be_last(branch: Branch) -> list[int]:
    """The variables behind which no other has to come."""
    earlier = {a for a, _ in branch.follows}
    return [variable for variable in branch.variables if variable not in earlier]


def _wanted_by(negation: NegatedBranch, pattern: TreePattern) -> set[int]:
    """The variables around a negation that have to be bound before it is looked for."""
    own = {variable for branch in negation.branch.walk() for variable in branch.variables}
    wanted = {*negation.left.variables, *negation.right.variables}
    for branch in negation.branch.walk():
        wanted |= {variable for test in branch.tests for variable in pattern.tests[test].variables}
        wanted |= {variable for inner in branch.negations for variable in (*inner.left.variables, *inner.right.variables)}
    return wanted - own


def _table(rows: list[Any], width: int) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, width)
