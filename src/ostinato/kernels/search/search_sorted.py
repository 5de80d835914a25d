"""Blocks of rows with their values in order, for searches that ask for a band: where values jump about, the least and the greatest say
little about what lies between.

A block from level 1 on (256 rows) is put in order once it was searched in vain so often that this has cost as much; then one look tells
whether a row of it lies in a band. In a line of `ordered` the index of a partition has DEPTH * FAN numbers per block of its lowest
level, one level behind the other; `tries` has one per block of any level: how much was done in vain so far, or what came of it."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.search.search_links import FAN, SHIFT

DEPTH = 4  # levels whose blocks are put in order, up to a million rows each
IN_ORDER, NEVER = -1, -2  # what `tries` says of a block that is in order, and of one with a row that counts as anything


@inlined
def begin_tries(tries, place, size):
    for line in range(len(tries)):
        for at in range(place, place + size):
            tries[line, at] = 0


@inlined
def ordered_at(place, lowest, level, block):
    """Where the values of a block stand; `place` and `lowest` are where the index begins and how many blocks its lowest level has."""
    return place * FAN * DEPTH + (level - 1) * (lowest << SHIFT) + (block << (SHIFT * (level + 1)))


@inlined
def has_between(ordered, line, begin, count, lo, hi, least, most):
    """Whether one of the values in order lies in [lo, hi]; if not, [least, most] becomes as narrow as the gap between them."""
    low, high = begin, begin + count
    while low < high:
        middle = (low + high) >> 1
        if ordered[line, middle] < lo:
            low = middle + 1
        else:
            high = middle
    if low < begin + count and ordered[line, low] <= hi:
        return True, least, most
    if low > begin:
        least = max(least, ordered[line, low - 1] + 1)
    if low < begin + count:
        most = min(most, ordered[line, low] - 1)
    return False, least, most


@borrowing
def put_in_order(values, line, begin, count):
    """By a heap, in place."""
    for number in range(count // 2 + count - 1):
        top = count // 2 - 1 - number  # first the heap is made, then the greatest goes behind what is left
        left = count
        if top < 0:
            left = count + top
            values[line, begin], values[line, begin + left] = values[line, begin + left], values[line, begin]
            top = 0
        moved = values[line, begin + top]
        child = 2 * top + 1
        while child < left:
            if child + 1 < left and values[line, begin + child + 1] > values[line, begin + child]:
                child += 1
            if values[line, begin + child] <= moved:
                break
            values[line, begin + top] = values[line, begin + child]
            top, child = child, 2 * child + 1
        values[line, begin + top] = moved
