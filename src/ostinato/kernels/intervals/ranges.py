"""Where situations can lie that go with those that are chosen: ranges of places, by binary search for each group of relations.

Ranges of the groups of a constraint are united, those of several constraints intersected. Most are *sure*: what lies in them needs no
comparison. Of situations that are given only the ends are in order: they are found by where these lie, and looked at."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.intervals.allen import GROUP_COUNT, ZONE_COUNT, first_from, group_begin
from ostinato.kernels.intervals.interval_layout import (
    AFTER_LEAST,
    AFTER_MOST,
    AT_RANGE,
    BEFORE_LEAST,
    BEFORE_MOST,
    BEGIN,
    CHOSEN,
    COUNT,
    CURSOR,
    END,
    FIRST,
    GROUPS,
    HEAD,
    INNER,
    INVERSE_GROUPS,
    INVERSE_WHOLE,
    INVERSE_ZONES,
    LEFT,
    MOST_RANGES,
    NOTHING,
    OF,
    OPEN,
    RANGE_CELLS,
    SECOND,
    START,
    START_SLOT,
    STOP,
    STOP_BEFORE,
    SURE,
    TIMES,
    WHOLE,
    WITHIN,
    ZONES,
)

LAST_GROUP = GROUP_COUNT - 1
STARTED_IN = 4  # the group of those that start within the other


@inlined
def add_range(ranges, line, begin, stop, sure):
    """Behind the others of the line. When there is no room, the last one grows, and is looked at."""
    if begin >= stop:
        return
    count = ranges[line, 0]
    last = (count - 1) * RANGE_CELLS
    if count > 0 and ranges[line, last + STOP_BEFORE] == begin and ranges[line, last + SURE] == sure:
        ranges[line, last + STOP_BEFORE] = stop
        return
    if count == MOST_RANGES:
        ranges[line, last + STOP_BEFORE], ranges[line, last + SURE] = stop, 0
        return
    ranges[line, last + RANGE_CELLS + BEGIN] = begin
    ranges[line, last + RANGE_CELLS + STOP_BEFORE] = stop
    ranges[line, last + RANGE_CELLS + SURE] = sure
    ranges[line, 0] = count + 1


@inlined
def add_group(constraints, situations, regions, ranges, line, region, constraint, is_first, group, low, high, start, end):
    """Of derived situations the part of [low, high) that lies in a group, seen from a situation from `start` to `end`."""
    whole = constraints[constraint, WHOLE if is_first else INVERSE_WHOLE]
    sure = whole >> group & 1
    if group == 0:
        least = constraints[constraint, BEFORE_LEAST if is_first else AFTER_LEAST]
        most = constraints[constraint, BEFORE_MOST if is_first else AFTER_MOST]
        begin = low if most == OPEN else first_from(situations, END, low, high, start - most)
        add_range(ranges, line, begin, first_from(situations, END, low, high, start - max(least, 1) + 1), sure)
    elif group == LAST_GROUP:
        if end != OPEN:
            least = constraints[constraint, AFTER_LEAST if is_first else BEFORE_LEAST]
            most = constraints[constraint, AFTER_MOST if is_first else BEFORE_MOST]
            stop = high if most == OPEN else first_from(situations, START, low, high, end + most + 1)
            add_range(ranges, line, first_from(situations, START, low, high, end + max(least, 1)), stop, sure)
    else:
        begin = max(low, group_begin(situations, regions, region, group, start, end))
        stop = min(high, group_begin(situations, regions, region, group + 1, start, end))
        if group == STARTED_IN and not sure and whole >> INNER & 1 and begin < stop:
            add_range(ranges, line, begin, stop - 1, 1)  # each of these ends before the next one starts
            begin = stop - 1
        add_range(ranges, line, begin, stop, sure)


@inlined
def zone_begin(situations, low, high, zone, start, end):
    """Where in [low, high), which is in the order of ends, those begin that end in a zone, seen from a situation from `start` to `end`."""
    if zone == 0 or zone == ZONE_COUNT:
        return low if zone == 0 else high
    if zone <= 2:
        return first_from(situations, END, low, high, start + (zone - 1))
    if end == OPEN:
        return np.int64(high)
    return first_from(situations, END, low, high, end + (zone - 3))


@borrowing
def ranges_of(constraints, situations, regions, ranges, line, region, derived, constraint, is_first, low, high, start, end):
    """What one constraint leaves of [low, high), seen from a situation from `start` to `end`. Returns how many."""
    ranges[line, 0] = 0
    groups = constraints[constraint, GROUPS if is_first else INVERSE_GROUPS]
    if derived:
        for group in range(GROUP_COUNT):
            if groups >> group & 1:
                add_group(constraints, situations, regions, ranges, line, region, constraint, is_first, group, low, high, start, end)
    else:
        zones = constraints[constraint, ZONES if is_first else INVERSE_ZONES]
        for zone in range(ZONE_COUNT):
            if zones >> zone & 1:
                begin = zone_begin(situations, low, high, zone, start, end)
                add_range(ranges, line, begin, zone_begin(situations, low, high, zone + 1, start, end), 0)
    left = 0
    for i in range(ranges[line, 0]):
        left += ranges[line, i * RANGE_CELLS + STOP_BEFORE] - ranges[line, i * RANGE_CELLS + BEGIN]
    return left


@borrowing
def intersect(ranges, line, other, spare):
    """What lies in both lines, into the first of them."""
    ranges[spare, 0] = 0
    i, j = 0, 0
    while i < ranges[line, 0] and j < ranges[other, 0]:
        a, b = i * RANGE_CELLS, j * RANGE_CELLS
        begin = max(ranges[line, a + BEGIN], ranges[other, b + BEGIN])
        stop = min(ranges[line, a + STOP_BEFORE], ranges[other, b + STOP_BEFORE])
        add_range(ranges, spare, begin, stop, ranges[line, a + SURE] & ranges[other, b + SURE])
        if ranges[line, a + STOP_BEFORE] < ranges[other, b + STOP_BEFORE]:
            i += 1
        else:
            j += 1
    for cell in range(1 + ranges[spare, 0] * RANGE_CELLS):
        ranges[line, cell] = ranges[spare, cell]


@borrowing
def set_ranges(
    definitions, constraints, ranks_of, settings, situations, regions, places, ranges, looked, key, changed, depth, definition, now
):
    """Where situations of the definition can lie, seen from those that are chosen."""
    count = len(definitions)
    region = key * count + definition
    derived = definitions[definition, START_SLOT] == NOTHING
    low = regions[region, HEAD]
    high = low + regions[region, COUNT]
    if settings[WITHIN] != OPEN:
        low = first_from(situations, START if derived else END, low, high, now - settings[WITHIN])
    places[CURSOR, depth], places[STOP, depth], places[AT_RANGE, depth] = 0, 0, 0
    ranges[depth, 0] = 0
    add_range(ranges, depth, low, high, 1 if derived else 0)
    asked = False
    for constraint in range(len(constraints)):
        first, second = constraints[constraint, FIRST], constraints[constraint, SECOND]
        if first != definition and second != definition:
            continue
        other = second if first == definition else first
        if ranks_of[changed, other] >= depth:
            continue
        start, end = situations[places[CHOSEN, other], START], situations[places[CHOSEN, other], END]
        line = count if asked else depth
        left = ranges_of(
            constraints, situations, regions, ranges, line, region, derived, constraint, first == definition, low, high, start, end
        )
        cell = count + changed * len(constraints) + constraint
        looked[OF, cell] += high - low
        looked[LEFT, cell] += left
        looked[TIMES, cell] += 1
        if asked:
            intersect(ranges, depth, count, count + 1)
        asked = True
        if ranges[depth, 0] == 0:
            break
