"""At the end of a moment: combinations of situations that it has decided.

One of their situations has changed at this moment: it began, it ended, or it became long enough. From there the others are looked for, in
stretches that binary search finds by what the constraints say about them. A combination with several that have changed is found from
the first of them, by definition."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.intervals.allen import ENDED_GROUPS, GROUP_COUNT, first_from, group_begin, is_certain
from ostinato.kernels.intervals.interval_layout import (
    AT_CHOICE,
    AT_DEPTH,
    AT_LEAST,
    AT_MOST,
    AT_TRIGGER,
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
    GROUPS,
    HEAD,
    INVERSE_GROUPS,
    IS_FINAL,
    NEVER,
    NOTHING,
    OPEN,
    OVER_STEPS,
    SECOND,
    START,
    START_SLOT,
    STEP_LIMIT,
    STOP,
    VISITED,
    WITHIN,
)


@inlined
def lasts(definitions, definition, start, end, now):
    """Whether it is as long as is asked, however long it goes on. What has ended is, or it would not be there."""
    return end != OPEN or (definitions[definition, AT_MOST] == OPEN and now - start >= definitions[definition, AT_LEAST])


@inlined
def has_changed(definitions, settings, definition, start, end, before, now):
    if end == now:
        return True
    if settings[IS_FINAL] != 0 or end != OPEN:
        return False
    least = definitions[definition, AT_LEAST]
    return start == now or (now - start >= least and before - start < least)


@inlined
def may_have_changed(definitions, situations, regions, region, definition, choice, now):
    """Whether the situation that is so many before the last of the region, or one before it, may have changed: of those that are derived
    one can have ended and one begun, those that are given are known at their end."""
    if choice >= regions[region, COUNT]:
        return False
    if definitions[definition, START_SLOT] == NOTHING:
        return choice < 2
    return situations[regions[region, HEAD] + regions[region, COUNT] - 1 - choice, END] == now


@inlined
def is_trigger(definitions, settings, situations, definition, place, before, now):
    """Whether it has changed, is long enough, and not too old."""
    start, end = situations[place, START], situations[place, END]
    if not has_changed(definitions, settings, definition, start, end, before, now) or not lasts(definitions, definition, start, end, now):
        return False
    return settings[WITHIN] == OPEN or now - start <= settings[WITHIN]


@borrowing
def set_stretch(definitions, constraints, ranks_of, settings, situations, regions, places, key, count, changed, depth, definition, now):
    """Where situations of the definition can lie, seen from those that are chosen."""
    region = key * count + definition
    derived = definitions[definition, START_SLOT] == NOTHING
    low = regions[region, HEAD]
    high = low + regions[region, COUNT]
    if settings[WITHIN] != OPEN:
        low = first_from(situations, START if derived else END, low, high, now - settings[WITHIN])
    for constraint in range(len(constraints)):
        if constraints[constraint, FIRST] == definition:
            other, groups = constraints[constraint, SECOND], constraints[constraint, GROUPS]
        elif constraints[constraint, SECOND] == definition:
            other, groups = constraints[constraint, FIRST], constraints[constraint, INVERSE_GROUPS]
        else:
            continue
        if ranks_of[changed, other] >= depth:
            continue
        first, last = 0, GROUP_COUNT - 1
        while first < last and not groups >> first & 1:
            first += 1
        while last > first and not groups >> last & 1:
            last -= 1
        if not derived:  # their ends alone are in order
            first, last = min(first, ENDED_GROUPS), last if last < ENDED_GROUPS else GROUP_COUNT - 1
        start, end = situations[places[CHOSEN, other], START], situations[places[CHOSEN, other], END]
        low = max(low, group_begin(situations, regions, region, first, start, end))
        high = min(high, group_begin(situations, regions, region, last + 1, start, end))
    places[CURSOR, depth], places[STOP, depth] = low, high


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


@inlined
def end_before(situations, place, now):
    """The end as it was known at the moment before."""
    return OPEN if situations[place, END] == now else situations[place, END]


@borrowing
def was_certain(definitions, constraints, bounds, situations, places, before, now):
    """Whether the combination was decided at an earlier moment, which has reported it."""
    for definition in range(len(definitions)):
        place = places[CHOSEN, definition]
        start = situations[place, START]
        if start == now or before == NEVER:
            return False
        if definitions[definition, START_SLOT] != NOTHING and situations[place, END] == now:
            return False
        if not lasts(definitions, definition, start, end_before(situations, place, now), before):
            return False
    for constraint in range(len(constraints)):
        a, b = places[CHOSEN, constraints[constraint, FIRST]], places[CHOSEN, constraints[constraint, SECOND]]
        a_end, b_end = end_before(situations, a, now), end_before(situations, b, now)
        if not is_certain(constraints, bounds, constraint, situations[a, START], a_end, situations[b, START], b_end):
            return False
    return True


@borrowing
def report(owners, situations, registers, register_valid, places, header, found, found_registers, found_valid, key, count, now):
    line = header[FOUND]
    header[FOUND] += 1
    found[line, FOUND_KEY], found[line, FOUND_TIME] = key, now
    start, end = np.int64(OPEN), np.int64(NEVER)
    for definition in range(count):
        place = places[CHOSEN, definition]
        found[line, FOUND_STARTS + definition] = situations[place, START]
        start, end = min(start, situations[place, START]), max(end, situations[place, END])
    found[line, FOUND_START], found[line, FOUND_END] = start, end
    for register in range(len(owners)):
        place = places[CHOSEN, owners[register]]
        found_registers[line, register] = registers[place, register]
        found_valid[line, register] = register_valid[place, register]


@borrowing
def report_alone(
    owners, situations, registers, register_valid, header, found, found_registers, found_valid, key, count, definition, place, now
):
    """A situation that is a result by itself."""
    line = header[FOUND]
    header[FOUND] += 1
    found[line, FOUND_KEY], found[line, FOUND_TIME] = key, now
    found[line, FOUND_START], found[line, FOUND_END] = situations[place, START], situations[place, END]
    for other in range(count):
        found[line, FOUND_STARTS + other] = situations[place, START] if other == definition else OPEN
    for register in range(len(owners)):
        held = place if owners[register] == definition else EMPTY
        found_registers[line, register] = registers[held, register]
        found_valid[line, register] = register_valid[held, register]


@borrowing
def search(
    definitions, constraints, bounds, orders, ranks_of, owners, settings, situations, registers, register_valid, regions, places, header,
    found, found_registers, found_valid, key, changed, before, now,
):  # fmt: skip
    """All combinations with what is chosen at depth 0. AT_DEPTH in the header says where to go on."""
    count = len(definitions)
    depth = header[AT_DEPTH]
    while depth > 0:
        if depth == count:
            if settings[IS_FINAL] != 0 or not was_certain(definitions, constraints, bounds, situations, places, before, now):
                if header[FOUND] >= len(found):
                    header[AT_DEPTH] = depth
                    return FULL
                report(owners, situations, registers, register_valid, places, header, found, found_registers, found_valid, key, count, now)
            depth -= 1
            continue
        if header[VISITED] > settings[STEP_LIMIT]:
            header[AT_DEPTH] = depth
            return OVER_STEPS
        definition = orders[changed, depth]
        if places[CURSOR, depth] >= places[STOP, depth]:
            depth -= 1
            continue
        place = places[CURSOR, depth]
        places[CURSOR, depth] += 1
        header[VISITED] += 1
        if fits(definitions, constraints, bounds, ranks_of, settings, situations, places, changed, depth, definition, place, before, now):
            places[CHOSEN, definition] = place
            depth += 1
            if depth < count:
                set_stretch(
                    definitions, constraints, ranks_of, settings, situations, regions, places, key, count, changed, depth,
                    orders[changed, depth], now,
                )  # fmt: skip
    header[AT_DEPTH] = 0
    return DONE


@borrowing
def decide(
    definitions, constraints, bounds, orders, ranks_of, owners, settings, situations, registers, register_valid, regions, places, header,
    found, found_registers, found_valid, key, before, now,
):  # fmt: skip
    """What the moment `now` of a partition decides. AT_TRIGGER and AT_CHOICE say where to go on."""
    count = len(definitions)
    while header[AT_TRIGGER] < count:
        changed = header[AT_TRIGGER]
        region = key * count + changed
        while may_have_changed(definitions, situations, regions, region, changed, header[AT_CHOICE], now):
            if header[AT_DEPTH] == 0:
                place = regions[region, HEAD] + regions[region, COUNT] - 1 - header[AT_CHOICE]
                if not is_trigger(definitions, settings, situations, changed, place, before, now):
                    header[AT_CHOICE] += 1
                    continue
                if settings[EACH] != 0:
                    if header[FOUND] >= len(found):
                        return FULL
                    report_alone(
                        owners, situations, registers, register_valid, header, found, found_registers, found_valid, key, count, changed,
                        place, now,
                    )  # fmt: skip
                    header[AT_CHOICE] += 1
                    continue
                places[CHOSEN, changed] = place
                header[AT_DEPTH] = 1
                if count > 1:
                    set_stretch(
                        definitions, constraints, ranks_of, settings, situations, regions, places, key, count, changed, 1,
                        orders[changed, 1], now,
                    )  # fmt: skip
            status = search(
                definitions, constraints, bounds, orders, ranks_of, owners, settings, situations, registers, register_valid, regions,
                places, header, found, found_registers, found_valid, key, changed, before, now,
            )  # fmt: skip
            if status != DONE:
                return status
            header[AT_CHOICE] += 1
        header[AT_CHOICE] = 0
        header[AT_TRIGGER] += 1
    header[AT_TRIGGER] = 0
    return DONE
