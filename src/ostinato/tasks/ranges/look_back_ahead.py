"""How many rows before its first and behind its last row a match looks at. `B AS price < PREV(price)` in `A B+` looks at A's row, which
the match has anyway; only what reaches further than the match makes a task read rows before its range, or behind its windows."""

from __future__ import annotations

import math
from collections import deque

from ostinato.program.column_code import ColumnCode
from ostinato.program.measure_code import MeasureCode
from ostinato.program.ordered_nfa import ACCEPT, OrderedNfa
from ostinato.program.pattern import EventPattern, Pattern, RowPattern

BACK, AHEAD = -1, 1


def look_back_of(pattern: Pattern) -> int:
    bits, slots = _looks_of_rows(pattern, BACK)
    looks = [0, *slots, *_looks_of_measures(pattern.measures, BACK)]
    for negation in pattern.negations:
        looks += _looks_of_measures(negation.given, BACK)
        looks += [bits[item.bit] for item in negation.items if item.bit >= 0]
        looks += [-point.shift for item in negation.items for point in item.points]
    for bit, rows_before in _tested_bits(pattern):
        if bit >= 0:
            looks.append(bits[bit] - rows_before)
    return max(looks)


def look_ahead_of(pattern: Pattern) -> int:
    if not isinstance(pattern, RowPattern):
        return pattern.look_ahead
    bits, slots = _looks_of_rows(pattern, AHEAD)
    looks: list[float] = [0, *slots, *_looks_of_measures(pattern.measures, AHEAD)]
    behind = _rows_to_the_end(pattern.nfa)
    for variable, target in pattern.nfa.transitions:
        if variable >= 0 and pattern.tests[variable].bit >= 0:
            looks.append(bits[pattern.tests[variable].bit] - behind[target])
    return int(max(looks))


def _looks_of_rows(pattern: Pattern, way: int) -> tuple[list[int], list[int]]:
    """Of the predicates and of the values that scalar code reads."""
    depths = _depths(pattern.rows, way)
    results = [depths[op] for op in pattern.rows.results]
    return results[: pattern.bits], results[pattern.bits :]


def _depths(code: ColumnCode, way: int) -> list[int]:
    """Per operation, how many rows back or ahead its value depends on."""
    depths: list[int] = []
    for op in code.ops:
        deepest = max((depths[arg] for arg in op.args), default=0)
        depths.append(max(0, deepest + way * op.params[0]) if op.op == "shift" else deepest)
    return depths


def _looks_of_measures(measures: MeasureCode, way: int) -> list[int]:
    rows = _depths(measures.rows, way)
    return [way * point.shift for point in measures.points] + [rows[op] for op in measures.rows.results]


def _tested_bits(pattern: Pattern) -> list[tuple[int, int]]:
    """(bit, rows that a match has at least before the row that is tested)."""
    if isinstance(pattern, EventPattern):
        places = ((pattern.elements[number], before) for number, before in _events_before(pattern).items())
        return [tested for c, before in places for tested in ((c.first_bit, before), (c.later_bit, before + 1))]
    assert isinstance(pattern, RowPattern)
    return [(pattern.tests[variable].bit, rows) for variable, rows in _transitions_with_distance(pattern.nfa)]


def _events_before(pattern: EventPattern) -> dict[int, int]:
    """Per element, how many events a run has selected at least when it begins there."""
    before = {transition.target: 0 for transition in pattern.initial}
    waiting = deque(before)
    while waiting:
        number = waiting.popleft()
        for transition in pattern.elements[number].transitions:
            if transition.target not in before:
                before[transition.target] = before[number] + 1
                waiting.append(transition.target)
    return before


def _transitions_with_distance(nfa: OrderedNfa) -> list[tuple[int, int]]:
    distance = {nfa.start: 0}
    waiting = deque([nfa.start])
    transitions = []
    while waiting:
        state = waiting.popleft()
        for variable, target in _transitions(nfa, state):
            if variable < 0:
                continue
            transitions.append((variable, distance[state]))
            if target not in distance:
                distance[target] = distance[state] + 1
                waiting.append(target)
    return transitions


def _rows_to_the_end(nfa: OrderedNfa) -> list[float]:
    """Per state, how many rows it takes at least until a match is complete."""
    states = range(len(nfa.first) - 1)
    rows = [math.inf] * len(states)
    for _ in states:  # no shortest way visits a state twice
        for state in states:
            rows[state] = min((0 if variable < 0 else rows[target] + 1 for variable, target in _transitions(nfa, state)), default=math.inf)
    return rows


def _transitions(nfa: OrderedNfa, state: int) -> tuple[tuple[int, int], ...]:
    return nfa.transitions[nfa.first[state] : nfa.first[state + 1]]


def maps_no_row(pattern: Pattern) -> bool:
    """Whether the pattern has empty matches: they have a place, but no row that would tell the time of it."""
    return isinstance(pattern, RowPattern) and ACCEPT in pattern.nfa.transitions_of(pattern.nfa.start)
