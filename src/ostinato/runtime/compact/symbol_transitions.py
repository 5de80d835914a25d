"""What an event does to partial matches, by its symbol: worked out when a symbol is met for the first time."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.compact import compact as kernel
from ostinato.program.pattern import EventPattern
from ostinato.runtime.compact.event_transitions import EventTransitions, StateTransition
from ostinato.runtime.rows.row_symbols import RowSymbols

NO_WINDOW = np.iinfo(np.int64).max


class SymbolTransitions:
    """The tables `symbols` and `transitions` of `kernels.compact.compact`, and the symbols themselves."""

    def __init__(self, pattern: EventPattern) -> None:
        self._events = EventTransitions(pattern)
        self.symbols = RowSymbols(self._events.bits)
        self.table = np.zeros((16, kernel.SYMBOL_COLUMNS), np.int64)
        self.transitions = np.zeros((64, kernel.TRANSITION_COLUMNS), np.int64)
        self._used = 0
        self.most_transitions = 1  # of any symbol
        if self._events.by_epoch:
            self.learn(1 << self._events.epoch_bit)  # is kernel.EPOCH_SYMBOL, the first

    def meet(self, bits: int) -> None:
        """An event of a new kind, whether it is alone at its time or not."""
        for one in dict.fromkeys((bits, bits | self._events.alone)):
            if one & self.symbols.mask not in self.symbols.known:
                self.learn(one)

    def learn(self, bits: int) -> None:
        """A symbol that was not met before."""
        chosen = self.symbols.add(bits)
        number = len(self.symbols) - 1
        if number == len(self.table):
            self.table = np.concatenate([self.table, np.zeros_like(self.table)])
        acts = passes = 0
        first = self._used
        for state in self._events.states:
            transitions, stays = self._events.transitions(chosen, state)
            acts |= (1 << state) if transitions or not stays else 0
            passes |= (1 << state) if stays else 0
            self._add(transitions)
        starts = self._events.starts(chosen)
        self._add(starts)
        self.most_transitions = max(self.most_transitions, self._used - first)
        self.table[number] = first, self._used, acts, passes, bool(starts)

    @property
    def states(self) -> int:
        return len(self._events.all_states)

    def settings(self, pattern: EventPattern) -> np.ndarray:
        settings = np.zeros(kernel.SETTING_CELLS, np.int64)
        settings[kernel.MASK] = self.symbols.mask
        settings[kernel.SPAN] = window_span(pattern)
        settings[kernel.BY_TIME] = counts_time(pattern)
        settings[kernel.STRICT] = pattern.selection == "strict_contiguity"
        settings[kernel.NONOVERLAPPING] = pattern.output == "nonoverlapping"
        settings[kernel.FRESH], settings[kernel.ALONE] = self._events.fresh_states, self._events.alone
        return settings

    def _add(self, transitions: list[StateTransition]) -> None:
        for transition in transitions:
            if self._used == len(self.transitions):
                self.transitions = np.concatenate([self.transitions, np.zeros_like(self.transitions)])
            self.transitions[self._used] = (
                transition.source,
                transition.target,
                transition.element,
                transition.completes,
                transition.continues,
            )
            self._used += 1


def window_span(pattern: EventPattern) -> int:
    """How far a start may lie before the current event, in time or in events of the partition."""
    return int(NO_WINDOW) if pattern.within < 0 else pattern.within - (pattern.within_unit == "events")


def counts_time(pattern: EventPattern) -> bool:
    return pattern.within >= 0 and pattern.within_unit != "events"
