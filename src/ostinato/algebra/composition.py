"""Composition of Allen's relations: what `A r B` and `B s C` leave possible between A and C. Sets of relations are bits of a number, in
the order of `Relation`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ostinato.algebra.allen import Relation

RELATIONS = tuple(Relation)
ANY = (1 << len(RELATIONS)) - 1

# A line for each relation of A to B, a column for each of B to C.
TABLE = (
    (0x0001, 0x0001, 0x0001, 0x0001, 0x001f, 0x001f, 0x0001, 0x0001, 0x0001, 0x0001, 0x001f, 0x001f, 0x1fff),  # before
    (0x0001, 0x0001, 0x0001, 0x0002, 0x001c, 0x001c, 0x0002, 0x0001, 0x0001, 0x0002, 0x001c, 0x00e0, 0x1f00),  # meets
    (0x0001, 0x0001, 0x0007, 0x0004, 0x001c, 0x001c, 0x0004, 0x0007, 0x0187, 0x0184, 0x07fc, 0x0700, 0x1f00),  # overlaps
    (0x0001, 0x0001, 0x0007, 0x0008, 0x0010, 0x0010, 0x0008, 0x0007, 0x0187, 0x0248, 0x0430, 0x0800, 0x1000),  # starts
    (0x0001, 0x0001, 0x001f, 0x0010, 0x0010, 0x0010, 0x0010, 0x001f, 0x1fff, 0x1c30, 0x1c30, 0x1000, 0x1000),  # during
    (0x0001, 0x0002, 0x001c, 0x0010, 0x0010, 0x0020, 0x0020, 0x00e0, 0x1f00, 0x1c00, 0x1c00, 0x1000, 0x1000),  # finishes
    (0x0001, 0x0002, 0x0004, 0x0008, 0x0010, 0x0020, 0x0040, 0x0080, 0x0100, 0x0200, 0x0400, 0x0800, 0x1000),  # equals
    (0x0001, 0x0002, 0x0004, 0x0004, 0x001c, 0x00e0, 0x0080, 0x0080, 0x0100, 0x0100, 0x0700, 0x0700, 0x1f00),  # finished by
    (0x0187, 0x0184, 0x0184, 0x0184, 0x07fc, 0x0700, 0x0100, 0x0100, 0x0100, 0x0100, 0x0700, 0x0700, 0x1f00),  # contains
    (0x0187, 0x0184, 0x0184, 0x0248, 0x0430, 0x0400, 0x0200, 0x0100, 0x0100, 0x0200, 0x0400, 0x0800, 0x1000),  # started by
    (0x0187, 0x0184, 0x07fc, 0x0430, 0x0430, 0x0400, 0x0400, 0x0700, 0x1f00, 0x1c00, 0x1c00, 0x1000, 0x1000),  # overlapped by
    (0x0187, 0x0248, 0x0430, 0x0430, 0x0430, 0x0800, 0x0800, 0x0800, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000),  # met by
    (0x1fff, 0x1c30, 0x1c30, 0x1c30, 0x1c30, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000),  # after
)  # fmt: skip

Network = dict[tuple[int, int], int]  # the relations that are left between two of the intervals, by their numbers


def members(relations: int) -> Iterator[int]:
    while relations:
        lowest = relations & -relations
        yield lowest.bit_length() - 1
        relations ^= lowest


def inverse(relations: int) -> int:
    """The relations are listed so that the first is the inverse of the last."""
    return sum(1 << (len(RELATIONS) - 1 - number) for number in members(relations))


@lru_cache(1 << 12)
def composed(first: int, second: int) -> int:
    if first == ANY or second == ANY:
        return ANY
    found = 0
    for number in members(first):
        for other in members(second):
            found |= TABLE[number][other]
    return found


def path_consistent(network: Network, count: int) -> Network | None:
    """The network without relations that no third interval admits (Allen 1983); None: there is none left between two of them. Pairs that
    are not listed are in any relation."""
    left = dict(network)
    for (i, j), relations in network.items():
        left[j, i] = inverse(relations)
    waiting = list(left)
    if not all(left.values()):
        return None
    while waiting:
        i, j = waiting.pop()
        for k in range(count):
            if k in (i, j):
                continue
            for a, b, c in ((i, j, k), (k, i, j)):
                before = left.get((a, c), ANY)
                after = before & composed(left.get((a, b), ANY), left.get((b, c), ANY))
                if not after:
                    return None
                if after != before:
                    left[a, c], left[c, a] = after, inverse(after)
                    waiting.append((a, c))
    return left
