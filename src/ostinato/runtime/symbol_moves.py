"""What an event does to partial matches, by its symbol: worked out when a symbol is met for the first time."""

from __future__ import annotations

import numpy as np

from ostinato.kernels import compact as kernel
from ostinato.program.program import Begin, Component, Program
from ostinato.runtime.row_symbols import RowSymbols

NO_WINDOW = np.iinfo(np.int64).max
START = -1  # the source of moves that start a match


class SymbolMoves:
    """The tables `symbols` and `moves` of `kernels.compact`, and the symbols themselves."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._first_only = program.output in ("first", "successive")  # a start has one match at a time
        self._stops = program.output == "first"
        tests = {bit for c in program.components for bit in (c.first_bit, c.later_bit) if bit >= 0}
        self.symbols = RowSymbols(tests)
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
        for state in reversed(range(len(self._program.components))):
            targets = self._targets(chosen, state)
            stays = self._passes(chosen, state, targets)
            acts |= (1 << state) if targets or not stays else 0
            passes |= (1 << state) if stays else 0
            self._add(state, targets)
        starts = self._entries(chosen)
        self._add(START, starts)
        self.most_moves = max(self.most_moves, self._used - first)
        self.table[number] = first, self._used, acts, passes, bool(starts)

    def _add(self, source: int, targets: list[int]) -> None:
        for target in targets:
            if self._used == len(self.moves):
                self.moves = np.concatenate([self.moves, np.zeros_like(self.moves)])
            component = self._program.components[target]
            goes_on = can_go_on(component) and not (component.completes and self._stops)
            self.moves[self._used] = source, target, component.completes, goes_on
            self._used += 1

    def _targets(self, symbol: int, state: int) -> list[int]:
        """The components that the event may be bound to, a take last; of a deterministic match only the preferred one."""
        component = self._program.components[state]
        take = [state] if component.repeats and holds(symbol, component.later_bit) else []
        begins = [begin.target for begin in component.begins if self._begins(symbol, begin)]
        return (take + begins)[:1] if self._first_only else begins + take

    def _entries(self, symbol: int) -> list[int]:
        begins = [begin.target for begin in self._program.entries if self._begins(symbol, begin)]
        return begins[:1] if self._first_only else begins

    def _begins(self, symbol: int, begin: Begin) -> bool:
        return holds(symbol, self._program.components[begin.target].first_bit)

    def _passes(self, symbol: int, state: int, targets: list[int]) -> bool:
        """Whether a partial match may ignore the event."""
        if self._program.selection == "skip_till_any_match":
            return True
        if self._program.selection != "skip_till_next_match" or (self._first_only and targets):
            return False
        component = self._program.components[state]
        if component.repeats:
            return state not in targets
        return not any(begin.nearest and self._begins(symbol, begin) for begin in component.begins)


def holds(symbol: int, bit: int) -> bool:
    return bit < 0 or bool(symbol >> bit & 1)


def can_go_on(component: Component) -> bool:
    return component.repeats or bool(component.begins)


def match_settings(program: Program, mask: int) -> np.ndarray:
    settings = np.zeros(kernel.SETTING_CELLS, np.int64)
    settings[kernel.MASK] = mask
    by_events = program.within_unit == "events"
    settings[kernel.SPAN] = NO_WINDOW if program.within < 0 else program.within - by_events
    settings[kernel.BY_TIME] = program.within >= 0 and not by_events
    settings[kernel.STRICT] = program.selection == "strict_contiguity"
    settings[kernel.NONOVERLAPPING] = program.output == "nonoverlapping"
    return settings
