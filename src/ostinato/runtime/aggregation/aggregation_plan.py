"""What an event does to the aggregations of partial matches, by its symbol, and the accumulators that a query needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.expr.types import Kind
from ostinato.kernels.aggregation import aggregation as kernel
from ostinato.kernels.aggregation import aggregation_cells as cells
from ostinato.kernels.aggregation import aggregation_window as window
from ostinato.program.measure_code import MatchAggregate
from ostinato.program.pattern import EventPattern
from ostinato.runtime.compact.event_transitions import START, UNBOUND, EventTransitions, StateTransition
from ostinato.runtime.compact.symbol_transitions import counts_time, window_span
from ostinato.runtime.rows.row_symbols import RowSymbols


@dataclass(frozen=True)
class Accumulator:
    """A word of the cells: `kind` as in `kernels.aggregation.aggregation_cells`, the element whose events count, the row value that is
    taken (-1: one for each event, or for each that has a value where `counted` says so)."""

    kind: int
    element: int
    value: int
    counted: int = -1


class AccumulatorPlan:
    """Which accumulators the aggregates of a program need; accumulator 0 is the number of matches."""

    def __init__(self, pattern: EventPattern) -> None:
        self._element_of = {element.variable: number for number, element in enumerate(pattern.elements)}
        self._types = [pattern.measures.rows.ops[result].type for result in pattern.measures.rows.results]
        self.accumulators: list[Accumulator] = [Accumulator(cells.COUNT, -1, -1)]
        self.of_aggregate = [self._accumulators_of(spec) for spec in pattern.measures.aggregates] if pattern.output == "aggregates" else []

    def _accumulators_of(self, spec: MatchAggregate) -> tuple[int, int]:
        """The accumulators of the value and of how many events have one; (0, 0) counts matches."""
        if spec.variable < 0 and spec.value < 0:
            return 0, 0
        element = self._element_of.get(spec.variable, -1)
        counter = self._number(Accumulator(cells.SUM_INT, element, -1, spec.value))
        if spec.function == "count":
            return counter, counter
        floats = self._types[spec.value].kind is Kind.FLOAT or spec.function == "avg"
        kinds = {"sum": (cells.SUM_INT, cells.SUM_FLOAT), "min": (cells.LEAST_INT, cells.LEAST_FLOAT)}
        kinds |= {"max": (cells.GREATEST_INT, cells.GREATEST_FLOAT), "avg": (cells.SUM_INT, cells.SUM_FLOAT)}
        return self._number(Accumulator(kinds[spec.function][floats], element, spec.value)), counter

    def _number(self, accumulator: Accumulator) -> int:
        if accumulator not in self.accumulators:
            self.accumulators.append(accumulator)
        return self.accumulators.index(accumulator)

    @property
    def table(self) -> np.ndarray:
        return np.array([(accumulator.kind, accumulator.element) for accumulator in self.accumulators], np.int64).reshape(
            -1, cells.ACCUMULATOR_COLUMNS
        )


class SymbolOperations:
    """The tables `symbols` and `operations` of `kernels.aggregation.aggregation_window`."""

    def __init__(self, pattern: EventPattern, accumulators: AccumulatorPlan) -> None:
        self._events = EventTransitions(pattern)
        self.symbols = RowSymbols(self._events.bits)
        watched = {accumulator.element for accumulator in accumulators.accumulators[1:]}
        self._watched = set(range(len(pattern.elements))) if -1 in watched else watched
        self.table = np.zeros((16, window.SYMBOL_COLUMNS), np.int64)
        self.operations = np.zeros((64, window.OPERATION_COLUMNS), np.int64)
        self._used = 0
        if self._events.by_epoch:
            self.learn(1 << self._events.epoch_bit)  # is kernel.EPOCH_SYMBOL, the first

    @property
    def fresh_states(self) -> int:
        return self._events.fresh_states

    @property
    def alone(self) -> int:
        return self._events.alone

    def meet(self, bits: int) -> None:
        """An event of a new kind, whether it is alone or not."""
        for one in dict.fromkeys((bits, bits | self.alone)):
            if one & self.symbols.mask not in self.symbols.known:
                self.learn(one)

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
        for transition in starts:
            changes |= self._add(window.START, transition)
        self.table[number] = first, self._used, acts, bool(starts), changes

    @property
    def states(self) -> int:
        return len(self._events.all_states)

    def _of_state(self, symbol: int, state: int) -> list[tuple[int, StateTransition]]:
        """What becomes of those that wait there comes last."""
        transitions, stays = self._events.transitions(symbol, state)
        found = [
            (window.SHIFT if transition.element == UNBOUND else window.MOVE, transition)
            for transition in transitions
            if transition.target != state
        ]
        if found and found[-1][0] == window.SHIFT:
            return found
        back = next((transition for transition in transitions if transition.target == state), None)
        if back is not None:
            found.append((window.COPY if stays else window.TAKE, back))
        elif not stays:
            element = self._events.all_states[state].element
            found.append((window.END, StateTransition(state, state, element, completes=False, continues=False)))
        return found

    def _add(self, what: int, transition: StateTransition) -> bool:
        """Returns whether the operation changes anything but what is complete."""
        if self._used == len(self.operations):
            self.operations = np.concatenate([self.operations, np.zeros_like(self.operations)])
        source = 0 if transition.source == START else transition.source
        self.operations[self._used] = what, source, transition.target, transition.completes, transition.continues, transition.element
        self._used += 1
        return transition.continues if what in (window.MOVE, window.START) else what != window.TAKE or transition.element in self._watched


def aggregation_settings(pattern: EventPattern, operations: SymbolOperations) -> np.ndarray:
    settings = np.zeros(kernel.SETTING_CELLS, np.int64)
    settings[kernel.MASK] = operations.symbols.mask
    settings[kernel.SPAN] = window_span(pattern)
    settings[kernel.BY_TIME] = counts_time(pattern)
    settings[kernel.STRICT] = pattern.selection == "strict_contiguity"
    settings[kernel.WINDOWED] = pattern.within >= 0
    settings[kernel.STATES] = operations.states
    settings[kernel.FRESH] = operations.fresh_states
    settings[kernel.ALONE] = operations.alone
    return settings
