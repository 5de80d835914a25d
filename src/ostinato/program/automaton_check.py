"""Verifies what a matcher follows: components of event patterns, and ordered automata."""

from __future__ import annotations

from collections.abc import Iterable

from ostinato.program.program import ACCEPT, ACCEPT_AT_END, Begin, Component, OrderedNfa, Program
from ostinato.program.requirement import require
from ostinato.program.scalar_check import binds

PLACES = "moves to later components, past those in between"


def check_automaton(program: Program) -> None:
    if program.is_event_pattern:
        _components(program)
        return
    require(program.nfa is not None and len(program.tests) == len(program.variables), "an automaton and a test for every variable")
    require(not program.components and not program.entries and program.selection == "preferred", "rows selected by preference")
    assert program.nfa is not None
    _nfa(program.nfa, len(program.variables))
    for test in program.tests:
        require(-1 <= test.bit < program.bits and _is_block(program, test.block, binding=True), "tests with known bits and blocks")
        require(test.block < 0 or program.strategy == "threads", "threads for conditions over several rows")


def _components(program: Program) -> None:
    count = len(program.components)
    require(count > 0 and count == len(program.variables) and not program.hidden, "a component for every variable")
    require(program.nfa is None and not program.tests and program.selection != "preferred", "events selected one by one")
    require(len(program.entries) > 0, "a component to begin with")
    _moves(program.entries, -1, count)
    for number, component in enumerate(program.components):
        require(component.variable == number and component.at_least in (0, 1), "components with their variables")
        require(all(-1 <= bit < program.bits for bit in (component.first_bit, component.later_bit)), "components with known bits")
        bound = all(_is_block(program, block, binding=True) for block in (component.first_block, component.later_block))
        require(bound and _is_block(program, component.leaving_block, binding=False), "components with known blocks")
        _moves(component.begins, number, count)
        _ascending(component.passed_at_end, number, count)
        _left_empty(component, program)


def _left_empty(component: Component, program: Program) -> None:
    places = {place for begin in (*component.begins, *program.entries) for place in begin.passed} | set(component.passed_at_end)
    require(all(program.components[place].at_least == 0 for place in places), "components that may be left empty where they are")


def _moves(begins: Iterable[Begin], source: int, count: int) -> None:
    targets = [begin.target for begin in begins]
    require(all(source < target < count for target in targets) and len(set(targets)) == len(targets), PLACES)
    for begin in begins:
        _ascending(begin.passed, source, begin.target)


def _ascending(places: tuple[int, ...], low: int, high: int) -> None:
    require(all(low < place < high for place in places) and list(places) == sorted(set(places)), PLACES)


def _is_block(program: Program, block: int, binding: bool) -> bool:
    """A block that binds a row copies the registers; one that only tests a run leaves them as they are."""
    if block < 0:
        return block == -1
    return block < len(program.scalar.blocks) and binds(program.scalar, block) == binding


def _nfa(nfa: OrderedNfa, variables: int) -> None:
    states = len(nfa.first) - 1
    require(states > 0 and 0 <= nfa.start < states and 0 <= nfa.start_of_partition < states, "a known state to start in")
    require(nfa.first[0] == 0 and nfa.first[-1] == len(nfa.moves) and list(nfa.first) == sorted(nfa.first), "moves for every state")
    for state in range(states):
        for place, (variable, target) in enumerate(moves := nfa.moves_of(state), 1):
            accepts = place == len(moves) and (variable, target) in (ACCEPT, ACCEPT_AT_END)
            require(accepts or (0 <= variable < variables and 0 <= target < states), "moves to known states")
