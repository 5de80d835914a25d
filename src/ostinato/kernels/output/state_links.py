"""Walks over links that came from outside: nothing is followed before it was looked at. What a node points to has a smaller number."""

from __future__ import annotations

from ostinato.kernels._jit import jit

NOTHING = -1


@jit("boolean(int64[:,::1], int64[::1])")
def spread_owners(links, owner):
    """Give the nodes that a node leads to its owner; false if one leads to itself or a later one, or has two owners."""
    count = links.shape[0]
    for node in range(count - 1, -1, -1):
        for i in range(links.shape[1]):
            to = links[node, i]
            if to == NOTHING:
                continue
            if to < 0 or to >= node:
                return False
            if owner[node] != NOTHING:
                if owner[to] != NOTHING and owner[to] != owner[node]:
                    return False
                owner[to] = owner[node]
    return True


@jit("void(int64[::1], int64[::1], int64[::1])")
def path_lengths(before, rows, out):
    """How many rows stand on the way that ends with each node, its own counted. Links were looked at."""
    for node in range(len(before)):
        out[node] = rows[node] + (0 if before[node] == NOTHING else out[before[node]])


@jit("void(int64[::1], int64[:,::1], int64[::1])")
def greatest_below(values, links, out):
    """The greatest value of each node and of those that its links lead to. Links were looked at."""
    for node in range(len(values)):
        most = values[node]
        for i in range(links.shape[1]):
            to = links[node, i]
            if to != NOTHING and out[to] > most:
                most = out[to]
        out[node] = most


@jit("void(int64[:,::1], int64[::1], int64[::1])")
def longest_paths(links, longest, heaps):
    """Of heaps whose nodes (before, left, right) lead to heaps before them: how long the longest path is that ends with a node, and with
    any node of its heap. Links were looked at."""
    for node in range(links.shape[0]):
        before, left, right = links[node, 0], links[node, 1], links[node, 2]
        longest[node] = 1 + (0 if before == NOTHING else heaps[before])
        heaps[node] = longest[node]
        if left != NOTHING:
            heaps[node] = max(heaps[node], heaps[left])
        if right != NOTHING:
            heaps[node] = max(heaps[node], heaps[right])


@jit("int64(int64[::1], int64[::1], int64[::1])")
def count_chained(heads, following, holder):
    """Follow the lists that begin at `heads`, and write into `holder` (all NOTHING at first) which list each member is in; returns how
    many there are, -1 if a link leads nowhere or a member is met twice."""
    count = 0
    for i in range(len(heads)):
        at = heads[i]
        while at != NOTHING:
            if at < 0 or at >= len(following) or holder[at] != NOTHING:
                return -1
            holder[at] = i
            count += 1
            at = following[at]
    return count
