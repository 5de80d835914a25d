"""Rows of equal value, linked in their order, for searches that ask for equality: part of the index of a partition.

In a line of `links` the index has LINKS numbers per block of rows: for every row the next one whose value has the same hash, then for
every hash the first and the last such row, side by side; rows count from the first of the index, and -1 is none."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import inlined

SHIFT = 4  # a block has 16 rows, or 16 blocks
FAN = 1 << SHIFT
LINKS = 3 * FAN

_FACTOR = np.int64(-7046029254386353131)


@inlined
def hashes(room):
    """How many hashes an index with room for so many blocks tells apart: a power of two, and no more than it has rows."""
    count = FAN
    while 2 * count <= room << SHIFT:
        count *= 2
    return count


@inlined
def hash_of(value, count):
    mixture = value * _FACTOR
    return (mixture ^ (mixture >> 32)) & (count - 1)


@inlined
def begin_links(links, place, room):
    for line in range(len(links)):
        for at in range(place * LINKS, (place + room) * LINKS):
            links[line, at] = -1


@inlined
def link(links, line, place, room, count, row, value):
    """`count` is that of `hashes`."""
    firsts = place * LINKS + (room << SHIFT)
    at = firsts + 2 * hash_of(value, count)
    last = links[line, at + 1]
    if links[line, at] < 0:
        links[line, at] = row
    if last >= 0:
        links[line, place * LINKS + last] = row
    links[line, at + 1] = row


@inlined
def first_linked(links, line, place, room, start, value):
    """The first row from `start` on that has the hash of the value; rows before are forgotten. A last row that was forgotten stays
    behind, so that rows to come are linked to it and found anew."""
    at = place * LINKS + (room << SHIFT) + 2 * hash_of(value, hashes(room))
    row = links[line, at]
    while row >= 0 and row < start:
        row = links[line, place * LINKS + row]
    links[line, at] = row
    return row


@inlined
def next_linked(links, line, place, row):
    return links[line, place * LINKS + row]
