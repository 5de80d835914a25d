"""Matches read from the match DAG: rows in order, and the order among matches of one event."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, jit
from ostinato.kernels.output.match_nodes import BEFORE, BOUND_TO, NOTHING, ORDINAL
from ostinato.kernels.runs.run_nodes import LAST_NODE, LOWEST, NEWEST, OF_KEY, OTHER, UNION

# Cells of `control`
NEXT_FOUND = 0  # which of the matches found is looked at next
PENDING = 1  # branches that wait on the stack
LOOKED_FOR = 2  # the lowest start that counts for the current one
WRITTEN = 3  # matches
PLACED = 4  # events of matches
CURRENT = 5
CONTROL_CELLS = 6

# What `read_matches` returns
DONE = 0
STACK_FULL = 1
MATCHES_FULL = 2
EVENTS_FULL = 3


@jit("int64(int64[:,::1], int64[:,::1], int64, int64[::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1])")
def read_matches(nodes, found, count, control, stack, path, keys, offsets, ordinals, elements):
    """Write every way back from each of `found`: match i is one of keys[i] and has the events [offsets[i], offsets[i + 1]).
    Asks for room and may be called again: then the last way back waits on the stack. `stack` holds (node, length of the path so far);
    NOTHING as node means that the path is complete."""
    while True:
        if control[PENDING] == 0:
            if control[NEXT_FOUND] == count:
                return DONE
            control[CURRENT] = control[NEXT_FOUND]
            control[LOOKED_FOR] = found[control[CURRENT], LOWEST]
            stack[0, 0] = found[control[CURRENT], LAST_NODE]
            stack[0, 1] = 0
            control[PENDING] = 1
            control[NEXT_FOUND] += 1
        top = control[PENDING] - 1
        node = stack[top, 0]
        length = stack[top, 1]
        while node != NOTHING:
            if length + 1 >= len(path) or top + 1 >= len(stack):
                stack[top, 0] = node
                stack[top, 1] = length
                control[PENDING] = top + 1
                return STACK_FULL
            if nodes[node, BOUND_TO] != UNION:
                path[length] = node
                length += 1
            elif nodes[nodes[node, OTHER], NEWEST] >= control[LOOKED_FOR]:
                stack[top, 0] = nodes[node, OTHER]
                stack[top, 1] = length
                top += 1
            node = nodes[node, BEFORE]
        if control[WRITTEN] + 1 >= len(offsets) or control[PLACED] + length > len(ordinals):
            stack[top, 0] = NOTHING
            stack[top, 1] = length
            control[PENDING] = top + 1
            return MATCHES_FULL if control[WRITTEN] + 1 >= len(offsets) else EVENTS_FULL
        control[PENDING] = top
        place = control[PLACED]
        for i in range(length - 1, -1, -1):
            ordinals[place] = nodes[path[i], ORDINAL]
            elements[place] = nodes[path[i], BOUND_TO]
            place += 1
        keys[control[WRITTEN]] = found[control[CURRENT], OF_KEY]
        control[WRITTEN] += 1
        control[PLACED] = place
        offsets[control[WRITTEN]] = place


@borrowing
def smaller(ordinals, elements, one, one_end, other, other_end):
    """Lexicographic order of two matches laid out in arrays."""
    shared = min(one_end - one, other_end - other)
    for i in range(shared):
        if ordinals[one + i] != ordinals[other + i]:
            return ordinals[one + i] < ordinals[other + i]
    if one_end - one != other_end - other:
        return one_end - one < other_end - other
    for i in range(shared):
        if elements[one + i] != elements[other + i]:
            return elements[one + i] < elements[other + i]
    return False


@jit("void(int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1])")
def order_matches(keys, offsets, ordinals, elements, order):
    """Matches come key by key and event by event; put those of one event into their order."""
    count = len(keys)
    spare = np.empty(count, np.int64)
    begin = 0
    while begin < count:
        end = begin + 1
        last = ordinals[offsets[begin + 1] - 1]
        while end < count and keys[end] == keys[begin] and ordinals[offsets[end + 1] - 1] == last:
            end += 1
        if end - begin > 1:
            merge_sort(order, spare, begin, end, offsets, ordinals, elements)
        begin = end


@borrowing
def merge_sort(order, spare, begin, end, offsets, ordinals, elements):
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
                    take_right = smaller(ordinals, elements, offsets[b], offsets[b + 1], offsets[a], offsets[a + 1])
                if take_right:
                    spare[to] = order[right]
                    right += 1
                else:
                    spare[to] = order[left]
                    left += 1
        for i in range(begin, end):
            order[i] = spare[i]
        width *= 2
