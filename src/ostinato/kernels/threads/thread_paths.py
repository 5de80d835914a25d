"""The paths of ordered threads: a node is a variable with the node before it, so that threads with a beginning in common share it."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing


@borrowing("int64(int64[:, ::1], int64, uint8[::1], int64[::1])")
def collect(nodes, count, marked, renumbered):
    """Keep the nodes on the paths to those marked: they transition to the front, `renumbered` says where. A parent is always older than
    its children. Returns how many there are."""
    for node in range(count - 1, -1, -1):
        if marked[node] and nodes[node, 0] >= 0:
            marked[nodes[node, 0]] = 1
    kept = 0
    for node in range(count):
        if marked[node]:
            parent = nodes[node, 0]
            nodes[kept, 0], nodes[kept, 1] = (renumbered[parent] if parent >= 0 else parent), nodes[node, 1]
            renumbered[node] = kept
            kept += 1
    return kept
