"""The automaton that reads rows backwards and tells where a match may start, made as it is needed.

A state is the set of those states of the pattern's automaton from which the rows behind can complete a match, as the bits of a
number. See `kernels.scan.scan_starts`."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.scan.scan_dfa import UNKNOWN
from ostinato.kernels.scan.scan_starts import ANYTHING
from ostinato.program.ordered_nfa import ACCEPT, OrderedNfa

MOST_NFA_STATES = 128
MOST_STATES = 256


class BackwardDfa:
    """`table` is empty where marking is of no use (a match may be empty, so that every row starts one) or would take too many states.
    `width` is that of the forward automaton; 0 if rows have no small symbols."""

    def __init__(self, nfa: OrderedNfa, masks: np.ndarray, width: int) -> None:
        self._width = width
        self._masks = [int(mask) for mask in masks]
        self._transitions = [nfa.transitions_of(s) for s in range(len(nfa.first) - 1)]
        self._start = nfa.start
        self._accepting = sum(
            1 << s for s, transitions in enumerate(self._transitions) if ACCEPT in transitions
        )  # before a row no partition ends
        self._sets: list[int] = []
        self._numbers: dict[int, int] = {}
        self.table = np.empty(0, np.int32)
        if width and len(self._transitions) <= MOST_NFA_STATES and not self._accepting >> nfa.start & 1:
            self.table = np.full(16 * width, UNKNOWN, np.int32)
            assert self._number((1 << len(self._transitions)) - 1) == ANYTHING

    def learn(self, state: int, bits: int) -> None:
        """Fill in the transition of a state for a row with these bits."""
        before = self._before(self._sets[state], bits)
        target = self._number(before)
        if target == MOST_STATES:
            self.table = np.empty(0, np.int32)
            return
        self.table[state * self._width + (bits & (self._width - 1))] = 2 * target * self._width + (before >> self._start & 1)

    def _before(self, completing: int, bits: int) -> int:
        """The states from which a row with these bits leads to one of `completing`, or which accept without it."""
        states = self._accepting
        for state, transitions in enumerate(self._transitions):
            for variable, target in transitions:
                if variable >= 0 and completing >> target & 1 and bits & self._masks[variable] == self._masks[variable]:
                    states |= 1 << state
                    break
        return states

    def _number(self, states: int) -> int:
        known = self._numbers.get(states)
        if known is not None:
            return known
        number = self._numbers[states] = len(self._sets)
        self._sets.append(states)
        if number * self._width == len(self.table):
            self.table = np.concatenate([self.table, np.full_like(self.table, UNKNOWN)])
        return number
