"""Conditions that a search can answer: a value of the current row compared with one that was fixed when earlier rows were bound.

A thread waits in a state if every row leaves it as it is until some transition can be made: the state has one transition to itself that
remembers nothing, and each other transition asks for certain rows. Rows in between need not be visited. Runs of an event pattern that wait
for such a value are kept in the order of their bounds, so that an event meets those that it satisfies."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.program.analysis.comparisons import EQ, GE, GT, LE, LT, NE, BlockTests, Comparison, Operand, block_tests
from ostinato.program.analysis.joins import transitions_of
from ostinato.program.opcodes import SPACES, Op, Space
from ostinato.program.ordered_nfa import ACCEPT, OrderedNfa
from ostinato.program.pattern import EventPattern, RowPattern
from ostinato.program.scalar_code import ScalarCode


@dataclass(frozen=True)
class Search:
    """A transition of a state in which threads wait. `loop`: it is made at every row until one fails to satisfy `comparisons` or lacks the
    variable's bit; else it can be made only at rows that have both. The comparisons are about one value of the row."""

    variable: int
    loop: bool
    comparisons: tuple[Comparison, ...] = ()

    @property
    def is_band(self) -> bool:
        """Whether rows may be sought between two bounds; those of an equality are apart if it was calculated back."""
        apart = any(comparison.relation == EQ and comparison.undone for comparison in self.comparisons)
        return not self.loop and (apart or len(self.comparisons) > 1)

    def finds_all_of(self, tests: BlockTests) -> bool:
        """Whether a row that is found is taken (but for rounding): the search knows of everything that the block asks for."""
        return not tests.unknown and len(self.comparisons) == len(tests.comparisons) + len(tests.wider)


def searched_transitions(pattern: RowPattern) -> dict[int, Search]:
    """Transition of the automaton -> how its row is found; all transitions of the states in which threads wait, and no others."""
    if not pattern.search:
        return {}
    tests = [block_tests(pattern.scalar, test.block) for test in pattern.tests]
    found: dict[int, Search] = {}
    for state in range(len(pattern.nfa.first) - 1):
        found |= _of_state(pattern, pattern.nfa, state, tests) or {}
    return found


def _of_state(pattern: RowPattern, nfa: OrderedNfa, state: int, tests: list[BlockTests]) -> dict[int, Search] | None:
    transitions = {number: nfa.transitions[number] for number in range(nfa.first[state], nfa.first[state + 1])}
    loops = [variable for variable, target in transitions.values() if target == state]
    if len(loops) != 1 or ACCEPT in transitions.values():
        return None
    found: dict[int, Search] = {}
    for number, (variable, target) in transitions.items():
        if variable >= 0:
            always = pattern.tests[variable].bit < 0
            search = _loop(variable, tests[variable]) if target == state else _exit(variable, tests[variable], always)
            if search is None:
                return None
            found[number] = search
    return found


def _loop(variable: int, tests: BlockTests) -> Search | None:
    values = {(c.value, c.floats) for c in tests.comparisons}
    if tests.stores or tests.others or len(values) > 1 or any(c.relation == NE for c in tests.comparisons):
        return None
    return Search(variable, True, tests.comparisons)


def _exit(variable: int, tests: BlockTests, always: bool) -> Search | None:
    """By the value that is bound best: equality before both sides before one. None if every row may do."""
    groups: dict[tuple[Operand, bool], list[Comparison]] = {}
    for comparison in (*tests.comparisons, *tests.wider):
        if comparison.relation != NE:
            groups.setdefault((comparison.value, comparison.floats), []).append(comparison)
    if not groups and always:
        return None
    best = max(groups.values(), key=_strength, default=[])
    return Search(variable, False, tuple(best))


def _strength(comparisons: list[Comparison]) -> int:
    relations = {c.relation for c in comparisons}
    return 3 if EQ in relations else bool(relations & {LT, LE}) + bool(relations & {GT, GE})


@dataclass(frozen=True)
class RunOrder:
    """The runs in a state wait by what one of its transitions (to element `target`, `taken` again or begun) asks of a value of the event.
    The bounds are made of `registers`."""

    target: int
    taken: bool
    comparisons: tuple[Comparison, ...]
    registers: frozenset[int]


def order_of(pattern: EventPattern, state: int) -> RunOrder | None:
    """By the transition whose value is bound best. None if it would never help: no transition has such a condition, or another is open to
    every event."""
    found: dict[tuple[int, bool], tuple[int, Search | None]] = {}
    for target, taken in transitions_of(pattern.elements[state], state):
        element = pattern.elements[target]
        bit, block = (element.later_bit, element.later_block) if taken else (element.first_bit, element.first_block)
        search = _exit(element.variable, block_tests(pattern.scalar, block), always=True)
        found[target, taken] = bit, search
    usable = [
        (transition, search)
        for transition, (_, search) in found.items()
        if search is not None and all(bit >= 0 for other, (bit, _) in found.items() if other != transition)
    ]
    if not usable or not pattern.search:
        return None
    (target, taken), search = max(usable, key=lambda entry: _strength(list(entry[1].comparisons)))
    order = RunOrder(target, taken, search.comparisons, _registers(pattern.scalar, search.comparisons))
    return None if _can_continue(pattern, state, order) else order


def _can_continue(pattern: EventPattern, state: int, order: RunOrder) -> bool:
    """Under skip till next a run takes what it can, and a bound that changes with that has to find its place again at every event:
    the SASE+ workload (p3, s3) took a third more time in order than out of it."""
    element = pattern.elements[state]
    if pattern.selection != "skip_till_next_match" or not element.repeats or element.later_block < 0:
        return False
    code = pattern.scalar
    stored = {code.c[at] for at in range(*code.blocks[element.later_block]) if code.op[at] == Op.STORE}
    return bool(order.registers & stored)


def _registers(code: ScalarCode, comparisons: tuple[Comparison, ...]) -> frozenset[int]:
    operands = [operand for comparison in comparisons for operand in comparison.of_run]
    lines = {at for operand in operands for at in operand.lines}
    words = [operand.word for operand in operands] + [word for at in lines for word in (code.a[at], code.b[at])]
    return frozenset(word // SPACES for word in words if word % SPACES == Space.REGISTER)
