"""At the end of a moment: combinations of situations that it has decided.

One of their situations has changed at this moment: it began, it ended, or it became long enough. From there the others are looked for, in
ranges that binary search finds by what the constraints say about them. A combination with several that have changed is found from
the first of them, by definition. One that was certain at the moment before has been reported: no combination is continued that is certain
without anything that this moment says, and cannot come to hear of it."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.intervals.allen import is_certain
from ostinato.kernels.intervals.interval_layout import (
    AT_CHOICE,
    AT_DEPTH,
    AT_RANGE,
    AT_TRIGGER,
    BEGIN,
    CHOSEN,
    COUNT,
    CURSOR,
    DONE,
    EACH,
    EMPTY,
    END,
    FIRST,
    FOUND,
    FOUND_END,
    FOUND_KEY,
    FOUND_START,
    FOUND_STARTS,
    FOUND_TIME,
    FULL,
    HAS_OTHERS,
    HEAD,
    IS_FINAL,
    IS_NEWS,
    IS_SURE,
    NEVER,
    NOTHING,
    OF,
    OPEN,
    OVER_STEPS,
    RANGE_CELLS,
    SEARCHES,
    SECOND,
    START,
    STEP_LIMIT,
    STOP,
    STOP_BEFORE,
    SURE,
    TIMES,
    VISITED,
    WITHIN,
)
from ostinato.kernels.intervals.news import has_changed, is_news, is_trigger, last_changed, lasts, may_have_changed, took_part
from ostinato.kernels.intervals.ranges import set_ranges

MAY_CHANGE = 2  # of derived situations the last two of a region: what lies before them has ended, and did so before this moment


@borrowing
def fits(definitions, constraints, bounds, ranks_of, settings, situations, places, changed, depth, definition, place, before, now):
    """Whether a situation may stand beside those that are chosen."""
    start, end = situations[place, START], situations[place, END]
    if (settings[IS_FINAL] != 0 and end == OPEN) or not lasts(definitions, definition, start, end, now):
        return False
    if settings[WITHIN] != OPEN and now - start > settings[WITHIN]:
        return False
    if definition < changed and has_changed(definitions, settings, definition, start, end, before, now):
        return False
    for constraint in range(len(constraints)):
        first, second = constraints[constraint, FIRST], constraints[constraint, SECOND]
        if first == definition and ranks_of[changed, second] < depth:
            other = places[CHOSEN, second]
            if not is_certain(constraints, bounds, constraint, start, end, situations[other, START], situations[other, END]):
                return False
        elif second == definition and ranks_of[changed, first] < depth:
            other = places[CHOSEN, first]
            if not is_certain(constraints, bounds, constraint, situations[other, START], situations[other, END], start, end):
                return False
    return True


@borrowing
def report(owners, situations, registers, register_valid, places, header, found, found_registers, found_valid, key, count, now):
    line = header[FOUND]
    header[FOUND] += 1
    found[FOUND_KEY, line], found[FOUND_TIME, line] = key, now
    start, end = np.int64(OPEN), np.int64(NEVER)
    for definition in range(count):
        place = places[CHOSEN, definition]
        found[FOUND_STARTS + definition, line] = situations[place, START]
        found[FOUND_STARTS + count + definition, line] = place
        start, end = min(start, situations[place, START]), max(end, situations[place, END])
    found[FOUND_START, line], found[FOUND_END, line] = start, end
    for register in range(len(owners)):
        place = places[CHOSEN, owners[register]]
        found_registers[line, register] = registers[place, register]
        found_valid[line, register] = register_valid[place, register]


@inlined
def next_place(places, ranges, depth):
    """The next place at this depth; NOTHING: there is none."""
    if places[CURSOR, depth] >= places[STOP, depth]:
        at = places[AT_RANGE, depth]
        if at >= ranges[depth, 0]:
            return np.int64(NOTHING)
        places[CURSOR, depth] = ranges[depth, at * RANGE_CELLS + BEGIN]
        places[STOP, depth] = ranges[depth, at * RANGE_CELLS + STOP_BEFORE]
        places[IS_SURE, depth] = ranges[depth, at * RANGE_CELLS + SURE]
        places[AT_RANGE, depth] = at + 1
    places[CURSOR, depth] += 1
    return places[CURSOR, depth] - 1


@borrowing
def report_alone(situations, header, found, key, count, definition, place, now):
    """A situation that is a result by itself. What the others carry is nothing."""
    line = header[FOUND]
    header[FOUND] += 1
    found[FOUND_KEY, line], found[FOUND_TIME, line] = key, now
    found[FOUND_START, line], found[FOUND_END, line] = situations[place, START], situations[place, END]
    for other in range(count):
        found[FOUND_STARTS + other, line] = situations[place, START] if other == definition else OPEN
        found[FOUND_STARTS + count + other, line] = place if other == definition else EMPTY


@borrowing
def search(
    definitions, constraints, bounds, orders, ranks_of, last_related, owners, settings, situations, registers, register_valid, regions,
    places, ranges, looked, header, found, found_registers, found_valid, key, changed, before, now,
):  # fmt: skip
    """All combinations with what is chosen at depth 0. AT_DEPTH in the header says where to go on."""
    count = len(definitions)
    depth = header[AT_DEPTH]
    while depth > 0:
        if depth == count:
            if header[FOUND] >= found.shape[1]:
                header[AT_DEPTH] = depth
                return FULL
            report(owners, situations, registers, register_valid, places, header, found, found_registers, found_valid, key, count, now)
            depth -= 1
            continue
        if header[VISITED] > settings[STEP_LIMIT]:
            header[AT_DEPTH] = depth
            return OVER_STEPS
        place = next_place(places, ranges, depth)
        if place == NOTHING:
            depth -= 1
            continue
        header[VISITED] += 1
        definition = orders[changed, depth]
        region = key * count + definition
        settled = regions[region, HEAD] + regions[region, COUNT] - MAY_CHANGE
        if (places[IS_SURE, depth] == 0 or place >= settled) and not fits(
            definitions, constraints, bounds, ranks_of, settings, situations, places, changed, depth, definition, place, before, now
        ):
            continue
        news = places[IS_NEWS, depth - 1] != 0 or is_news(
            definitions, constraints, bounds, ranks_of, settings, situations, places, changed, depth, definition, place, before, now
        )
        if not news and header[HAS_OTHERS] == 0 and last_related[changed] <= depth:
            continue  # all of it was certain before
        places[CHOSEN, definition] = place
        places[IS_NEWS, depth] = news
        depth += 1
        if depth == count and not news:
            depth -= 1
        elif depth < count:
            set_ranges(
                definitions, constraints, ranks_of, settings, situations, regions, places, ranges, looked, key, changed, depth,
                orders[changed, depth], now,
            )  # fmt: skip
    header[AT_DEPTH] = 0
    return DONE


@inlined
def begin_search(
    definitions, constraints, orders, ranks_of, last_related, settings, situations, regions, places, ranges, looked, header, key, changed,
    place, before, now,
):  # fmt: skip
    """From a situation that has changed. False: nothing that it is in can have become certain, or it has no partner."""
    news = not took_part(definitions, settings, situations, changed, place, before, now)
    if not news and header[HAS_OTHERS] == 0 and last_related[changed] == 0:
        return False
    count = len(definitions)
    places[CHOSEN, changed] = place
    places[IS_NEWS, 0] = news
    header[AT_DEPTH] = 1
    header[SEARCHES] += 1
    for definition in range(count):
        looked[OF, definition] += regions[key * count + definition, COUNT]
        looked[TIMES, definition] += 1
    if count > 1:
        set_ranges(
            definitions, constraints, ranks_of, settings, situations, regions, places, ranges, looked, key, changed, 1,
            orders[changed, 1], now,
        )  # fmt: skip
        if ranges[1, 0] == 0:
            header[AT_DEPTH] = 0
            return False
    return True


@inlined
def decide(
    definitions, constraints, bounds, orders, ranks_of, last_related, owners, settings, situations, registers, register_valid, regions,
    places, ranges, looked, header, found, found_registers, found_valid, key, before, now,
):  # fmt: skip
    """What the moment `now` of a partition decides. AT_TRIGGER and AT_CHOICE say where to go on."""
    count = len(definitions)
    last = last_changed(definitions, settings, situations, regions, key, header[AT_TRIGGER], before, now)
    while header[AT_TRIGGER] <= last:
        changed = header[AT_TRIGGER]
        region = key * count + changed
        while may_have_changed(definitions, situations, regions, region, changed, header[AT_CHOICE], now):
            place = regions[region, HEAD] + regions[region, COUNT] - 1 - header[AT_CHOICE]
            if header[AT_DEPTH] == 0 and not is_trigger(definitions, settings, situations, changed, place, before, now):
                header[AT_CHOICE] += 1
                continue
            if settings[EACH] != 0:
                if header[FOUND] >= found.shape[1]:
                    return FULL
                report_alone(situations, header, found, key, count, changed, place, now)
                header[AT_CHOICE] += 1
                continue
            header[HAS_OTHERS] = last > changed
            if header[AT_DEPTH] == 0 and not begin_search(
                definitions, constraints, orders, ranks_of, last_related, settings, situations, regions, places, ranges, looked, header,
                key, changed, place, before, now,
            ):  # fmt: skip
                header[AT_CHOICE] += 1
                continue
            status = search(
                definitions, constraints, bounds, orders, ranks_of, last_related, owners, settings, situations, registers, register_valid,
                regions, places, ranges, looked, header, found, found_registers, found_valid, key, changed, before, now,
            )  # fmt: skip
            if status != DONE:
                return status
            header[AT_CHOICE] += 1
        header[AT_CHOICE] = 0
        header[AT_TRIGGER] += 1
    header[AT_TRIGGER] = 0
    return DONE
