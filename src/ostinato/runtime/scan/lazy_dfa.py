"""The leftmost-first automaton over row symbols, made as it is needed.

A state is the ordered list of the NFA states that an attempt may be in, best first, cut behind the first that accepts: what comes
after it could only lead to a match that is less preferred. One that accepts at the end of a partition only does not cut: it counts
once the partition has ended."""

from __future__ import annotations

import numpy as np

from ostinato.base.errors import BudgetError
from ostinato.kernels.scan.scan_dfa import ACCEPTS, ACCEPTS_AT_END, CLOSED, DEAD, INITIAL, UNKNOWN
from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END, OrderedNfa

DIRECT_BITS = 8  # up to so many predicates the bits of a row are its symbol
MAX_CELLS = 1 << 24  # of the transition table


def accepting_flag(nfa: OrderedNfa, state: int) -> int:
    """Whether and where a state of the NFA accepts."""
    return sum({ACCEPT: ACCEPTS, ACCEPT_AT_END: ACCEPTS_AT_END}.get(transition, 0) for transition in nfa.transitions_of(state)[-1:])


class LazyDfa:
    def __init__(self, nfa: OrderedNfa, masks: np.ndarray) -> None:
        self._transitions = [nfa.transitions_of(s) for s in range(len(nfa.first) - 1)]
        self._masks = [int(mask) for mask in masks]
        self.mask = np.uint64(np.bitwise_or.reduce(masks)) if len(masks) else np.uint64(0)
        self._start, self._start_of_partition = nfa.start, nfa.start_of_partition
        self.direct = int(self.mask) < 1 << DIRECT_BITS
        self.width = int(self.mask) + 1 if self.direct else 16
        slots = 0 if self.direct else 64
        self.symbols: dict[int, int] = {}
        self.symbol_bits = np.zeros(slots, np.uint64)
        self.symbol_numbers = np.full(slots, -1, np.int32)
        self._restart()

    def _restart(self) -> None:
        self.states: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self.table = np.full(16 * self.width, UNKNOWN, np.int32)
        self.flags = np.zeros(16, np.uint8)
        assert self.number(()) == DEAD
        assert self.number((self._start,)) == INITIAL
        self.initial_of_partition = self.number((self._start_of_partition,))  # the same number after each restart

    def __len__(self) -> int:
        return len(self.states)

    def number(self, threads: tuple[int, ...]) -> int:
        """The state with these NFA states."""
        known = self._numbers.get(threads)
        if known is not None:
            return known
        number = len(self.states)
        if number == len(self.flags):
            self._resize(2 * number, self.width)
        self.states.append(threads)
        self._numbers[threads] = number
        transitions = [transition for thread in threads for transition in self._transitions[thread]]
        closed = all(transition == ACCEPT for transition in transitions)
        at_end = ACCEPTS_AT_END if ACCEPT_AT_END in transitions else 0
        self.flags[number] = (ACCEPTS if ACCEPT in transitions else 0) | (CLOSED if closed else 0) | at_end
        if closed:
            self.table[number * self.width : (number + 1) * self.width] = DEAD
        return number

    def learn(self, state: int, bits: int) -> None:
        """Fill in the transition of a state for a row with these bits."""
        bits &= int(self.mask)
        target = self.number(self._step(self.states[state], bits))
        symbol = bits if self.direct else self.symbols[bits]
        self.table[state * self.width + symbol] = self._entry(target)

    def _entry(self, state: int) -> int:
        return 2 * state * self.width + int(self.flags[state] & ACCEPTS)

    def _step(self, threads: tuple[int, ...], bits: int) -> tuple[int, ...]:
        following: dict[int, None] = {}
        for thread in threads:
            for variable, target in self._transitions[thread]:
                if variable < 0 or bits & self._masks[variable] != self._masks[variable] or target in following:
                    continue
                following[target] = None
                if self._accepts(target):
                    return tuple(following)
        return tuple(following)

    def _accepts(self, nfa_state: int) -> bool:
        transitions = self._transitions[nfa_state]
        return bool(transitions) and transitions[-1] == ACCEPT

    def add_symbol(self, bits: int) -> None:
        bits &= int(self.mask)
        number = len(self.symbols)
        if number == self.width:
            self._resize(len(self.flags), 2 * self.width)
        if 2 * (number + 1) > len(self.symbol_bits):
            self._rehash(2 * len(self.symbol_bits))
        self.symbols[bits] = number
        self._place(bits, number)

    def _rehash(self, slots: int) -> None:
        self.symbol_bits = np.zeros(slots, np.uint64)
        self.symbol_numbers = np.full(slots, -1, np.int32)
        for bits, number in self.symbols.items():
            self._place(bits, number)

    def _place(self, bits: int, number: int) -> None:
        last = len(self.symbol_bits) - 1
        at = (bits ^ (bits >> 11) ^ (bits >> 27)) & last  # as in the kernel
        while self.symbol_numbers[at] >= 0:
            at = (at + 1) & last
        self.symbol_bits[at] = bits
        self.symbol_numbers[at] = number

    def _resize(self, states: int, width: int) -> None:
        if states * width > 2 * MAX_CELLS:
            raise BudgetError(
                "the pattern needs too many automaton states",
                detail=f"{len(self.states)} states over {max(len(self.symbols), self.width)} kinds of rows were met.",
                hint="Use smaller bounds in {n,m}, or definitions that exclude each other.",
            )
        old = self.table.reshape(len(self.flags), self.width)
        table = np.full((states, width), UNKNOWN, np.int32)
        table[: len(old), : self.width] = np.where(old > 0, old // (2 * self.width) * (2 * width) + (old & 1), old)
        table[: len(self.states)][self.flags[: len(self.states)] & CLOSED != 0] = DEAD
        flags = np.zeros(states, np.uint8)
        flags[: len(self.flags)] = self.flags
        self.table, self.flags, self.width = table.reshape(-1), flags, width

    @property
    def crowded(self) -> bool:
        """Whether it is time to forget states that nobody is in."""
        return len(self.states) == len(self.flags) and 2 * len(self.table) > MAX_CELLS

    def keep(self, states: np.ndarray) -> np.ndarray:
        """Forget all other states; returns the new number of every old one (DEAD for those that are gone)."""
        kept = [(int(state), self.states[state]) for state in states]
        new = np.zeros(len(self.states), np.int64)
        self._restart()
        for old, threads in kept:
            new[old] = self.number(threads)
        return new
