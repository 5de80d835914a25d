"""Where ordered threads and their paths are kept: arrays that grow, and give up what nobody holds any more."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.rows.grouping import ranges
from ostinato.kernels.threads import thread_layout as layout
from ostinato.kernels.threads.thread_paths import collect

MIN_ROOM = 64
MIN_NODES = 1 << 10


class ThreadStore:
    """`threads` (state, path) with `registers` hold the attempt that is worked on, in two halves; `saved` those of the partitions that
    wait; `nodes` (previous node, variable) the paths; `cursor` where each partition stands."""

    def __init__(self, registers: int) -> None:
        self._register_count = registers
        self.control = np.zeros(layout.CONTROL_WIDTH, np.int64)
        self.cursor = np.empty((0, layout.CURSOR_WIDTH), np.int64)
        self.nodes = np.empty((MIN_NODES, 2), np.int64)
        self._make_halves(MIN_ROOM)
        self._make_saved(MIN_ROOM)

    def _make_halves(self, room: int) -> None:
        self.threads = np.zeros((2 * room, 2), np.int64)
        self.chain = np.zeros(room, np.int64)
        self.registers = np.zeros((2 * room + 1, self._register_count), np.int64)  # the last line is nobody's, to write what is not kept
        self.register_valid = np.zeros((2 * room + 1, self._register_count), np.uint8)

    def _make_saved(self, room: int) -> None:
        self.saved = np.zeros((room, 2), np.int64)
        self.saved_registers = np.zeros((room, self._register_count), np.int64)
        self.saved_valid = np.zeros((room, self._register_count), np.uint8)

    def _worked_on(self) -> list[np.ndarray]:
        return [self.threads, self.registers, self.register_valid]

    def _stored(self) -> list[np.ndarray]:
        return [self.saved, self.saved_registers, self.saved_valid]

    def ensure_keys(self, count: int) -> None:
        have = len(self.cursor)
        if count > have:
            grown = np.empty((max(count, 2 * have) if have else count, layout.CURSOR_WIDTH), np.int64)
            grown[:have] = self.cursor
            grown[have:] = (-1, -1, -1, layout.NO_NODE, 0, 0, 0)
            self.cursor = grown

    @property
    def room(self) -> int:
        """How many threads an attempt may have."""
        return len(self.threads) // 2

    def grow_room(self) -> None:
        """Twice the room in each half; the threads in use become the first half's."""
        count, begin = int(self.control[layout.COUNT]), int(self.control[layout.HALF]) * self.room
        old = self._worked_on()
        self._make_halves(2 * self.room)
        if self.control[layout.LOADED]:
            for new, values in zip(self._worked_on(), old, strict=True):
                new[:count] = values[begin : begin + count]
            self.control[layout.HALF] = 0

    def room_to_save(self, needed: int) -> None:
        """Drop threads that were taken out, and grow the store if it is still more than half full. The partition that is being worked
        on has its threads elsewhere."""
        old = self._stored()
        holders = np.flatnonzero(self.cursor[:, layout.SAVED_COUNT])
        counts = self.cursor[holders, layout.SAVED_COUNT]
        source = ranges(self.cursor[holders, layout.SAVED_AT], counts)
        self._make_saved(max(MIN_ROOM, 2 * (len(source) + needed)))
        for new, values in zip(self._stored(), old, strict=True):
            new[: len(source)] = values[source]
        self.cursor[holders, layout.SAVED_AT] = np.cumsum(counts) - counts
        self.control[layout.SAVED] = len(source)

    def room_for_nodes(self) -> None:
        """Drop nodes that are on no path, and grow the store if it is still more than half full."""
        count = int(self.control[layout.NODES])
        self.room_to_save(0)
        marked = np.zeros(count, np.uint8)
        renumbered = np.zeros(count, np.int64)
        holders = [self.saved[: self.control[layout.SAVED], 1], self.cursor[:, layout.END_NODE]]
        if self.control[layout.LOADED]:
            begin = int(self.control[layout.HALF]) * self.room
            holders.append(self.threads[begin : begin + int(self.control[layout.COUNT]), 1])
        for holder in holders:
            marked[holder[holder >= 0]] = 1
        kept = collect(self.nodes, count, marked, renumbered)
        for holder in holders:  # views: what they show is replaced in place
            held = holder >= 0
            holder[held] = renumbered[holder[held]]
        self.control[layout.NODES] = kept
        self.control[layout.NODE_BASE] = -1
        wanted = 2 * (kept + self.room)  # a step makes no more nodes than there is room for threads
        if wanted > len(self.nodes):
            self.nodes = np.concatenate([self.nodes[:kept], np.empty((wanted - kept, 2), np.int64)])

    def collect_garbage(self) -> None:
        """Between feeds: give up what nobody holds."""
        self.room_for_nodes()

    @property
    def thread_count(self) -> int:
        return int(self.cursor[:, layout.SAVED_COUNT].sum())

    @property
    def bytes(self) -> int:
        arrays = [*self._worked_on(), *self._stored(), self.cursor]
        return sum(array.nbytes for array in arrays) + 16 * int(self.control[layout.NODES])

    def state(self) -> dict[str, np.ndarray]:
        self.collect_garbage()
        saved, nodes = int(self.control[layout.SAVED]), int(self.control[layout.NODES])
        return {
            "cursor": self.cursor.copy(),
            "threads": self.saved[:saved].copy(),
            "registers": self.saved_registers[:saved].copy(),
            "register_valid": self.saved_valid[:saved].copy(),
            "nodes": self.nodes[:nodes].copy(),
        }

    def load(self, state: dict[str, np.ndarray]) -> None:
        self.cursor = np.array(state["cursor"], np.int64, order="C").reshape(-1, layout.CURSOR_WIDTH)
        count, nodes = len(state["threads"]), len(state["nodes"])
        self._make_saved(max(MIN_ROOM, 2 * count))
        self.saved[:count] = state["threads"].reshape(count, 2)
        self.saved_registers[:count] = state["registers"].reshape(count, self._register_count)
        self.saved_valid[:count] = state["register_valid"].reshape(count, self._register_count)
        self.nodes = np.empty((max(MIN_NODES, 2 * nodes), 2), np.int64)
        self.nodes[:nodes] = state["nodes"].reshape(nodes, 2)
        self.control[layout.SAVED], self.control[layout.NODES], self.control[layout.LOADED] = count, nodes, 0
