"""The sets of predicate bits that occur in a stream, numbered as they are met."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.rows.symbols import UNKNOWN

DIRECT_BITS = 16  # up to here the bits themselves are the index of a table
FIRST_SLOTS = 64


class RowSymbols:
    """See `kernels.rows.symbols.symbol_of` for the arrays."""

    def __init__(self, bits: set[int]) -> None:
        """`bits` are the numbers of the predicates that matter."""
        self.mask = int(np.array([sum(1 << bit for bit in bits)], np.uint64).view(np.int64)[0])
        few = 0 <= self.mask < 1 << DIRECT_BITS
        self.direct = np.full(self.mask + 1 if few else 0, UNKNOWN, np.int32)
        self.slot_bits = np.zeros(0 if few else FIRST_SLOTS, np.int64)
        self.slot_numbers = np.full(0 if few else FIRST_SLOTS, UNKNOWN, np.int32)
        self.known: list[int] = []

    def __len__(self) -> int:
        return len(self.known)

    def add(self, bits: int) -> int:
        """The relevant part of a set of bits, which was met for the first time, and gets the next number."""
        chosen = bits & self.mask
        self.known.append(chosen)
        if len(self.direct):
            self.direct[chosen] = len(self.known) - 1
        else:
            if 2 * len(self.known) > len(self.slot_bits):
                self.slot_bits = np.zeros(2 * len(self.slot_bits), np.int64)
                self.slot_numbers = np.full(len(self.slot_bits), UNKNOWN, np.int32)
                for number, symbol in enumerate(self.known[:-1]):
                    self._place(symbol, number)
            self._place(chosen, len(self.known) - 1)
        return chosen

    def _place(self, symbol: int, number: int) -> None:
        last = len(self.slot_bits) - 1
        at = (symbol ^ (symbol >> 11) ^ (symbol >> 27)) & last  # as in the kernel
        while self.slot_numbers[at] != UNKNOWN:
            at = (at + 1) & last
        self.slot_bits[at] = symbol
        self.slot_numbers[at] = number
