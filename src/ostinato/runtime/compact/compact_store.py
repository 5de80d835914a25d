"""The arrays in which the strategy "compact" keeps partial matches between calls of its kernel."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.compact import compact as kernel
from ostinato.kernels.compact import heap_collection
from ostinato.kernels.compact import start_heaps as graph
from ostinato.kernels.compact.compact_best import UNDECIDED

FIRST_CAPACITY = 4096  # of nodes: with 1024 of them half the time of a dense query went into making room
NODE_BYTES = 8 * graph.NODE_COLUMNS
EARLIEST = np.iinfo(np.int64).min


class CompactStore:
    """See `kernels.compact.compact` and `kernels.compact.start_heaps`."""

    def __init__(self, states: int, span: int, by_time: bool, chooses: bool) -> None:
        self._span = span
        self._ahead = 0 if by_time else 1  # the next row may have the time of the last one, but not its number
        self._chooses = chooses
        self.nodes = np.zeros((FIRST_CAPACITY, graph.NODE_COLUMNS), np.int64)
        self.found = np.zeros((FIRST_CAPACITY, kernel.FOUND_COLUMNS), np.int64)
        self.chosen = np.zeros((FIRST_CAPACITY if chooses else 0, 2), np.int64)
        self.best = np.full((FIRST_CAPACITY if chooses else 1, 2), UNDECIDED, np.int32)
        self.spine = np.zeros(2 * graph.MOST_COPIES, np.int64)
        self.header = np.zeros(kernel.HEADER_CELLS, np.int64)
        self.roots = np.zeros((0, states), np.int32)
        self.partitions = np.zeros((0, graph.PARTITION_COLUMNS), np.int64)
        self.shed = 0
        self.peak = 0
        self._reachable = FIRST_CAPACITY  # nodes after the last collection
        self._oldest = np.zeros(0, np.int64)

    def ensure_keys(self, count: int) -> None:
        have = len(self.partitions)
        if count > have:
            more = max(count, have + have // 2) - have
            self.roots = np.concatenate([self.roots, np.zeros((more, self.roots.shape[1]), np.int32)])
            self.partitions = np.concatenate([self.partitions, np.zeros((more, graph.PARTITION_COLUMNS), np.int64)])

    @property
    def active(self) -> np.ndarray:
        return self.partitions[:, graph.ACTIVE]

    @property
    def used(self) -> int:
        return int(self.header[kernel.NODES])

    @property
    def bytes(self) -> int:
        """What nodes and partitions in use take."""
        per_key = 4 * self.roots.shape[1] + 8 * graph.PARTITION_COLUMNS
        return self.used * NODE_BYTES + int(np.count_nonzero(self.active)) * per_key

    def make_room(self, transitions: int) -> None:
        """After the kernel stopped for want of space, with nothing left in `found`: what unreachable nodes give back, or twice as much."""
        most = (transitions + 1) * (1 + graph.MOST_COPIES)
        if transitions >= len(self.found) // 2:
            self.found = np.zeros((4 * transitions, kernel.FOUND_COLUMNS), np.int64)
        if self._chooses:
            longest = int(self.partitions[:, graph.STEPS].max(initial=0)) + 1
            if longest > len(self.chosen) // 2:
                self.chosen = np.zeros((4 * longest, 2), np.int64)
        if self.used + most > len(self.nodes) // 2:
            self.collect()
            if self.used + most > len(self.nodes) // 2:
                self._resize(2 * (len(self.nodes) + most))

    def _resize(self, capacity: int) -> None:
        nodes = np.empty((capacity, graph.NODE_COLUMNS), np.int64)
        nodes[: self.used] = self.nodes[: self.used]
        self.nodes = nodes
        if self._chooses:
            self.best = np.full((capacity, 2), UNDECIDED, np.int32)

    def collect(self, earliest_starts: np.ndarray | None = None) -> None:
        """Let go of nodes that no partial match needs any more; `earliest_starts` drops starts before them as well."""
        self.peak = max(self.peak, self.used)
        if earliest_starts is None:
            earliest_starts = self._earliest_starts()
        self._oldest = np.zeros(len(self.partitions), np.int64)
        self.header[kernel.NODES] = heap_collection.collect(
            self.nodes, self.used, self.roots, self.partitions, earliest_starts, self._oldest
        )
        if self._chooses:
            self.best[: self.used] = UNDECIDED
        self._reachable = max(FIRST_CAPACITY, self.used)

    def _earliest_starts(self) -> np.ndarray:
        clock = self.partitions[:, graph.CLOCK]
        return np.where(clock < EARLIEST + self._span, EARLIEST, clock - self._span + self._ahead)

    @property
    def has_doubled(self) -> bool:
        """Whether collecting is paid for by the nodes made since the last time."""
        return self.used > 2 * max(self._reachable, len(self.partitions) // 4)

    def shed_oldest(self, part: int) -> None:
        """Drop the partial matches that started in the first `part`-th of the time that each partition looks back on."""
        self.collect()
        before = heap_collection.count_starts(self.nodes, self.used)
        live = self.active != 0
        clock, oldest = self.partitions[:, graph.CLOCK], self._oldest
        self.collect(np.where(live, oldest + (clock - oldest) // part + 1, EARLIEST))
        self.shed += int(before - heap_collection.count_starts(self.nodes, self.used))

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.ensure_keys(int(old_of_new.max(initial=-1)) + 1)
        self.roots = np.ascontiguousarray(self.roots[old_of_new])
        self.partitions = np.ascontiguousarray(self.partitions[old_of_new])

    def state(self) -> dict[str, np.ndarray]:
        self.collect()
        live = np.flatnonzero(self.active)
        return {
            "nodes": self.nodes[: self.used],
            "header": self.header,
            "live": live,
            "roots": self.roots[live],
            "partitions": self.partitions,
            "counters": np.array([self.shed, self.peak]),
        }

    def load(self, state: dict[str, np.ndarray]) -> None:
        self.header = state["header"].copy()
        self.header[kernel.NODES], self.header[kernel.FOUND], self.header[kernel.CHOSEN] = len(state["nodes"]), 0, 0
        self.partitions = state["partitions"].copy()
        steps = self.partitions[:, graph.STEPS]
        np.minimum(steps, len(state["nodes"]), out=steps)  # no match is longer
        self.roots = np.zeros((len(self.partitions), self.roots.shape[1]), np.int32)
        occupied = self.active[state["live"], None] >> np.arange(self.roots.shape[1]) & 1
        self.roots[state["live"]] = np.where(occupied, state["roots"], 0)
        self.nodes = np.ascontiguousarray(state["nodes"])
        self._resize(max(FIRST_CAPACITY, 2 * len(state["nodes"])))
        self._reachable = max(FIRST_CAPACITY, self.used)
        self.shed, self.peak = (int(value) for value in state["counters"])
