"""How many rows before its first and behind its last row a match looks at. `B AS price < PREV(price)` in `A B+` looks at A's row, which
the match has anyway; only what reaches further than the match makes a task read rows before its range, or behind its windows."""

from __future__ import annotations

import math
from collections import deque

from ostinato.program.column_code import ColumnCode
from ostinato.program.program import MeasureCode, OrderedNfa, Program

BACK, AHEAD = -1, 1


def reach_back(program: Program) -> int:
    bits, slots = _reaches_of_rows(program, BACK)
    reaches = [0, *slots, *_reaches_of_measures(program.measures, BACK)]
    for negation in program.negations:
        reaches += _reaches_of_measures(negation.given, BACK)
        reaches += [bits[item.bit] for item in negation.items if item.bit >= 0]
        reaches += [-point.shift for item in negation.items for point in item.points]
    for bit, rows_before in _tested_bits(program):
        if bit >= 0:
            reaches.append(bits[bit] - rows_before)
    return max(reaches)


def reach_ahead(program: Program) -> int:
    if program.nfa is None:
        return program.ahead
    bits, slots = _reaches_of_rows(program, AHEAD)
    reaches: list[float] = [0, *slots, *_reaches_of_measures(program.measures, AHEAD)]
    behind = _rows_to_the_end(program.nfa)
    for variable, target in program.nfa.moves:
        if variable >= 0 and program.tests[variable].bit >= 0:
            reaches.append(bits[program.tests[variable].bit] - behind[target])
    return int(max(reaches))


def _reaches_of_rows(program: Program, way: int) -> tuple[list[int], list[int]]:
    """Of the predicates and of the values that scalar code reads."""
    depths = _depths(program.rows, way)
    results = [depths[op] for op in program.rows.results]
    return results[: program.bits], results[program.bits :]


def _depths(code: ColumnCode, way: int) -> list[int]:
    """Per operation, how many rows back or ahead its value depends on."""
    depths: list[int] = []
    for op in code.ops:
        deepest = max((depths[arg] for arg in op.args), default=0)
        depths.append(max(0, deepest + way * op.params[0]) if op.op == "shift" else deepest)
    return depths


def _reaches_of_measures(measures: MeasureCode, way: int) -> list[int]:
    rows = _depths(measures.rows, way)
    return [way * point.shift for point in measures.points] + [rows[op] for op in measures.rows.results]


def _tested_bits(program: Program) -> list[tuple[int, int]]:
    """(bit, rows that a match has at least before the row that is tested)."""
    if program.nfa is None:
        places = ((program.components[number], before) for number, before in _events_before(program).items())
        return [tested for c, before in places for tested in ((c.first_bit, before), (c.later_bit, before + 1))]
    return [(program.tests[variable].bit, rows) for variable, rows in _moves_with_distance(program.nfa)]


def _events_before(program: Program) -> dict[int, int]:
    """Per component, how many events a run has selected at least when it begins there."""
    before = {begin.target: 0 for begin in program.entries}
    waiting = deque(before)
    while waiting:
        number = waiting.popleft()
        for begin in program.components[number].begins:
            if begin.target not in before:
                before[begin.target] = before[number] + 1
                waiting.append(begin.target)
    return before


def _moves_with_distance(nfa: OrderedNfa) -> list[tuple[int, int]]:
    distance = {nfa.start: 0}
    waiting = deque([nfa.start])
    moves = []
    while waiting:
        state = waiting.popleft()
        for variable, target in _moves(nfa, state):
            if variable < 0:
                continue
            moves.append((variable, distance[state]))
            if target not in distance:
                distance[target] = distance[state] + 1
                waiting.append(target)
    return moves


def _rows_to_the_end(nfa: OrderedNfa) -> list[float]:
    """Per state, how many rows it takes at least until a match is complete."""
    states = range(len(nfa.first) - 1)
    rows = [math.inf] * len(states)
    for _ in states:  # no shortest way visits a state twice
        for state in states:
            rows[state] = min((0 if variable < 0 else rows[target] + 1 for variable, target in _moves(nfa, state)), default=math.inf)
    return rows


def _moves(nfa: OrderedNfa, state: int) -> tuple[tuple[int, int], ...]:
    return nfa.moves[nfa.first[state] : nfa.first[state + 1]]


def maps_no_row(program: Program) -> bool:
    """Whether the pattern has empty matches: they have a place, but no row that would tell the time of it."""
    nfa = program.nfa
    return nfa is not None and (-1, -1) in _moves(nfa, nfa.start)
