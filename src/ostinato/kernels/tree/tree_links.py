"""Events linked by type and value: from each row to the latest row, itself included, that has a predicate bit (`links`), and from each
event to the one before it with the same value (`chains`; the latest of each value are the `heads`, a hash table)."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, jit
from ostinato.kernels.tree.tree_layout import (
    CHAIN_BIT,
    CHAIN_BY,
    HEAD_CHAIN,
    HEAD_KEY,
    HEAD_ORDINAL,
    HEAD_VALUE,
    NOTHING,
)


@borrowing
def head_place(heads, key, chain, value):
    """Where the head is, or would be."""
    mask = len(heads) - 1
    mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key) * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(chain)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    place = np.int64(mixed >> np.uint64(32)) & mask
    while heads[place, HEAD_ORDINAL] != NOTHING:
        if heads[place, HEAD_VALUE] == value and heads[place, HEAD_KEY] == key and heads[place, HEAD_CHAIN] == chain:
            break
        place = (place + 1) & mask
    return place


@borrowing
def link_row(row, ordinal, key, bits, slots, slot_valid, link_bits, chain_of, before, seen, links, chains, heads, held):
    """Note a row; `before` are the links of the row before it, and become its own; `seen` counts
    events by their bits. Returns how many heads there are."""
    word = bits[row]
    for i in range(len(link_bits)):
        if (word >> link_bits[i]) & 1:
            before[key, i] = ordinal
            seen[i] += 1
        links[row, i] = before[key, i]
    for i in range(len(chain_of)):
        bit, slot = chain_of[i, CHAIN_BIT], chain_of[i, CHAIN_BY]
        chains[row, i] = NOTHING
        if (bit < 0 or (word >> bit) & 1) and slot_valid[row, slot] == 1:
            value = slots[row, slot]
            place = head_place(heads, key, i, value)
            if heads[place, HEAD_ORDINAL] == NOTHING:
                heads[place, HEAD_KEY], heads[place, HEAD_CHAIN], heads[place, HEAD_VALUE] = key, i, value
                held += 1
            else:
                chains[row, i] = heads[place, HEAD_ORDINAL]
            heads[place, HEAD_ORDINAL] = ordinal
    return held


@jit("void(int64[:,::1], int64[:,::1], int64[::1])")
def move_heads(old, new, base):
    """Into a larger table, those of events that are still held."""
    for i in range(len(old)):
        ordinal = old[i, HEAD_ORDINAL]
        if ordinal != NOTHING and ordinal >= base[old[i, HEAD_KEY]]:
            place = head_place(new, old[i, HEAD_KEY], old[i, HEAD_CHAIN], old[i, HEAD_VALUE])
            for column in range(4):
                new[place, column] = old[i, column]
