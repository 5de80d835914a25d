"""Matches read from the match DAG: rows in order, and the order among matches of one event."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, jit
from ostinato.kernels.run_table import BEFORE, BOUND_TO, DEPTH, NOTHING, ORDINAL


@borrowing
def unroll(nodes, node, ordinals, components, end):
    """Write a match backwards so that it ends before `end`."""
    while node != NOTHING:
        end -= 1
        ordinals[end] = nodes[node, ORDINAL]
        components[end] = nodes[node, BOUND_TO]
        node = nodes[node, BEFORE]


@borrowing
def comes_before(nodes, one, other):
    """Earlier events first, compared one after the other; then the one whose earlier components hold more. The matches are walked
    backwards until they meet; the difference seen last is the first one."""
    longer = nodes[one, DEPTH] - nodes[other, DEPTH]
    while nodes[one, DEPTH] > nodes[other, DEPTH]:
        one = nodes[one, BEFORE]
    while nodes[other, DEPTH] > nodes[one, DEPTH]:
        other = nodes[other, BEFORE]
    by_event = 0
    by_component = 0
    while one != other:
        if nodes[one, ORDINAL] != nodes[other, ORDINAL]:
            by_event = -1 if nodes[one, ORDINAL] < nodes[other, ORDINAL] else 1
        if nodes[one, BOUND_TO] != nodes[other, BOUND_TO]:
            by_component = -1 if nodes[one, BOUND_TO] < nodes[other, BOUND_TO] else 1
        one = nodes[one, BEFORE]
        other = nodes[other, BEFORE]
    if by_event != 0:
        return by_event < 0
    return longer < 0 if longer != 0 else by_component < 0


@borrowing
def smaller(ordinals, components, one, one_end, other, other_end):
    """Lexicographic order of two matches laid out in arrays."""
    shared = min(one_end - one, other_end - other)
    for i in range(shared):
        if ordinals[one + i] != ordinals[other + i]:
            return ordinals[one + i] < ordinals[other + i]
    if one_end - one != other_end - other:
        return one_end - one < other_end - other
    for i in range(shared):
        if components[one + i] != components[other + i]:
            return components[one + i] < components[other + i]
    return False


@jit("void(int64[:,::1], int64[:,::1], int64, int64[::1])")
def match_offsets(nodes, found, count, offsets):
    offsets[0] = 0
    for i in range(count):
        offsets[i + 1] = offsets[i] + nodes[found[i, 0], DEPTH]


@jit("void(int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[::1])")
def unroll_matches(nodes, found, offsets, ordinals, components):
    for i in range(len(offsets) - 1):
        unroll(nodes, found[i, 0], ordinals, components, offsets[i + 1])


@jit("void(int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def order_matches(found, offsets, ordinals, components, order):
    """Matches come key by key and event by event; put those of one event into their order."""
    count = len(offsets) - 1
    spare = np.empty(count, np.int64)
    begin = 0
    while begin < count:
        end = begin + 1
        while end < count and found[end, 1] == found[begin, 1] and ordinals[offsets[end + 1] - 1] == ordinals[offsets[begin + 1] - 1]:
            end += 1
        if end - begin > 1:
            merge_sort(order, spare, begin, end, offsets, ordinals, components)
        begin = end


@borrowing
def merge_sort(order, spare, begin, end, offsets, ordinals, components):
    """Bottom up: Numba's own sort takes no comparison."""
    width = 1
    while width < end - begin:
        for low in range(begin, end, 2 * width):
            middle = min(low + width, end)
            high = min(low + 2 * width, end)
            left, right = low, middle
            for to in range(low, high):
                take_right = left >= middle
                if not take_right and right < high:
                    a, b = order[left], order[right]
                    take_right = smaller(ordinals, components, offsets[b], offsets[b + 1], offsets[a], offsets[a + 1])
                if take_right:
                    spare[to] = order[right]
                    right += 1
                else:
                    spare[to] = order[left]
                    left += 1
        for i in range(begin, end):
            order[i] = spare[i]
        width *= 2
