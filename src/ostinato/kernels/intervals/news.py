"""What is news of a situation at a moment: that it began, ended, or became as long as is asked, and what follows from that."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.intervals.allen import is_certain
from ostinato.kernels.intervals.interval_layout import (
    AT_LEAST,
    AT_MOST,
    CHOSEN,
    COUNT,
    END,
    FIRST,
    HEAD,
    IS_FINAL,
    NEVER,
    NOTHING,
    OPEN,
    SECOND,
    START,
    START_SLOT,
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


@inlined
def last_changed(definitions, settings, situations, regions, key, first, before, now):
    """The last definition, from `first` on, with a situation that has changed; below `first`: there is none. Combinations with what has
    changed of earlier ones are found from there."""
    count = len(definitions)
    for definition in range(count - 1, first - 1, -1):
        region = key * count + definition
        choice = 0
        while may_have_changed(definitions, situations, regions, region, definition, choice, now):
            place = regions[region, HEAD] + regions[region, COUNT] - 1 - choice
            if is_trigger(definitions, settings, situations, definition, place, before, now):
                return definition
            choice += 1
    return np.int64(first - 1)


@inlined
def end_before(situations, place, now):
    """The end as it was known at the moment before."""
    return OPEN if situations[place, END] == now else situations[place, END]


@inlined
def took_part(definitions, settings, situations, definition, place, before, now):
    """Whether it could be in a match at the moment before."""
    start, end = situations[place, START], situations[place, END]
    if start == now or before == NEVER or (end == now and (settings[IS_FINAL] != 0 or definitions[definition, START_SLOT] != NOTHING)):
        return False
    return lasts(definitions, definition, start, end_before(situations, place, now), before)


@borrowing
def is_news(definitions, constraints, bounds, ranks_of, settings, situations, places, changed, depth, definition, place, before, now):
    """Whether a situation, or a constraint between it and those that are chosen, was not certain at the moment before."""
    if not took_part(definitions, settings, situations, definition, place, before, now):
        return True
    for constraint in range(len(constraints)):
        first, second = constraints[constraint, FIRST], constraints[constraint, SECOND]
        if first == definition and ranks_of[changed, second] < depth:
            a, b = place, places[CHOSEN, second]
        elif second == definition and ranks_of[changed, first] < depth:
            a, b = places[CHOSEN, first], place
        else:
            continue
        if situations[a, END] != now and situations[b, END] != now:
            continue
        a_end, b_end = end_before(situations, a, now), end_before(situations, b, now)
        if not is_certain(constraints, bounds, constraint, situations[a, START], a_end, situations[b, START], b_end):
            return True
    return False
