"""The predicate bits of a row as a small number, so that what follows is a look-up in a table."""

from __future__ import annotations

from ostinato.kernels._jit import inlined

UNKNOWN = -1


@inlined
def slot_of(bits, last):
    return (bits ^ (bits >> 11) ^ (bits >> 27)) & last


@inlined
def symbol_of(bits, mask, direct, slot_bits, slot_numbers):
    """The number that this set of bits was given, UNKNOWN if it is new. `direct` is indexed by the bits themselves; where they are too
    many it is empty, and the slots are a hash table."""
    chosen = bits & mask
    if len(direct) > 0:
        return direct[chosen]
    last = len(slot_bits) - 1
    at = slot_of(chosen, last)
    while slot_numbers[at] != UNKNOWN and slot_bits[at] != chosen:
        at = (at + 1) & last
    return slot_numbers[at]
