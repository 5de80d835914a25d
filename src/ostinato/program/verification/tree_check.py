"""Verifies nested patterns: variables, tests and branches refer to each other as the search expects."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from ostinato.expr.types import Kind
from ostinato.program.analysis.event_sequence import event_sequence
from ostinato.program.tree import Branch, Group, Limit, NegatedBranch, TreePattern, TreeTest
from ostinato.program.verification.requirement import require, require_known
from ostinato.program.verification.scalar_check import is_block

POLICIES = {"evaluation": ("joins", "iterative", "object cache", "semantic cache", "compact"), "output": ("all", "count")}
MOST_VARIABLES = 250
HELD_ALIKE = (Kind.INT, Kind.STRING, Kind.TIMESTAMP, Kind.DATE)


def check_tree_pattern(pattern: TreePattern) -> None:
    require_known(pattern, POLICIES)
    require(pattern.reads.time >= 0, "a time column for a nested pattern")
    require(len(pattern.variables) <= len(pattern.tree) <= MOST_VARIABLES and len(pattern.branches) > 0, "a nested pattern with variables")
    require(len(pattern.names) == len(pattern.tree), "a name for every variable")
    require(not pattern.by_cost or pattern.evaluation == "joins", "an evaluation to begin with")
    require(all(0 <= bit < pattern.bits for bit in pattern.prefilter_bits), "known bits to filter by")
    known = range(len(pattern.variables))
    require(pattern.shown is None or all(number in known for number in pattern.shown), "known variables to show")
    require(not any(register.number for register in pattern.registers), "registers of events alone")
    require(pattern.look_back == pattern.look_ahead == 0, "conditions on events, not on their neighbours")
    for variable in pattern.tree:
        require(-1 <= variable.bit < pattern.bits, "variables with known bits")
        blocks = (variable.first_block, variable.later_block)
        require(all(is_block(pattern, block, binding=True) for block in blocks), "variables with known blocks")
    for test in pattern.tests:
        _test(test, pattern)
    for branch in pattern.branches:
        require(all(variable in known for variable in branch.variables), "branches with variables that are shown")
        _branch(branch, pattern, frozenset())
    require(pattern.evaluation != "compact" or not isinstance(event_sequence(pattern), str), "a sequence of events for compact")


def _test(test: TreeTest, pattern: TreePattern) -> None:
    require(test.block >= 0 and is_block(pattern, test.block, binding=False), "tests with known blocks")
    require(all(0 <= variable < len(pattern.tree) for variable in test.variables), "tests of known variables")
    if test.equal is not None:
        sides = test.equal
        require({variable for variable, _ in sides} == {*test.variables} and len({*test.variables}) == 2, "an equality of two variables")
        require(all(0 <= slot < len(pattern.slots) for _, slot in sides), "an equality of known values")
        kinds = {pattern.slots[slot].kind for _, slot in sides}
        require(len(kinds) == 1 and kinds <= {*HELD_ALIKE}, "an equality of values that are held alike")
        require(not any(pattern.tree[variable].repeats for variable in test.variables), "an equality of single events")


def _branch(branch: Branch, pattern: TreePattern, around: frozenset[int]) -> None:
    own = frozenset(branch.variables)
    bound = own | around
    require(0 < len(own) == len(branch.variables) and not own & around, "branches with variables of their own")
    require(all(0 <= variable < len(pattern.tree) for variable in own), "branches with known variables")
    require(all(a in own and b in own for a, b in branch.follows), "an order of the branch's own variables")
    _acyclic(branch)
    require(all(0 <= test < len(pattern.tests) for test in branch.tests), "branches with known tests")
    require(all({*pattern.tests[test].variables} <= bound for test in branch.tests), "tests of variables that are bound")
    for group in branch.groups:
        _group(group, own)
    for negation in branch.negations:
        _negation(negation, pattern, bound)


def _acyclic(branch: Branch) -> None:
    order: TopologicalSorter[int] = TopologicalSorter()
    for a, b in branch.follows:
        order.add(b, a)
    try:
        order.prepare()
    except CycleError:
        require(False, "an order without circles")


def _group(group: Group, around: frozenset[int]) -> None:
    own = frozenset(group.variables)
    require(len(own) == len(group.variables) > 1 and own <= around, "nested expressions of variables around them")
    for inner in group.groups:
        _group(inner, own)


def _negation(negation: NegatedBranch, pattern: TreePattern, bound: frozenset[int]) -> None:
    for limit in (negation.left, negation.right):
        _limit(limit, pattern, bound)
    require({*negation.asked} <= bound, "conditions that speak of variables that are bound")
    _branch(negation.branch, pattern, bound)


def _limit(limit: Limit, pattern: TreePattern, bound: frozenset[int]) -> None:
    require({*limit.variables} <= bound, "intervals between variables that are bound")
    require(not limit.is_window or (pattern.timed_window >= 0 and not limit.includes), "a window in time for what is absent at its end")
