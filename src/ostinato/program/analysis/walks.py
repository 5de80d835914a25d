"""Where attempts at a row pattern visit row after row although no match may come of it.

An attempt stays long where its automaton has a cycle. Its visits are paid for if they make a match longer: on every cycle through a
*settled* state, in which a match has been found or is found whatever comes next. They are left out where threads wait, if the row that
a search finds is taken and leads to a settled state. What remains is walked, by each start anew."""

from __future__ import annotations

from ostinato.program.analysis.comparisons import BlockTests, block_tests
from ostinato.program.analysis.searches import Search, searched_transitions
from ostinato.program.ordered_nfa import ACCEPT, OrderedNfa
from ostinato.program.pattern import RowPattern

Transition = tuple[int, int, int]  # from a state, by a variable, to a state


def walked_through(pattern: RowPattern) -> int | None:
    """A variable by which an attempt can walk to the end of its partition in vain; None if there is none, or nobody wants to know."""
    if pattern.nfa is None or pattern.evaluation != "threads" or not pattern.search:
        return None
    nfa = pattern.nfa
    tests = [block_tests(pattern.scalar, test.block) for test in pattern.tests]
    free = [test.bit < 0 and not asked.asks for test, asked in zip(pattern.tests, tests, strict=True)]
    settled = _settled(nfa, free)
    searched = searched_transitions(pattern)
    waits = {state for state in range(len(nfa.first) - 1) if _leaves_well(nfa, state, searched, tests, settled)}
    transitions = [
        (state, variable, target)
        for state in range(len(nfa.first) - 1)
        for variable, target in nfa.transitions_of(state)
        if variable >= 0 and not settled[state] and not settled[target] and not (state == target and state in waits)
    ]
    cyclic = _on_cycles(transitions)
    return min(cyclic, key=lambda transition: (transition[0] != transition[2], transition))[1] if cyclic else None


def _settled(nfa: OrderedNfa, free: list[bool]) -> list[bool]:
    """Per state, whether being there means a match: it accepts, or any row leads to such a state."""
    states = range(len(nfa.first) - 1)
    before: list[list[int]] = [[] for _ in states]
    for state in states:
        for variable, target in nfa.transitions_of(state):
            if variable >= 0 and free[variable]:
                before[target].append(state)
    settled = [ACCEPT in nfa.transitions_of(state) for state in states]
    waiting = [state for state in states if settled[state]]
    while waiting:
        for state in before[waiting.pop()]:
            if not settled[state]:
                settled[state] = True
                waiting.append(state)
    return settled


def _leaves_well(nfa: OrderedNfa, state: int, searched: dict[int, Search], tests: list[BlockTests], settled: list[bool]) -> bool:
    """Whether threads that wait in the state leave it by a row that was found, for good."""
    return all(
        number in searched and (target == state or (settled[target] and searched[number].finds_all_of(tests[variable])))
        for number, (variable, target) in zip(nfa.numbers_of(state), nfa.transitions_of(state), strict=True)
        if variable >= 0
    )


def _on_cycles(transitions: list[Transition]) -> list[Transition]:
    """The transitions that lie on a cycle or between two."""
    return _endless(_endless(transitions, 0, 2), 2, 0)


def _endless(transitions: list[Transition], begin: int, end: int) -> list[Transition]:
    """Without those behind which, in this direction, everything comes to an end."""
    left: dict[int, int] = {}
    arriving: dict[int, list[Transition]] = {}
    for transition in transitions:
        left[transition[begin]] = left.get(transition[begin], 0) + 1
        arriving.setdefault(transition[end], []).append(transition)
    ended = list({transition[end] for transition in transitions if transition[end] not in left})
    gone: set[Transition] = set()
    while ended:
        for transition in arriving.get(ended.pop(), ()):
            gone.add(transition)
            left[transition[begin]] -= 1
            if left[transition[begin]] == 0:
                ended.append(transition[begin])
    return [transition for transition in transitions if transition not in gone]
