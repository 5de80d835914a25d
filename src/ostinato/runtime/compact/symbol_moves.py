"""What an event does to partial matches, by its symbol: worked out when a symbol is met for the first time."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.compact import compact as kernel
from ostinato.program.program import Program
from ostinato.runtime.compact.event_moves import EventMoves, Move
from ostinato.runtime.rows.row_symbols import RowSymbols

NO_WINDOW = np.iinfo(np.int64).max


class SymbolMoves:
    """The tables `symbols` and `moves` of `kernels.compact.compact`, and the symbols themselves."""

    def __init__(self, program: Program) -> None:
        self._events = EventMoves(program)
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


def window_span(program: Program) -> int:
    """How far a start may lie before the current event, in time or in events of the partition."""
    return int(NO_WINDOW) if program.within < 0 else program.within - (program.within_unit == "events")


def counts_time(program: Program) -> bool:
    return program.within >= 0 and program.within_unit != "events"


def match_settings(program: Program, mask: int) -> np.ndarray:
    settings = np.zeros(kernel.SETTING_CELLS, np.int64)
    settings[kernel.MASK] = mask
    settings[kernel.SPAN] = window_span(program)
    settings[kernel.BY_TIME] = counts_time(program)
    settings[kernel.STRICT] = program.selection == "strict_contiguity"
    settings[kernel.NONOVERLAPPING] = program.output == "nonoverlapping"
    return settings
