"""Allen's relations of two situations, of which some may still go on."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined
from ostinato.kernels.intervals.interval_layout import (
    ALLOWED,
    BOUNDS,
    BOUNDS_END,
    COUNT,
    END,
    HEAD,
    LEAST,
    MOST,
    OPEN,
    RELATION,
    START,
)

# Relations, in the order of `program.intervals.RELATIONS`
BEFORE, MEETS, OVERLAPS, STARTS, DURING, FINISHES, EQUALS, FINISHED_BY, CONTAINS, STARTED_BY, OVERLAPPED_BY, MET_BY, AFTER = range(13)

STARTS_EARLIER = 1 << OVERLAPS | 1 << FINISHED_BY | 1 << CONTAINS  # what two that go on may become, by their starts
STARTS_TOGETHER = 1 << STARTS | 1 << EQUALS | 1 << STARTED_BY
STARTS_LATER = 1 << DURING | 1 << FINISHES | 1 << OVERLAPPED_BY

# Seen from one situation, those of another definition lie in seven groups, one behind the other
GROUP_OF = (0, 1, 2, 3, 4, 4, 3, 2, 2, 3, 4, 5, 6)
GROUP_COUNT = 7
ZONE_OF = (0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4)  # where the end of the first lies
ZONE_COUNT = 5


@inlined
def relation_of(a_start, a_end, b_start, b_end):
    """Of two that do not both go on: the end of one that does is later than all that is known."""
    if a_end <= b_start:
        return BEFORE if a_end < b_start else MEETS
    if b_end <= a_start:
        return AFTER if b_end < a_start else MET_BY
    if a_start < b_start:
        return OVERLAPS if a_end < b_end else FINISHED_BY if a_end == b_end else CONTAINS
    if a_start == b_start:
        return STARTS if a_end < b_end else EQUALS if a_end == b_end else STARTED_BY
    return DURING if a_end < b_end else FINISHES if a_end == b_end else OVERLAPPED_BY


@inlined
def distance_of(relation, a_start, a_end, b_start, b_end):
    """The gap, or the common part; its two ends are known where the relation is."""
    if relation == BEFORE:
        return b_start - a_end
    if relation == AFTER:
        return a_start - b_end
    return a_end - b_start if relation == OVERLAPS else b_end - a_start


@inlined
def is_certain(constraints, bounds, constraint, a_start, a_end, b_start, b_end):
    """Whether a constraint holds however those go on that are open. A bound on what two that go on will have in common is never certain."""
    allowed = constraints[constraint, ALLOWED]
    if a_end == OPEN and b_end == OPEN:
        possible = STARTS_EARLIER if a_start < b_start else STARTS_TOGETHER if a_start == b_start else STARTS_LATER
        return allowed & possible == possible
    relation = relation_of(a_start, a_end, b_start, b_end)
    if allowed >> relation & 1:
        return True
    for bound in range(constraints[constraint, BOUNDS], constraints[constraint, BOUNDS_END]):
        if bounds[bound, RELATION] == relation:
            distance = distance_of(relation, a_start, a_end, b_start, b_end)
            if bounds[bound, LEAST] <= distance <= bounds[bound, MOST]:
                return True
    return False


@inlined
def first_from(situations, column, low, high, time):
    """The first place in [low, high) at which the column is not below a time. It is mostly the first of all, or one of the last: the search
    goes back from the end in steps that double."""
    if low < high and situations[low, column] < time:
        step = 1
        while high - step > low and situations[high - step, column] >= time:
            high -= step
            step *= 2
        low = max(low, high - step) + 1
        while low < high:
            middle = (low + high) // 2
            if situations[middle, column] < time:
                low = middle + 1
            else:
                high = middle
    return low


@inlined
def group_begin(situations, regions, region, group, start, end):
    """Where the group begins, seen from a situation from `start` to `end`; behind the last group the region ends."""
    low = regions[region, HEAD]
    high = low + regions[region, COUNT]
    if group == 0 or group >= GROUP_COUNT:
        return low if group == 0 else high
    if group <= 2:
        return first_from(situations, END, low, high, start + (group - 1))
    if group <= 4:
        return first_from(situations, START, low, high, start + (group - 3))
    if end == OPEN:
        return np.int64(high)
    return first_from(situations, START, low, high, end + (group - 5))
