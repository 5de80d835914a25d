"""How far what a match means reaches beyond its own rows. A partition in which nothing is begun may be forgotten if that is nowhere: PREV
in a condition of a later variable looks at a row of the match, and only one that can stand first looks at a row before it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ostinato.program.column_code import ColumnCode
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.measure_code import MeasureCode, Point
from ostinato.program.opcodes import SPACES, Space, words_read
from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.tree import TreePattern

FAR = 1 << 62  # the distance of what is never reached


@dataclass(frozen=True)
class LookAround:
    """How many rows before the first row of a match, and behind its last one, can matter to it; partial matches that are shown are
    matches here."""

    before: int
    after: int

    def joined(self, other: LookAround) -> LookAround:
        return LookAround(max(self.before, other.before), max(self.after, other.after))


NOWHERE = LookAround(0, 0)


def look_around(pattern: Pattern) -> LookAround:
    if isinstance(pattern, EventPattern):
        return _of_events(pattern)
    if isinstance(pattern, TreePattern | InstanceAutomaton):
        return NOWHERE
    if isinstance(pattern, IntervalPattern):
        return LookAround(pattern.look_back, 0)
    assert isinstance(pattern, RowPattern)
    distances = _Distances(pattern)
    found = _of_measures(pattern, distances)
    extents = _extents(pattern.rows)
    for variable, test in enumerate(pattern.tests):
        for result in _results_read(pattern, test.bit, test.block):
            low, high = extents[result]
            found = found.joined(distances.outside((variable,), low, high))
    return found


def _of_events(pattern: EventPattern) -> LookAround:
    """An element's conditions look at rows around its own, of which a run has some already; those of negations at any event."""
    extents = _extents(pattern.rows)
    before = _events_before(pattern)
    found = [-extents[result][0] - rows for result, rows in _read_by_elements(pattern, before)]
    of_codes = [pattern.measures, *(negation.given for negation in pattern.negations)]
    found += [-low for code in of_codes for low, _ in _extents_of(code)]
    for item in (item for negation in pattern.negations for item in negation.items):
        found += [-point.shift for point in item.points]
        found += [-extents[pattern.rows.results[item.bit]][0]] if item.bit >= 0 else []
    ahead = [high for code in of_codes for _, high in _extents_of(code)]
    ahead += [point.shift for negation in pattern.negations for item in negation.items for point in item.points]
    return LookAround(max((0, *found)), max((0, *ahead, pattern.look_ahead)))


def _read_by_elements(pattern: EventPattern, before: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Results of the row code that conditions ask for, each with how many events a run has at least when they do."""
    for number, rows in before.items():
        element = pattern.elements[number]
        for bit, block, held in ((element.first_bit, element.first_block, rows), (element.later_bit, element.later_block, rows + 1)):
            yield from ((result, held) for result in _results_read(pattern, bit, block))


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


def _extents_of(code: MeasureCode) -> list[tuple[int, int]]:
    """The first and the last row that values over a match look at, counted from the rows that they name."""
    extents = _extents(code.rows)
    return [(point.shift, point.shift) for point in code.points] + [extents[result] for result in code.rows.results]


def _of_measures(pattern: Pattern, distances: _Distances) -> LookAround:
    found = NOWHERE
    for point in pattern.measures.points:
        members = pattern.members(point.variable) if point.variable >= 0 else None
        found = found.joined(distances.outside_point(point, members))
    shifted = _shifts_in(pattern.measures)
    return found.joined(LookAround(max(0, -min(shifted, default=0)), max(0, *shifted)) if shifted else NOWHERE)


def _shifts_in(measures: MeasureCode) -> list[int]:
    """Neighbours are points; code over matches has no shifts of its own as compiled, but a program may come from elsewhere."""
    codes = [measures.rows] if measures.code is None else [measures.rows, measures.code]
    return [op.params[0] for code in codes for op in code.ops if op.op == "shift"]


def _extents(code: ColumnCode) -> list[tuple[int, int]]:
    """Per operation the first and the last row that it looks at, counted from its own."""
    found: list[tuple[int, int]] = []
    for op in code.ops:
        low = min((found[arg][0] for arg in op.args), default=0)
        high = max((found[arg][1] for arg in op.args), default=0)
        step = op.params[0] if op.op == "shift" else 0
        found.append((low + step, high + step))
    return found


def _results_read(pattern: Pattern, bit: int, block: int) -> list[int]:
    """The operations of the row code that a condition, and the block behind it, asks for."""
    read = [pattern.rows.results[bit]] if bit >= 0 else []
    return read + [pattern.rows.results[pattern.bits + slot] for slot in _slots(pattern, block)]


def _slots(pattern: Pattern, block: int) -> Iterator[int]:
    """The values of the current row that a block reads."""
    if block < 0:
        return
    code = pattern.scalar
    start, end = code.blocks[block]
    for at in range(start, end):
        yield from (word // SPACES for word in words_read(code, at) if word % SPACES == Space.SLOT)


class _Distances:
    """How many rows of a match stand, at the least, before a row of each variable and behind it."""

    def __init__(self, pattern: RowPattern) -> None:
        nfa, variables = pattern.nfa, len(pattern.variables)
        count = len(nfa.first) - 1
        transitions = [(state, *transition) for state in range(count) for transition in nfa.transitions_of(state)]
        rows = [transition for transition in transitions if transition[1] >= 0]
        accepting = {state for state, *transition in transitions if tuple(transition) in (ACCEPT, ACCEPT_AT_END)}
        ends = set(range(count)) if pattern.timeouts else accepting  # the window may end in any state
        into = _spread({nfa.start, nfa.start_of_partition}, [(state, target) for state, _, target in rows], count)
        out = _spread(ends, [(target, state) for state, _, target in rows], count)
        self._before = [min((into[s] for s, v, _ in rows if v == variable), default=FAR) for variable in range(variables)]
        self._behind = [min((out[t] for _, v, t in rows if v == variable), default=FAR) for variable in range(variables)]

    def outside(self, members: tuple[int, ...] | None, low: int, high: int, earlier: int = 0, later: int = 0) -> LookAround:
        """`low` and `high` are counted from a row of `members` (None: any row); `earlier` and `later` rows more stand around it."""
        before = 0 if members is None else min(self._before[member] for member in members)
        behind = 0 if members is None else min(self._behind[member] for member in members)
        return LookAround(max(0, -low - before - earlier), max(0, high - behind - later))

    def outside_point(self, point: Point, members: tuple[int, ...] | None) -> LookAround:
        first = point.anchor == "FIRST"
        return self.outside(members, point.shift, point.shift, point.offset if first else 0, 0 if first else point.offset)


def _spread(starts: set[int], edges: list[tuple[int, int]], count: int) -> list[int]:
    """The number of edges on the shortest way from one of `starts` to each state."""
    following: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        following[source].append(target)
    distance = [FAR] * count
    front = list(starts)
    steps = 0
    while front:
        reached = [state for state in dict.fromkeys(front) if distance[state] == FAR]
        for state in reached:
            distance[state] = steps
        front = [target for state in reached for target in following[state]]
        steps += 1
    return distance
