"""What situations carry, brought up to date when somebody asks.

A situation knows which rows its registers have not taken in yet. They take them in when the situation is reported, and what is left of it
at the end of a call, because rows are let go then: what ends too soon, or is let go without a match, costs nothing. Rows are taken in one
after the other, whenever that is, so that sums are the same to the last bit."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.intervals.interval_layout import (
    BEHIND,
    BLOCK,
    BLOCK_END,
    COUNT,
    DONE,
    END,
    ERROR,
    FAILED,
    FOUND,
    FOUND_STARTS,
    HEAD,
    NOTHING,
    OPEN,
    READS,
    UNREAD,
)
from ostinato.kernels.scalar.scalar import evaluate


@borrowing
def take_in(
    definitions, code, scratch, scratch_valid, ranks, bits, slots, slot_valid, situations, registers, register_valid, header, definition,
    place, until,
):  # fmt: skip
    """The registers of a situation take in its rows before the row `until`."""
    reads = definitions[definition, READS]
    behind = min(situations[place, BEHIND], until)
    for row in range(situations[place, UNREAD], behind):
        if reads == 0 or bits[row] & reads != 0:
            status = evaluate(
                code, definitions[definition, BLOCK], definitions[definition, BLOCK_END], scratch, scratch_valid, ranks, slots, slot_valid,
                row, registers, register_valid, place, place,
            )  # fmt: skip
            if status < 0:
                header[ERROR] = status
                return FAILED
    situations[place, UNREAD] = max(situations[place, UNREAD], behind)
    return DONE


@inlined
def begin_rows(definitions, situations, regions, key, row):
    """Rows of a key come, from this one on, for what is open there."""
    count = len(definitions)
    for definition in range(count):
        region = key * count + definition
        last = regions[region, HEAD] + regions[region, COUNT] - 1
        if regions[region, COUNT] > 0 and situations[last, END] == OPEN:
            situations[last, UNREAD] = row


@borrowing
def take_in_found(
    definitions, code, scratch, scratch_valid, ranks, bits, slots, slot_valid, owners, situations, registers, register_valid, header,
    found, found_registers, found_valid, before, until,
):  # fmt: skip
    """The results from line `before` on were noted with registers that lag behind."""
    count = len(definitions)
    for line in range(before, header[FOUND]):
        for definition in range(count):
            place = found[FOUND_STARTS + count + definition, line]
            if definitions[definition, BLOCK] == NOTHING or situations[place, UNREAD] == NOTHING:
                continue
            status = take_in(
                definitions, code, scratch, scratch_valid, ranks, bits, slots, slot_valid, situations, registers, register_valid, header,
                definition, place, until,
            )  # fmt: skip
            if status != DONE:
                return status
        for register in range(len(owners)):
            place = found[FOUND_STARTS + count + owners[register], line]
            found_registers[line, register] = registers[place, register]
            found_valid[line, register] = register_valid[place, register]
    return DONE


@borrowing
def take_in_kept(
    definitions, code, scratch, scratch_valid, ranks, bits, slots, slot_valid, situations, registers, register_valid, regions, header, key,
    until,
):  # fmt: skip
    """What is kept in a partition takes in all of its rows, which are let go: those that changed in this call are the last ones."""
    count = len(definitions)
    for definition in range(count):
        if definitions[definition, BLOCK] == NOTHING:
            continue
        region = key * count + definition
        place = regions[region, HEAD] + regions[region, COUNT] - 1
        while place >= regions[region, HEAD] and situations[place, UNREAD] != NOTHING:
            status = take_in(
                definitions, code, scratch, scratch_valid, ranks, bits, slots, slot_valid, situations, registers, register_valid, header,
                definition, place, until,
            )  # fmt: skip
            if status != DONE:
                return status
            situations[place, UNREAD] = NOTHING
            place -= 1
    return DONE
