"""The arrays in which runs live between calls of the kernel: they grow, are compacted, shed, saved and loaded here."""

from __future__ import annotations

import numpy as np

from ostinato.kernels import run_table as table
from ostinato.kernels.run_table import compact_nodes
from ostinato.program.program import Register

FIRST_CAPACITY = 64


class RunStore:
    """See `kernels.run_table` for the columns. `nodes` and `found` stay empty where matches are only counted."""

    def __init__(self, registers: tuple[Register, ...], keeps_matches: bool) -> None:
        self._initial = np.array([register.counter for register in registers], np.uint8)
        self.keeps_matches = keeps_matches
        self.runs = np.zeros((0, table.RUN_COLUMNS), np.int64)
        self.registers = np.zeros((0, len(registers)), np.int64)
        self.register_valid = np.zeros((0, len(registers)), np.uint8)
        self.nodes = np.zeros((FIRST_CAPACITY if keeps_matches else 0, table.NODE_COLUMNS), np.int64)
        self.found = np.zeros((FIRST_CAPACITY if keeps_matches else 0, 2), np.int64)
        self.header = np.zeros(table.HEADER_CELLS, np.int64)
        self.head = np.zeros(0, np.int64)
        self.shed = 0
        self._reachable = FIRST_CAPACITY  # nodes after the last compaction
        self.header[table.FREE] = table.NOTHING
        self.header[table.USED] = table.RESERVED
        self._resize(FIRST_CAPACITY)
        self._reserve()

    def _resize(self, capacity: int) -> None:
        self.runs = _grown(self.runs, capacity)
        self.registers = _grown(self.registers, capacity)
        self.register_valid = _grown(self.register_valid, capacity)
        self.born = np.empty(capacity, np.int64)
        self.live = np.empty(capacity, np.int64)
        self.spare = np.empty(capacity, np.int64)

    def _reserve(self) -> None:
        """The empty run: nothing selected, counters at zero, everything else null."""
        self.runs[: table.RESERVED] = table.NOTHING
        if not self.keeps_matches:
            self.runs[table.EMPTY, table.NODE] = 1
        self.registers[table.EMPTY] = 0
        self.register_valid[table.EMPTY] = self._initial

    def ensure_keys(self, count: int) -> None:
        if count > len(self.head):
            more = max(count, 2 * len(self.head)) - len(self.head)
            self.head = np.concatenate([self.head, np.full(more, table.NOTHING, np.int64)])

    def make_room(self, fanout: int) -> None:
        """After the kernel stopped for want of space: twice as much, or what unreachable nodes give back."""
        most = int(self.header[table.LIVE] + 1) * fanout
        if self.header[table.LIVE] + most > len(self.runs) - table.RESERVED:
            self._resize(2 * (len(self.runs) + most))
        if not self.keeps_matches:
            return
        if self.header[table.FOUND] + most > len(self.found):
            self.found = _grown(self.found, 2 * (len(self.found) + most))
        if self.header[table.NODES] + most > len(self.nodes):
            self.compact()
            if 2 * (self.header[table.NODES] + most) > len(self.nodes):
                self.nodes = _grown(self.nodes, 2 * (len(self.nodes) + most))

    def compact(self) -> None:
        header = self.header
        header[table.NODES] = compact_nodes(
            self.runs, header[table.USED], self.nodes, header[table.NODES], self.found, header[table.FOUND]
        )
        self._reachable = max(FIRST_CAPACITY, int(header[table.NODES]))

    @property
    def has_doubled(self) -> bool:
        """Whether compacting is paid for by the nodes made since the last time."""
        return bool(self.header[table.NODES] > 2 * self._reachable)

    @property
    def bytes(self) -> int:
        """What runs and nodes in use take."""
        run = self.runs.itemsize * table.RUN_COLUMNS + 9 * self.registers.shape[1]
        return int(self.header[table.LIVE]) * run + int(self.header[table.NODES]) * table.NODE_COLUMNS * 8

    def shed_oldest(self, count: int) -> None:
        """Doom the runs that started first."""
        used = int(self.header[table.USED])
        alive = table.RESERVED + np.flatnonzero(
            (self.runs[table.RESERVED : used, table.COMPONENT] != table.NOTHING) & (self.runs[table.RESERVED : used, table.DOOMED] == 0)
        )
        order = np.lexsort((self.runs[alive, table.FIRST_ORDINAL], self.runs[alive, table.FIRST_TIME]))
        doomed = alive[order[:count]]
        self.runs[doomed, table.DOOMED] = 1
        self.shed += len(doomed)
        self._unlink_doomed()

    def _unlink_doomed(self) -> None:
        for key in np.flatnonzero(self.head != table.NOTHING):
            count = table.collect_runs(self.runs, self.header, self.head, key, self.live)
            table.link_runs(self.runs, self.head, key, self.live, count)

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.ensure_keys(int(old_of_new.max(initial=-1)) + 1)
        self.head = self.head[old_of_new]

    def state(self) -> dict[str, np.ndarray]:
        if self.keeps_matches:
            self.compact()
        used, nodes = int(self.header[table.USED]), int(self.header[table.NODES])
        return {
            "runs": self.runs[:used],
            "registers": self.registers[:used],
            "register_valid": self.register_valid[:used],
            "nodes": self.nodes[:nodes],
            "header": self.header,
            "head": self.head,
            "shed": np.array([self.shed]),
        }

    def load(self, state: dict[str, np.ndarray]) -> None:
        used = len(state["runs"])
        self._resize(max(FIRST_CAPACITY, 2 * used))
        self.runs[:used] = state["runs"]
        self.registers[:used] = state["registers"]
        self.register_valid[:used] = state["register_valid"]
        self.nodes = _grown(np.ascontiguousarray(state["nodes"]), max(FIRST_CAPACITY, 2 * len(state["nodes"])))
        self.header = state["header"].copy()
        self.head = state["head"].copy()
        self.shed = int(state["shed"][0])


def _grown(array: np.ndarray, capacity: int) -> np.ndarray:
    new = np.zeros((capacity, *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new
