"""What an event does to partial matches, by its symbol: worked out when a symbol is met for the first time."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.compact import compact as kernel
from ostinato.program.pattern import EventPattern
from ostinato.runtime.compact.event_moves import EventMoves, Move
from ostinato.runtime.rows.row_symbols import RowSymbols

NO_WINDOW = np.iinfo(np.int64).max


class SymbolMoves:
    """The tables `symbols` and `moves` of `kernels.compact.compact`, and the symbols themselves."""

    def __init__(self, pattern: EventPattern) -> None:
        self._events = EventMoves(pattern)
        self.symbols = RowSymbols(self._events.bits)
        self.table = np.zeros((16, kernel.SYMBOL_COLUMNS), np.int64)
        self.moves = np.zeros((64, kernel.MOVE_COLUMNS), np.int64)
        self._used = 0
        self.most_moves = 1  # of any symbol

    def learn(self, bits: int) -> None:
        """A symbol that was not met before."""
        chosen = self.symbols.add(bits)
        number = len(self.symbols) - 1
        if number == len(self.table):
            self.table = np.concatenate([self.table, np.zeros_like(self.table)])
        acts = passes = 0
        first = self._used
        for state in self._events.states:
            moves, stays = self._events.moves(chosen, state)
            acts |= (1 << state) if moves or not stays else 0
            passes |= (1 << state) if stays else 0
            self._add(moves)
        starts = self._events.starts(chosen)
        self._add(starts)
        self.most_moves = max(self.most_moves, self._used - first)
        self.table[number] = first, self._used, acts, passes, bool(starts)

    @property
    def states(self) -> int:
        return len(self._events.all_states)

    def _add(self, moves: list[Move]) -> None:
        for move in moves:
            if self._used == len(self.moves):
                self.moves = np.concatenate([self.moves, np.zeros_like(self.moves)])
            self.moves[self._used] = move.source, move.target, move.component, move.completes, move.goes_on
            self._used += 1


def window_span(pattern: EventPattern) -> int:
    """How far a start may lie before the current event, in time or in events of the partition."""
    return int(NO_WINDOW) if pattern.within < 0 else pattern.within - (pattern.within_unit == "events")


def counts_time(pattern: EventPattern) -> bool:
    return pattern.within >= 0 and pattern.within_unit != "events"


def match_settings(pattern: EventPattern, mask: int) -> np.ndarray:
    settings = np.zeros(kernel.SETTING_CELLS, np.int64)
    settings[kernel.MASK] = mask
    settings[kernel.SPAN] = window_span(pattern)
    settings[kernel.BY_TIME] = counts_time(pattern)
    settings[kernel.STRICT] = pattern.selection == "strict_contiguity"
    settings[kernel.NONOVERLAPPING] = pattern.output == "nonoverlapping"
    return settings
