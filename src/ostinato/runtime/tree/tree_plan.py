"""A nested pattern as lists of steps: which variable is bound when, how its events are found, and when what must not be there is looked
for. The lists are data for `kernels.tree`; see `kernels.tree.tree_layout`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ostinato.kernels.tree import tree_layout as layout
from ostinato.program.analysis.disjoint_bits import DisjointBits
from ostinato.program.opcodes import Op
from ostinato.program.scalar_code import ScalarCode
from ostinato.program.tree import Branch, Group, Limit, NegatedBranch, TreePattern
from ostinato.runtime.tree.negation_needs import begins_only, depends_on, wanted_by
from ostinato.runtime.tree.step_arrays import KeptOf, StepArrays
from ostinato.runtime.tree.step_list import Step, StepList, table
from ostinato.runtime.tree.variable_order import Unit, VariableOrder, completing, flattened

OBJECTS, INTERVALS = "object cache", "semantic cache"


@dataclass
class _Placed:
    """What is bound on the way to a step, and which tests are known to hold. `keeps`: whether matches of nested expressions are kept."""

    variables: tuple[int, ...]
    tests: set[int] = field(default_factory=set)
    keeps: bool = True
    steps: dict[int, int] = field(default_factory=dict)  # where single events are bound in this list of steps, by their variables


class StepWriter:
    """Writes the steps of a pattern; used once. `order` decides about the order of variables."""

    def __init__(self, pattern: TreePattern, order: VariableOrder) -> None:
        self._pattern = pattern
        self._tree = pattern.tree
        self._order = order
        self._keeps = pattern.evaluation in (OBJECTS, INTERVALS)
        self._list = StepList()
        self._chains: list[tuple[int, int]] = []
        self._linked: list[int] = []  # bits
        self._counted: list[Step] = []
        self._chained: list[Step] = []
        self._contexts = 1
        self._apart = DisjointBits(pattern)
        self._group_plans: list[tuple[int, int]] = []
        self._plans_of_groups: dict[object, tuple[int, int]] = {}
        self._numbers: dict[object, int] = {}
        self._kept: list[KeptOf] = []
        self._members = 1

    def write(self) -> StepArrays:
        plans, owners, orders = [], [], []
        for number, branch in enumerate(self._pattern.branches):
            for last in completing(branch.variables, branch):
                first, order = self._plan(branch, last)
                plans.append((first, self._tree[last].bit))
                owners.append(number)
                orders.append(order)
        confirmations = tuple(self._confirmation(branch) for branch in self._pattern.branches)
        for step in self._counted:
            step[layout.COUNTED] = len(self._linked) + step[layout.LINK]
        columns = self._chain_columns()
        for step in self._chained:
            step[layout.CHAIN_COLUMN] = columns[step[layout.CHAIN]]
        chains = [(*chain, column) for chain, column in zip(self._chains, columns, strict=True)]
        bits = {bit for _, bit in plans}
        return StepArrays(
            *self._list.arrays, table(plans, 2), tuple(owners), confirmations, table(self._group_plans or [(0, 0)], 2),
            np.array(self._linked, np.int64), bool(self._counted), table(chains, 3), self._contexts,
            -1 if -1 in bits else sum(1 << bit for bit in bits), self._members, tuple(orders), tuple(self._kept),
        )  # fmt: skip

    # Lists of steps

    def _plan(self, branch: Branch, last: int) -> tuple[int, tuple[int, ...]]:
        units = self._order.units(branch, branch.variables, branch.groups, last)
        placed = _Placed((), keeps=self._keeps)
        waiting = [negation for negation in branch.negations if not negation.trails]
        with self._list.apart() as first:
            self._place(units, last, branch, placed, 0, waiting)
            if self._list.open is not None and self._is_countable(self._list.open):
                self._counted.append(self._list.open)
            self._list.add(layout.MATCH, 0)
        return first, flattened(units)

    def _is_countable(self, step: Step) -> bool:
        """Whether all events that a last step could take make a match each: then they are counted, and not taken."""
        pattern = self._pattern
        if not pattern.counts_events or step[layout.KIND] != layout.BIND or step[layout.LINK] < 0:
            return False
        tested = step[layout.TESTS] < step[layout.TESTS_END] or tests_events(pattern.scalar, step[layout.FIRST], step[layout.FIRST_END])
        return not tested and not step[layout.SHARES]

    def _confirmation(self, branch: Branch) -> int:
        late = [negation for negation in branch.negations if negation.trails]
        if not late:
            return -1
        placed = _Placed((), keeps=False)  # what is kept follows the window, and a match that waited is older
        with self._list.apart() as first:
            for variable in branch.variables:
                self._bind(layout.GIVEN, variable, branch, placed, 0)
            placed.tests = set(branch.tests)
            left = self._negations_due(late, branch, placed, 0)
            assert not left
            self._list.add(layout.MATCH, 0)
        return first

    def _place(
        self, units: tuple[Unit, ...], last: int | None, branch: Branch, placed: _Placed, context: int, waiting: list[NegatedBranch]
    ) -> None:
        """Bind everything, and look for what must not be there as soon as that can be said."""
        kept = [unit for unit in units if self._is_kept(unit, placed)]
        waiting = [one for one in waiting if not any(self._is_local(one, group, branch, placed) for group in kept)]
        for unit in units:
            if isinstance(unit, Group) and unit in kept:
                self._cached(unit, branch, placed, context)
                waiting = self._negations_due(waiting, branch, placed, context)
                continue
            for variable in flattened((unit,)):
                self._bind_next(variable, last, branch, placed, context)
                waiting = self._negations_due(waiting, branch, placed, context)
        assert not waiting

    def _bind_next(self, variable: int, last: int | None, branch: Branch, placed: _Placed, context: int) -> None:
        repeats = self._tree[variable].repeats
        kind = layout.REPEAT if repeats else layout.TRIGGER if variable == last else layout.BIND
        self._bind(kind, variable, branch, placed, context)[layout.ENDS_MATCH] = int(repeats and variable == last)

    # Single events

    def _bind(self, kind: int, variable: int, branch: Branch, placed: _Placed, context: int) -> Step:
        known, one = {*placed.variables}, self._tree[variable]
        step = self._list.add(kind, context)
        step[layout.VARIABLE] = variable
        step[layout.FIRST], step[layout.FIRST_END] = self._code(one.first_block)
        step[layout.LATER], step[layout.LATER_END] = self._code(one.later_block)
        self._order_in_time(step, {variable}, known, branch)
        step[layout.SHARES] = self._shares((variable,), known)
        placed.variables = (*placed.variables, variable)
        due = self._tests_due(branch, placed)
        chained = self._chain(step, variable, known, due) if kind == layout.BIND and self._pattern.chains else None
        self._test(step, due, chained)
        if chained is None and kind in (layout.BIND, layout.REPEAT):
            step[layout.LINK] = self._link(variable)
        if kind == layout.BIND:
            placed.steps[variable] = self._list.last
        return step

    def _order_in_time(self, step: Step, own: set[int], known: set[int], branch: Branch) -> None:
        after = dict.fromkeys(a for a, b in branch.follows if b in own and a in known)
        before = dict.fromkeys(b for a, b in branch.follows if a in own and b in known)
        step[layout.AFTER], step[layout.AFTER_END] = self._list.terms(after)
        step[layout.BEFORE], step[layout.BEFORE_END] = self._list.terms(before)

    def _shares(self, own: tuple[int, ...], known: set[int]) -> int:
        """Whether an event could be bound twice."""
        tree = self._tree
        return int(any(not self._apart(tree[variable].bit, tree[other].bit) for variable in own for other in known))

    def _tests_due(self, branch: Branch, placed: _Placed) -> list[int]:
        known = {*placed.variables}
        due = [test for test in branch.tests if test not in placed.tests and {*self._pattern.tests[test].variables} <= known]
        placed.tests |= {*due}
        return due

    def _test(self, step: Step, due: list[int], needless: int | None) -> None:
        pattern = self._pattern
        self._list.test(step, [pattern.scalar.blocks[pattern.tests[test].block] for test in due if test != needless])

    def _chain(self, step: Step, variable: int, known: set[int], due: list[int]) -> int | None:
        """An equality by which the events of a variable are found; returns the test that needs no evaluation then."""
        for test, (own, slot), (other, other_slot) in self._equalities(due):
            if own == variable and other in known:
                chain = self._tree[variable].bit, slot
                if chain not in self._chains:
                    self._chains.append(chain)
                step[layout.CHAIN] = self._chains.index(chain)
                self._chained.append(step)
                step[layout.CHAIN_VARIABLE], step[layout.CHAIN_SLOT], step[layout.OWN_SLOT] = other, other_slot, slot
                return test
        return None

    def _chain_columns(self) -> list[int]:
        """The column of each chain at the rows: those that no row is in together share one."""
        columns: list[int] = []
        for bit, _ in self._chains:
            taken = {column for (other, _), column in zip(self._chains, columns, strict=False) if not self._apart(bit, other)}
            columns.append(next(column for column in range(len(columns) + 1) if column not in taken))
        return columns

    def _equalities(self, tests: list[int]) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
        """Those among the tests that are equalities, from both sides."""
        found = [(test, self._pattern.tests[test].equal) for test in tests]
        return [(test, *sides) for test, equal in found if equal is not None for sides in (equal, equal[::-1])]

    def _link(self, variable: int) -> int:
        bit = self._tree[variable].bit
        if bit >= 0 and bit not in self._linked:
            self._linked.append(bit)
        return -1 if bit < 0 else self._linked.index(bit)

    def _code(self, block: int) -> tuple[int, int]:
        return self._pattern.scalar.blocks[block] if block >= 0 else (0, 0)

    # What must not be there

    def _negations_due(self, waiting: list[NegatedBranch], around: Branch, placed: _Placed, context: int) -> list[NegatedBranch]:
        """Those whose interval is known, and in which no event counts that is bound later, are looked for now; returns the others."""
        later = [variable for variable in around.variables if variable not in placed.variables]
        left = []
        for negation in waiting:
            if wanted_by(negation, self._pattern) <= {*placed.variables} and not self._may_share(negation, later):
                self._absent(negation, placed, context)
            else:
                left.append(negation)
        return left

    def _may_share(self, negation: NegatedBranch, others: list[int]) -> bool:
        inside = tuple(variable for branch in negation.branch.walk() for variable in branch.variables)
        return bool(self._shares(inside, {*others}))

    def _absent(self, negation: NegatedBranch, placed: _Placed, context: int) -> None:
        step = self._list.add(layout.ABSENT, context)
        for limit, begin, end, kind in (
            (negation.left, layout.LEFT, layout.LEFT_END, layout.LEFT_KIND),
            (negation.right, layout.RIGHT, layout.RIGHT_END, layout.RIGHT_KIND),
        ):
            step[begin], step[end] = self._list.terms(limit.variables)
            step[kind] = _limit_kind(limit)
        self._flag(step, negation, placed)
        step[layout.CUTS] = self._cut_by(negation, placed)
        inner = self._new_context()
        branch = negation.branch
        with self._list.apart() as first:
            step[layout.INNER] = first
            units = self._order.units(branch, branch.variables, branch.groups, None)
            if self._pattern.evaluation == OBJECTS and len(branch.variables) > 1:
                units = (Group(branch.variables, branch.groups),)
            self._place(units, None, branch, _Placed(placed.variables, set(placed.tests), placed.keeps), inner, list(branch.negations))
            self._list.add(layout.FOUND, inner)

    def _cut_by(self, negation: NegatedBranch, placed: _Placed) -> int:
        """The step of the variable, if there is one, that was bound last of those which decide about a negation, and only says where its
        interval begins: its events come latest first, and what was found lies in the intervals of all that follow."""
        decides = [variable for variable in placed.variables if variable in wanted_by(negation, self._pattern)]
        cuts = self._pattern.cuts and self._pattern.evaluation == "joins"
        if not cuts or not decides or not begins_only(negation, decides[-1], self._pattern):
            return -1
        since = placed.variables[placed.variables.index(decides[-1]) :]
        return -1 if self._may_share(negation, list(since)) else placed.steps.get(decides[-1], -1)

    def _flag(self, step: Step, negation: NegatedBranch, placed: _Placed) -> None:
        """Whether a negated expression is empty is noted per interval and the values that it depends on."""
        if self._pattern.evaluation != INTERVALS or not placed.keeps or len(negation.branch.variables) < 2:
            return
        depends = depends_on(negation, self._pattern)
        if any(self._tree[variable].repeats for variable, _ in depends):  # a list is not known by one event of it
            return
        values = 1 + sum(2 if slot >= 0 else 1 for _, slot in depends)
        if values <= layout.MOST_VALUES and not self._may_share(negation, list(placed.variables)):
            # what is negated in it can be there in an interval and not in one around it: no interval says anything about another
            step[layout.FLAGGED] = layout.ALONE if negation.branch.negations else layout.IN_ORDER
            step[layout.GROUP] = self._number(negation, KeptOf(negation.branch.variables, is_negated=True))
            step[layout.DEPENDS], step[layout.DEPENDS_END] = self._list.terms(term for one in depends for term in one)

    # Nested expressions whose matches are kept

    def _is_kept(self, unit: Unit, placed: _Placed) -> bool:
        return placed.keeps and isinstance(unit, Group) and not any(self._tree[variable].repeats for variable in unit.variables)

    def _is_local(self, negation: NegatedBranch, unit: Unit, branch: Branch, placed: _Placed) -> bool:
        """Whether nothing outside of a nested expression decides about a negation in it."""
        assert isinstance(unit, Group)
        outside = [variable for variable in (*branch.variables, *placed.variables) if variable not in unit.variables]
        ends = negation.leads or negation.trails
        return not ends and wanted_by(negation, self._pattern) <= {*unit.variables} and not self._may_share(negation, outside)

    def _cached(self, group: Group, branch: Branch, placed: _Placed, context: int) -> None:
        known, inside = {*placed.variables}, {*group.variables}
        local = tuple(negation for negation in branch.negations if self._is_local(negation, group, branch, placed))
        step = self._list.add(layout.CACHED, context)
        step[layout.PLANS], step[layout.PLANS_END] = self._plans_of(group, branch, local)
        step[layout.IS_SEMANTIC] = int(self._pattern.evaluation == INTERVALS)
        self._order_in_time(step, inside, known, branch)
        step[layout.SHARES] = self._shares(group.variables, known)
        step[layout.MEMBERS], step[layout.MEMBERS_END] = self._list.terms(group.variables)
        self._list.terms(place for variable in group.variables for place in self._code(self._tree[variable].first_block))
        self._members = max(self._members, len(group.variables))
        placed.tests |= {test for test in branch.tests if {*self._pattern.tests[test].variables} <= inside}
        placed.variables = (*placed.variables, *group.variables)
        due = self._tests_due(branch, placed)
        step[layout.MEMBER] = group.variables[0]
        value = self._value_outside(step, due, inside, known)
        kept_by = None if value is None else (step[layout.MEMBER], step[layout.MEMBER_SLOT])
        step[layout.GROUP] = self._number((group, branch, local, kept_by), KeptOf(group.variables, by=kept_by))
        self._test(step, due, value)

    def _value_outside(self, step: Step, due: list[int], inside: set[int], known: set[int]) -> int | None:
        """An equality between an event of a nested expression and one outside of it: its matches are kept apart by that value."""
        for test, (member, slot), (other, other_slot) in self._equalities(due):
            if member in inside and other in known:
                step[layout.CHAIN] = 0
                step[layout.CHAIN_VARIABLE], step[layout.CHAIN_SLOT] = other, other_slot
                step[layout.MEMBER], step[layout.MEMBER_SLOT] = member, slot
                return test
        return None

    def _plans_of(self, group: Group, branch: Branch, local: tuple[NegatedBranch, ...]) -> tuple[int, int]:
        """The plans by which the matches of a nested expression are found."""
        key = (group, branch, local)
        if key not in self._plans_of_groups:
            context = self._new_context()
            plans = []
            for last in completing(group.variables, branch):
                units = self._order.units(branch, group.variables, group.groups, last)
                with self._list.apart() as first:
                    self._place(units, last, branch, _Placed((), keeps=True), context, list(local))
                    self._list.add(layout.STORE, context)
                plans.append((first, self._link(last)))
            begin = len(self._group_plans)
            self._group_plans += plans
            self._plans_of_groups[key] = begin, len(self._group_plans)
        return self._plans_of_groups[key]

    def _number(self, what: object, kept: KeptOf) -> int:
        if what not in self._numbers:
            self._numbers[what] = len(self._kept)
            self._kept.append(kept)
        return self._numbers[what]

    def _new_context(self) -> int:
        self._contexts += 1
        return self._contexts - 1


def tests_events(code: ScalarCode, start: int, end: int) -> bool:
    """Whether a block has conditions, and does not only note values."""
    return any(op == Op.TEST or op >= Op.TEST_EQ_INT for op in code.op[start:end])


def _limit_kind(limit: Limit) -> int:
    if limit.is_window:
        return layout.WINDOW
    return layout.INCLUDING if limit.includes else layout.BEYOND
