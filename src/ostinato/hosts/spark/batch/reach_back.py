"""How many rows before its first row a match looks at. `B AS price < PREV(price)` in `A B+` looks at A's row, which the match has
anyway; only what reaches further than the match makes a task read rows before its range."""

from __future__ import annotations

from collections import deque

from ostinato.program.column_code import ColumnCode
from ostinato.program.program import MeasureCode, Program


def reach_back(program: Program) -> int:
    depths = _depths(program.rows)
    results = [depths[op] for op in program.rows.results]
    bits, slots = results[: program.bits], results[program.bits :]
    reaches = [0, *slots, *_reaches_of_measures(program.measures)]
    for negation in program.negations:
        reaches += _reaches_of_measures(negation.given)
        reaches += [bits[item.bit] for item in negation.items if item.bit >= 0]
        reaches += [-point.shift for item in negation.items for point in item.points]
    for bit, rows_before in _tested_bits(program):
        if bit >= 0:
            reaches.append(bits[bit] - rows_before)
    return max(reaches)


def _depths(code: ColumnCode) -> list[int]:
    """Per operation, how many rows back its value depends on."""
    depths: list[int] = []
    for op in code.ops:
        deepest = max((depths[arg] for arg in op.args), default=0)
        depths.append(max(0, deepest - op.params[0]) if op.op == "shift" else deepest)
    return depths


def _reaches_of_measures(measures: MeasureCode) -> list[int]:
    rows = _depths(measures.rows)
    return [-point.shift for point in measures.points] + [rows[op] for op in measures.rows.results]


def _tested_bits(program: Program) -> list[tuple[int, int]]:
    """(bit, rows that a match has at least before the row that is tested)."""
    if program.nfa is None:
        places = ((program.components[number], before) for number, before in _events_before(program).items())
        return [tested for c, before in places for tested in ((c.first_bit, before), (c.later_bit, before + 1))]
    return [(program.tests[variable].bit, rows) for variable, rows in _moves_with_distance(program)]


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


def _moves_with_distance(program: Program) -> list[tuple[int, int]]:
    nfa = program.nfa
    distance = {nfa.start: 0}
    waiting = deque([nfa.start])
    moves = []
    while waiting:
        state = waiting.popleft()
        for variable, target in nfa.moves[nfa.first[state] : nfa.first[state + 1]]:
            if variable < 0:
                continue
            moves.append((variable, distance[state]))
            if target not in distance:
                distance[target] = distance[state] + 1
                waiting.append(target)
    return moves


def maps_no_row(program: Program) -> bool:
    """Whether the pattern has empty matches: they have a place, but no row that would tell the time of it."""
    nfa = program.nfa
    return nfa is not None and (-1, -1) in nfa.moves[nfa.first[nfa.start] : nfa.first[nfa.start + 1]]
