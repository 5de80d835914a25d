"""What an event does to the tallies of partial matches, by its symbol, and the lanes that a query needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.expr.typing.types import Kind
from ostinato.kernels.tally import tally as kernel
from ostinato.kernels.tally import tally_cells as cells
from ostinato.kernels.tally import tally_window as window
from ostinato.program.measure_code import MatchAggregate
from ostinato.program.pattern import EventPattern
from ostinato.runtime.compact.event_moves import START, UNBOUND, EventMoves, Move
from ostinato.runtime.compact.symbol_moves import counts_time, window_span
from ostinato.runtime.rows.row_symbols import RowSymbols


@dataclass(frozen=True)
class Lane:
    """A word of the cells: `kind` as in `kernels.tally.tally_cells`, the component whose events count, the row value that is taken (-1: one
    for each event, or for each that has a value where `counted` says so)."""

    kind: int
    component: int
    value: int
    counted: int = -1


class LanePlan:
    """Which lanes the aggregates of a program need; lane 0 is the number of matches."""

    def __init__(self, pattern: EventPattern) -> None:
        self._component_of = {component.variable: number for number, component in enumerate(pattern.components)}
        self._types = [pattern.measures.rows.ops[result].type for result in pattern.measures.rows.results]
        self.lanes: list[Lane] = [Lane(cells.COUNT, -1, -1)]
        self.of_aggregate = [self._lanes_of(spec) for spec in pattern.measures.aggregates] if pattern.output == "aggregates" else []

    def _lanes_of(self, spec: MatchAggregate) -> tuple[int, int]:
        """The lanes of the value and of how many events have one; (0, 0) counts matches."""
        if spec.variable < 0 and spec.value < 0:
            return 0, 0
        component = self._component_of.get(spec.variable, -1)
        counter = self._number(Lane(cells.SUM_INT, component, -1, spec.value))
        if spec.function == "count":
            return counter, counter
        floats = self._types[spec.value].kind is Kind.FLOAT or spec.function == "avg"
        kinds = {"sum": (cells.SUM_INT, cells.SUM_FLOAT), "min": (cells.LEAST_INT, cells.LEAST_FLOAT)}
        kinds |= {"max": (cells.GREATEST_INT, cells.GREATEST_FLOAT), "avg": (cells.SUM_INT, cells.SUM_FLOAT)}
        return self._number(Lane(kinds[spec.function][floats], component, spec.value)), counter

    def _number(self, lane: Lane) -> int:
        if lane not in self.lanes:
            self.lanes.append(lane)
        return self.lanes.index(lane)

    @property
    def table(self) -> np.ndarray:
        return np.array([(lane.kind, lane.component) for lane in self.lanes], np.int64).reshape(-1, cells.LANE_COLUMNS)


class SymbolOperations:
    """The tables `symbols` and `operations` of `kernels.tally.tally_window`."""

    def __init__(self, pattern: EventPattern, lanes: LanePlan) -> None:
        self._events = EventMoves(pattern)
        self.symbols = RowSymbols(self._events.bits)
        watched = {lane.component for lane in lanes.lanes[1:]}
        self._watched = set(range(len(pattern.components))) if -1 in watched else watched
        self.table = np.zeros((16, window.SYMBOL_COLUMNS), np.int64)
        self.operations = np.zeros((64, window.OPERATION_COLUMNS), np.int64)
        self._used = 0

    def learn(self, bits: int) -> None:
        chosen = self.symbols.add(bits)
        number = len(self.symbols) - 1
        if number == len(self.table):
            self.table = np.concatenate([self.table, np.zeros_like(self.table)])
        first, acts, changes = self._used, 0, False
        for state in self._events.states:
            own = self._of_state(chosen, state)
            acts |= (1 << state) if own else 0
            for operation in own:
                changes |= self._add(*operation)
        starts = self._events.starts(chosen)
        for move in starts:
            changes |= self._add(window.START, move)
        self.table[number] = first, self._used, acts, bool(starts), changes

    @property
    def states(self) -> int:
        return len(self._events.all_states)

    def _of_state(self, symbol: int, state: int) -> list[tuple[int, Move]]:
        """What becomes of those that wait there comes last."""
        moves, stays = self._events.moves(symbol, state)
        found = [(window.SHIFT if move.component == UNBOUND else window.MOVE, move) for move in moves if move.target != state]
        if found and found[-1][0] == window.SHIFT:
            return found
        back = next((move for move in moves if move.target == state), None)
        if back is not None:
            found.append((window.COPY if stays else window.TAKE, back))
        elif not stays:
            component = self._events.all_states[state].component
            found.append((window.END, Move(state, state, component, completes=False, goes_on=False)))
        return found

    def _add(self, what: int, move: Move) -> bool:
        """Returns whether the operation changes anything but what is complete."""
        if self._used == len(self.operations):
            self.operations = np.concatenate([self.operations, np.zeros_like(self.operations)])
        source = 0 if move.source == START else move.source
        self.operations[self._used] = what, source, move.target, move.completes, move.goes_on, move.component
        self._used += 1
        return move.goes_on if what in (window.MOVE, window.START) else what != window.TAKE or move.component in self._watched


def tally_settings(pattern: EventPattern, mask: int, states: int) -> np.ndarray:
    settings = np.zeros(kernel.SETTING_CELLS, np.int64)
    settings[kernel.MASK] = mask
    settings[kernel.SPAN] = window_span(pattern)
    settings[kernel.BY_TIME] = counts_time(pattern)
    settings[kernel.STRICT] = pattern.selection == "strict_contiguity"
    settings[kernel.WINDOWED] = pattern.within >= 0
    settings[kernel.STATES] = states
    return settings
