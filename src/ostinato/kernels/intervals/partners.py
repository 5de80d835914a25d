"""A situation that has ended without any that a constraint asks for is in no match, and let go of at once.

When it has ended, those that start later are behind it; where a constraint allows no such, all that it may be related to are known, and its
relation to them is certain, whenever they end. Of situations that are given those are known that ended until then."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.intervals.allen import is_certain
from ostinato.kernels.intervals.interval_layout import (
    BEGIN,
    CLOSED,
    COUNT,
    END,
    FIRST,
    HEAD,
    LIVE,
    NOTHING,
    PARTNERLESS,
    RANGE_CELLS,
    SECOND,
    START,
    START_SLOT,
    STOP_BEFORE,
    SURE,
)
from ostinato.kernels.intervals.ranges import ranges_of


@borrowing
def has_partner(definitions, constraints, bounds, situations, regions, ranges, region, other, constraint, is_first, place):
    """Whether one in the region, of the other definition, goes with the situation in place, which is the first of the constraint or not."""
    derived, spare = definitions[other, START_SLOT] == NOTHING, len(definitions)
    low = regions[region, HEAD]
    start, end = situations[place, START], situations[place, END]
    high = low + regions[region, COUNT]
    ranges_of(constraints, situations, regions, ranges, spare, region, derived, constraint, not is_first, low, high, start, end)
    for i in range(ranges[spare, 0]):
        if ranges[spare, i * RANGE_CELLS + SURE] != 0:
            return True
        for partner in range(ranges[spare, i * RANGE_CELLS + BEGIN], ranges[spare, i * RANGE_CELLS + STOP_BEFORE]):
            a, b = (place, partner) if is_first else (partner, place)
            if is_certain(
                constraints, bounds, constraint, situations[a, START], situations[a, END], situations[b, START], situations[b, END]
            ):
                return True
    return False


@inlined
def remove(situations, registers, register_valid, regions, header, region, place):
    """One of the last of the region: those behind it move up."""
    last = regions[region, HEAD] + regions[region, COUNT] - 1
    for behind in range(place, last):
        for column in range(situations.shape[1]):
            situations[behind, column] = situations[behind + 1, column]
        for register in range(registers.shape[1]):
            registers[behind, register] = registers[behind + 1, register]
            register_valid[behind, register] = register_valid[behind + 1, register]
    regions[region, COUNT] -= 1
    header[LIVE] -= 1
    header[PARTNERLESS] += 1


@inlined
def drop_partnerless(
    definitions, constraints, bounds, situations, registers, register_valid, regions, ranges, header, key, now
):  # fmt: skip
    """Of what ended at this moment, which has been decided."""
    count = len(definitions)
    for constraint in range(len(constraints)):
        for side in range(2):
            if not constraints[constraint, CLOSED] >> side & 1:
                continue
            first, second = constraints[constraint, FIRST], constraints[constraint, SECOND]
            region, other = key * count + (first if side == 0 else second), second if side == 0 else first
            place = regions[region, HEAD] + regions[region, COUNT] - 1
            while place >= regions[region, HEAD] and situations[place, END] >= now:
                if situations[place, END] == now and not has_partner(
                    definitions, constraints, bounds, situations, regions, ranges, key * count + other, other, constraint, side == 0, place
                ):
                    remove(situations, registers, register_valid, regions, header, region, place)
                place -= 1
