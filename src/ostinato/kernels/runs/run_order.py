"""Runs that wait for a value in an interval, such as one above a threshold, kept in the order of where it begins.

The runs of a key and state form a search tree: a node is a run with the interval [LO, HI], and knows the greatest HI of its subtree.
Runs have random priorities, higher ones above lower ones, which keeps the tree flat. An event finds the runs in whose interval its
value lies without meeting the others."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined

NOTHING = -1

# Columns of `order`
LEFT, RIGHT, ABOVE, LO, HI, TOP = range(6)
ORDER_COLUMNS = 6

_FACTOR = np.int64(-7046029254386353131)


@inlined
def priority(run):
    mixture = (run + 1) * _FACTOR
    return mixture ^ (mixture >> 29)


@inlined
def update_top(order, run):
    top = order[run, HI]
    if order[run, LEFT] != NOTHING:
        top = max(top, order[order[run, LEFT], TOP])
    if order[run, RIGHT] != NOTHING:
        top = max(top, order[order[run, RIGHT], TOP])
    order[run, TOP] = top


@inlined
def put_in_place_of(order, per_key, key, root, run, other):
    """Let what stands above `run` stand above `other`."""
    above = order[run, ABOVE]
    if above == NOTHING:
        per_key[key, root] = other
    elif order[above, LEFT] == run:
        order[above, LEFT] = other
    else:
        order[above, RIGHT] = other
    if other != NOTHING:
        order[other, ABOVE] = above


@borrowing
def lift(order, per_key, key, root, run):
    """Exchange a run with the one above it."""
    above = order[run, ABOVE]
    put_in_place_of(order, per_key, key, root, above, run)
    near, far = (RIGHT, LEFT) if order[above, LEFT] == run else (LEFT, RIGHT)
    moved = order[run, near]
    order[above, far] = moved
    if moved != NOTHING:
        order[moved, ABOVE] = above
    order[run, near] = above
    order[above, ABOVE] = run
    update_top(order, above)
    update_top(order, run)


@borrowing
def insert(order, per_key, key, root, run, lo, hi):
    """`root`: the column of `per_key` that holds the root."""
    order[run, LEFT], order[run, RIGHT], order[run, ABOVE] = NOTHING, NOTHING, NOTHING
    order[run, LO], order[run, HI], order[run, TOP] = lo, hi, hi
    at = per_key[key, root]
    if at == NOTHING:
        per_key[key, root] = run
        return
    side = LEFT
    while at != NOTHING:
        order[at, TOP] = max(order[at, TOP], hi)
        order[run, ABOVE] = at
        side = LEFT if lo < order[at, LO] else RIGHT
        at = order[at, side]
    order[order[run, ABOVE], side] = run
    while order[run, ABOVE] != NOTHING and priority(run) > priority(order[run, ABOVE]):
        lift(order, per_key, key, root, run)


@borrowing
def remove(order, per_key, key, root, run):
    while order[run, LEFT] != NOTHING and order[run, RIGHT] != NOTHING:
        left, right = order[run, LEFT], order[run, RIGHT]
        lift(order, per_key, key, root, left if priority(left) > priority(right) else right)
    child = order[run, LEFT] if order[run, LEFT] != NOTHING else order[run, RIGHT]
    put_in_place_of(order, per_key, key, root, run, child)
    above = order[run, ABOVE]
    while above != NOTHING:
        update_top(order, above)
        above = order[above, ABOVE]


@inlined
def lowest(order, run, value):
    """The first run of a subtree, in order, below which there is nothing that ends before `value`."""
    while order[run, LEFT] != NOTHING and order[order[run, LEFT], TOP] >= value:
        run = order[run, LEFT]
    return run


@borrowing
def stabbed(order, run, value, live, count):
    """Write the runs of the tree `run` whose interval holds the value behind the first `count` of `live`; returns how many there are
    then."""
    if run == NOTHING or order[run, TOP] < value:
        return count
    run = lowest(order, run, value)
    while run != NOTHING and order[run, LO] <= value:
        if order[run, HI] >= value:
            live[count] = run
            count += 1
        following = order[run, RIGHT]
        if following != NOTHING and order[following, TOP] >= value:
            run = lowest(order, following, value)
        else:
            above = order[run, ABOVE]
            while above != NOTHING and order[above, RIGHT] == run:
                run, above = above, order[above, ABOVE]
            run = above
    return count
