"""Where attempts at a row pattern visit row after row although no match may come of it.

An attempt stays long where its automaton has a cycle. Its visits are paid for if they make a match longer: on every cycle through a
*settled* state, in which a match has been found or is found whatever comes next. They are left out where threads wait, if the row that
a search finds is taken and leads to a settled state. What remains is walked, by each start anew."""

from __future__ import annotations

from ostinato.program.analysis.comparisons import BlockTests, block_tests
from ostinato.program.analysis.searches import Search, searched_moves
from ostinato.program.ordered_nfa import ACCEPT, OrderedNfa
from ostinato.program.pattern import RowPattern

Move = tuple[int, int, int]  # from a state, by a variable, to a state


def walked_through(pattern: RowPattern) -> int | None:
    """A variable by which an attempt can walk to the end of its partition in vain; None if there is none, or nobody wants to know."""
    if pattern.nfa is None or pattern.evaluation != "threads" or not pattern.search:
        return None
    nfa = pattern.nfa
    tests = [block_tests(pattern.scalar, test.block) for test in pattern.tests]
    free = [test.bit < 0 and not asked.asks for test, asked in zip(pattern.tests, tests, strict=True)]
    settled = _settled(nfa, free)
    searched = searched_moves(pattern)
    waits = {state for state in range(len(nfa.first) - 1) if _leaves_well(nfa, state, searched, tests, settled)}
    moves = [
        (state, variable, target)
        for state in range(len(nfa.first) - 1)
        for variable, target in nfa.moves_of(state)
        if variable >= 0 and not settled[state] and not settled[target] and not (state == target and state in waits)
    ]
    cyclic = _on_cycles(moves)
    return min(cyclic, key=lambda move: (move[0] != move[2], move))[1] if cyclic else None


def _settled(nfa: OrderedNfa, free: list[bool]) -> list[bool]:
    """Per state, whether being there means a match: it accepts, or any row leads to such a state."""
    states = range(len(nfa.first) - 1)
    before: list[list[int]] = [[] for _ in states]
    for state in states:
        for variable, target in nfa.moves_of(state):
            if variable >= 0 and free[variable]:
                before[target].append(state)
    settled = [ACCEPT in nfa.moves_of(state) for state in states]
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
        for number, (variable, target) in zip(nfa.numbers_of(state), nfa.moves_of(state), strict=True)
        if variable >= 0
    )


def _on_cycles(moves: list[Move]) -> list[Move]:
    """The moves that lie on a cycle or between two."""
    return _endless(_endless(moves, 0, 2), 2, 0)


def _endless(moves: list[Move], begin: int, end: int) -> list[Move]:
    """Without those behind which, in this direction, everything comes to an end."""
    left: dict[int, int] = {}
    arriving: dict[int, list[Move]] = {}
    for move in moves:
        left[move[begin]] = left.get(move[begin], 0) + 1
        arriving.setdefault(move[end], []).append(move)
    ended = list({move[end] for move in moves if move[end] not in left})
    gone: set[Move] = set()
    while ended:
        for move in arriving.get(ended.pop(), ()):
            gone.add(move)
            left[move[begin]] -= 1
            if left[move[begin]] == 0:
                ended.append(move[begin])
    return [move for move in moves if move not in gone]
