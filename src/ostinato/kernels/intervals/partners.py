"""A situation that has ended without any that a constraint asks for is in no match, and let go of at once.

When it has ended, those that start later are behind it; where a constraint allows no such, all that it may be related to are known, and its
relation to them is certain, whenever they end."""

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
def has_partner(constraints, bounds, situations, regions, ranges, region, spare, constraint, is_first, place):
    """Whether one in the region goes with the situation in place, which is the first of the constraint or the second."""
    low = regions[region, HEAD]
    start, end = situations[place, START], situations[place, END]
    high = low + regions[region, COUNT]
    ranges_of(constraints, situations, regions, ranges, spare, region, True, constraint, not is_first, low, high, start, end)
    for i in range(ranges[spare, 0]):
        if ranges[spare, i * RANGE_CELLS + SURE] != 0:
            return True
        for other in range(ranges[spare, i * RANGE_CELLS + BEGIN], ranges[spare, i * RANGE_CELLS + STOP_BEFORE]):
            a, b = (place, other) if is_first else (other, place)
            if is_certain(
                constraints, bounds, constraint, situations[a, START], situations[a, END], situations[b, START], situations[b, END]
            ):
                return True
    return False


@inlined
def ended_at(situations, regions, region, now):
    """Where the one stands that ended at this moment, the last or the one before it; NOTHING: there is none."""
    last = regions[region, HEAD] + regions[region, COUNT] - 1
    for place in range(last, max(last - 2, regions[region, HEAD] - 1), -1):
        if situations[place, END] == now:
            return place
    return NOTHING


@inlined
def remove(situations, registers, register_valid, regions, header, region, place):
    """The last of the region, or the one before it."""
    last = regions[region, HEAD] + regions[region, COUNT] - 1
    if place < last:
        for column in range(situations.shape[1]):
            situations[place, column] = situations[last, column]
        for register in range(registers.shape[1]):
            registers[place, register] = registers[last, register]
            register_valid[place, register] = register_valid[last, register]
    regions[region, COUNT] -= 1
    header[LIVE] -= 1
    header[PARTNERLESS] += 1


@borrowing
def let_go_of_partnerless(
    definitions, constraints, bounds, situations, registers, register_valid, regions, ranges, header, key, now
):  # fmt: skip
    """Of what ended at this moment, which has been decided."""
    count = len(definitions)
    for constraint in range(len(constraints)):
        for side in range(2):
            if not constraints[constraint, CLOSED] >> side & 1:
                continue
            first, second = constraints[constraint, FIRST], constraints[constraint, SECOND]
            own, other = (first, second) if side == 0 else (second, first)
            if definitions[own, START_SLOT] != NOTHING:
                continue
            region = key * count + own
            place = ended_at(situations, regions, region, now)
            if place != NOTHING and not has_partner(
                constraints, bounds, situations, regions, ranges, key * count + other, count, constraint, side == 0, place
            ):
                remove(situations, registers, register_valid, regions, header, region, place)
