"""Events linked by type and value: from each row to the latest row, itself included, that has a predicate bit (`links`), and from each
event to the one before it with the same value (`chains`; the latest of each value are the `heads`, a hash table with a line per value,
since one look at it costs more than everything else that is done with a row)."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined, jit
from ostinato.kernels.tree.tree_layout import (
    CHAIN_AT,
    CHAIN_BIT,
    CHAIN_BY,
    HEAD_EVENTS,
    HEAD_KEY,
    HEAD_SLOT,
    HEAD_VALUE,
    NOTHING,
)


@inlined
def head_place(heads, key, slot, value):
    """Where the heads of a value are, or would be."""
    mask = len(heads) - 1
    mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key) * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(slot)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    place = np.int64(mixed >> np.uint64(32)) & mask
    while heads[place, HEAD_SLOT] != 0:
        if heads[place, HEAD_VALUE] == value and heads[place, HEAD_KEY] == key and heads[place, HEAD_SLOT] == slot + 1:
            break
        place = (place + 1) & mask
    return place


@inlined
def link_row(row, ordinal, key, bits, slots, slot_valid, link_bits, chain_of, before, links, chains, heads, held):
    """Note a row; `before` are the links of the row before it, and become its own. Behind the links, where there is room for them, stands
    how many events each has seen. Returns how many values have heads. A chain has nothing to say about rows that are not its events, and
    they are left as they are."""
    word = bits[row]
    count = len(link_bits)
    numbered = links.shape[1] >= 2 * count
    for i in range(count):
        if (word >> link_bits[i]) & 1:
            before[key, i] = ordinal
            if numbered:
                before[key, count + i] += 1
        links[row, i] = before[key, i]
        if numbered:
            links[row, count + i] = before[key, count + i]
    slot, place = np.int64(-1), np.int64(0)
    for i in range(len(chain_of)):
        bit, by = chain_of[i, CHAIN_BIT], chain_of[i, CHAIN_BY]
        if (bit < 0 or (word >> bit) & 1) and slot_valid[row, by] == 1:
            if by != slot:
                slot, place = by, head_place(heads, key, by, slots[row, by])
            if heads[place, HEAD_SLOT] == 0:
                heads[place, HEAD_KEY], heads[place, HEAD_SLOT], heads[place, HEAD_VALUE] = key, slot + 1, slots[row, slot]
                for column in range(HEAD_EVENTS, heads.shape[1]):
                    heads[place, column] = NOTHING
                held += 1
            chains[row, chain_of[i, CHAIN_AT]] = heads[place, HEAD_EVENTS + i]
            heads[place, HEAD_EVENTS + i] = ordinal
    return held


@borrowing
def link_to_trigger(
    ready, key, to_arena, mask, bits, slots, slot_valid, link_bits, chain_of, before, links, chains, heads, held, linked
):  # fmt: skip
    """Note rows up to the first that may complete a match, or until there is no room for heads; returns how many values have them."""
    ordinal, is_trigger = linked[key], False
    while ordinal < ready and not is_trigger and 2 * (held + len(chain_of)) <= len(heads):
        row = ordinal + to_arena
        is_trigger = mask < 0 or bits[row] & mask != 0
        held = link_row(row, ordinal, key, bits, slots, slot_valid, link_bits, chain_of, before, links, chains, heads, held)
        ordinal += 1
    linked[key] = ordinal
    return held


@borrowing
def is_needed(line, heads, base):
    """Whether a value has events that are still held."""
    if heads[line, HEAD_SLOT] == 0:
        return False
    latest = NOTHING
    for column in range(HEAD_EVENTS, heads.shape[1]):
        latest = max(latest, heads[line, column])
    return latest >= base[heads[line, HEAD_KEY]]


@jit("int64(int64[:,::1], int64[::1])")
def count_heads(heads, base):
    """How many values have events that are still held."""
    found = 0
    for line in range(len(heads)):
        found += is_needed(line, heads, base)
    return found


@jit("void(int64[:,::1], int64[:,::1], int64[::1])")
def move_heads(old, new, base):
    """Into a larger table, those of events that are still held."""
    for line in range(len(old)):
        if is_needed(line, old, base):
            place = head_place(new, old[line, HEAD_KEY], old[line, HEAD_SLOT] - 1, old[line, HEAD_VALUE])
            for column in range(old.shape[1]):
                new[place, column] = old[line, column]
