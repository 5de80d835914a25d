"""Intervals in order, so that one that contains another, or reaches into it, is found without looking at all of them.

Those of a list are a tree by their first times, the one that ends earlier behind the one that ends later. Each knows which interval of its
subtree ends last. Random priorities, higher ones above lower ones, keep it flat. Intervals are lines of `entries`."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing
from ostinato.kernels.tree.tree_layout import ABOVE, FARTHEST, GREATER, HIGHEST, LOWEST, NOTHING, SMALLER


@borrowing
def stands_above(one, other):
    """Numbers in a random order that is always the same."""
    a = np.uint64(one) * np.uint64(0x9E3779B97F4A7C15)
    b = np.uint64(other) * np.uint64(0x9E3779B97F4A7C15)
    return (a ^ (a >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9) > (b ^ (b >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)


@borrowing
def farther(one, other, entries):
    """Of two intervals, which may be NOTHING, the one that ends later; if none does, the second."""
    if one == NOTHING or (other != NOTHING and entries[other, HIGHEST] >= entries[one, HIGHEST]):
        return other
    return one


@borrowing
def reaches(node, high, entries):
    """Whether an interval of a subtree ends there or later."""
    return node != NOTHING and entries[entries[node, FARTHEST], HIGHEST] >= high


@borrowing
def note_farthest(node, entries):
    found = np.int64(node)
    for child in (entries[node, SMALLER], entries[node, GREATER]):
        if child != NOTHING:
            found = farther(found, entries[child, FARTHEST], entries)
    entries[node, FARTHEST] = found


@borrowing
def rotate_up(node, entries):
    """Put a node above the one that it stands under."""
    under = entries[node, ABOVE]
    above = entries[under, ABOVE]
    if entries[under, SMALLER] == node:
        inner = entries[node, GREATER]
        entries[under, SMALLER], entries[node, GREATER] = inner, under
    else:
        inner = entries[node, SMALLER]
        entries[under, GREATER], entries[node, SMALLER] = inner, under
    if inner != NOTHING:
        entries[inner, ABOVE] = under
    if above != NOTHING:
        entries[above, SMALLER if entries[above, SMALLER] == under else GREATER] = node
    entries[under, ABOVE], entries[node, ABOVE] = node, above
    note_farthest(under, entries)
    note_farthest(node, entries)


@borrowing
def add_interval(root, made, entries):
    """Into the tree of `root`; returns its new root."""
    entries[made, SMALLER] = entries[made, GREATER] = entries[made, ABOVE] = NOTHING
    entries[made, FARTHEST] = made
    lowest, highest = entries[made, LOWEST], entries[made, HIGHEST]
    above, at, side = np.int64(NOTHING), np.int64(root), SMALLER
    while at != NOTHING:
        above = at
        entries[at, FARTHEST] = farther(entries[at, FARTHEST], made, entries)
        is_smaller = lowest < entries[at, LOWEST] or (lowest == entries[at, LOWEST] and highest > entries[at, HIGHEST])
        side = SMALLER if is_smaller else GREATER
        at = entries[at, side]
    if above == NOTHING:
        return np.int64(made)
    entries[made, ABOVE], entries[above, side] = above, made
    while entries[made, ABOVE] != NOTHING and stands_above(made, entries[made, ABOVE]):
        rotate_up(made, entries)
    return np.int64(made) if entries[made, ABOVE] == NOTHING else np.int64(root)


@borrowing
def containing(root, low, high, entries):
    """Of the intervals that contain one, that which begins last, and then ends first; NOTHING if none does."""
    found, at = np.int64(NOTHING), np.int64(root)
    while at != NOTHING:
        if entries[at, LOWEST] > low:
            at = entries[at, SMALLER]
            continue
        if entries[at, HIGHEST] >= high or reaches(entries[at, SMALLER], high, entries):
            found = at
        at = entries[at, GREATER]
    if found == NOTHING or entries[found, HIGHEST] >= high:
        return found
    found = entries[found, SMALLER]  # all of these begin early enough
    while True:
        if reaches(entries[found, GREATER], high, entries):
            found = entries[found, GREATER]
        elif entries[found, HIGHEST] >= high:
            return found
        else:
            found = entries[found, SMALLER]


@borrowing
def farthest_from(root, low, entries):
    """Of the intervals that begin at a time or before it, the one that ends last; NOTHING if there is none."""
    found, at = np.int64(NOTHING), np.int64(root)
    while at != NOTHING:
        if entries[at, LOWEST] > low:
            at = entries[at, SMALLER]
            continue
        if entries[at, SMALLER] != NOTHING:
            found = farther(found, entries[entries[at, SMALLER], FARTHEST], entries)
        found = farther(found, at, entries)
        at = entries[at, GREATER]
    return found
