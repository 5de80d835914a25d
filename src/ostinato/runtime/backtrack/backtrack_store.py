"""The arrays of backtracking between calls of the kernel: they grow, are compacted, shed, saved and loaded here."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.backtrack import backtrack_table as table
from ostinato.program.scalar_code import Register
from ostinato.runtime.rows.array_growth import grown

FIRST_CAPACITY = 64


class BacktrackStore:
    """See `kernels.backtrack.backtrack_table` for the columns. `nodes` and `found` stay as they are where matches are only counted.
    Registers lie in one array: those of the stack, those of the runs that wait, and last those of the empty run."""

    def __init__(self, registers: tuple[Register, ...], segment: int) -> None:
        self.stack = np.zeros((FIRST_CAPACITY, table.STACK_COLUMNS), np.int64)
        self.waiting = np.zeros((FIRST_CAPACITY, table.WAITING_COLUMNS), np.int64)
        self.registers = np.zeros((2 * FIRST_CAPACITY + 1, len(registers)), np.int64)
        self.register_valid = np.zeros((2 * FIRST_CAPACITY + 1, len(registers)), np.uint8)
        self.register_valid[-1] = [register.counter for register in registers]
        self.nodes = np.zeros((FIRST_CAPACITY, table.NODE_COLUMNS), np.int64)
        self.found = np.zeros((FIRST_CAPACITY, 2), np.int64)
        self.header = np.zeros(table.HEADER_CELLS, np.int64)
        self.header[table.FREE] = table.NOTHING
        self.header[table.SEGMENT] = segment
        self.head = np.zeros(0, np.int64)
        self.shed = 0
        self._reachable = FIRST_CAPACITY

    @property
    def live_runs(self) -> int:
        return int(self.header[table.LIVE])

    @property
    def key_count(self) -> int:
        return len(self.head)

    @property
    def busy(self) -> np.ndarray:
        """Per key, whether it has runs."""
        return self.head != table.NOTHING

    @property
    def alive(self) -> np.ndarray:
        """Where the registers of the runs lie that wait."""
        return len(self.stack) + self._alive()

    def ensure_keys(self, count: int) -> None:
        if count > len(self.head):
            more = max(count, 2 * len(self.head)) - len(self.head)
            self.head = np.concatenate([self.head, np.full(more, table.NOTHING, np.int64)])

    def make_room(self, fanout: int) -> None:
        """After the kernel stopped for want of space: twice as much of what was short."""
        header = self.header
        stack, waiting = len(self.stack), len(self.waiting)
        if header[table.DEPTH] + fanout >= stack:
            stack = 2 * (stack + fanout)
        if header[table.LIVE] + 1 >= waiting:
            waiting = 2 * waiting
        self._resize(stack, waiting)
        if header[table.NODES] + fanout >= len(self.nodes):
            self.nodes = grown(self.nodes, 2 * (len(self.nodes) + fanout))
        if header[table.FOUND] + fanout >= len(self.found):
            self.found = grown(self.found, 2 * (len(self.found) + fanout))

    def _resize(self, stack: int, waiting: int) -> None:
        if (stack, waiting) == (len(self.stack), len(self.waiting)):
            return
        self.registers = self._laid_out(self.registers, stack, waiting)
        self.register_valid = self._laid_out(self.register_valid, stack, waiting)
        self.stack, self.waiting = grown(self.stack, stack), grown(self.waiting, waiting)

    def _laid_out(self, registers: np.ndarray, stack: int, waiting: int) -> np.ndarray:
        wider = np.zeros((stack + waiting + 1, registers.shape[1]), registers.dtype)
        wider[: len(self.stack)] = registers[: len(self.stack)]
        wider[stack : stack + len(self.waiting)] = registers[len(self.stack) : -1]
        wider[-1] = registers[-1]
        return wider

    def collect_garbage(self) -> None:
        """Drop the nodes that no waiting run reaches. Predecessors have smaller numbers, and keep them."""
        count, runs = int(self.header[table.NODES]), self._alive()
        if not count:
            return
        reached = np.zeros(count, np.bool_)
        front = np.unique(self.waiting[runs, table.NODE])
        while len(front):
            reached[front] = True
            front = np.unique(self.nodes[front, table.BEFORE])
            front = front[front != table.NOTHING]
            front = front[~reached[front]]
        moved = np.cumsum(reached) - 1
        kept = self.nodes[:count][reached]
        before = kept[:, table.BEFORE]
        kept[:, table.BEFORE] = np.where(before == table.NOTHING, table.NOTHING, moved[before])
        self.nodes[: len(kept)] = kept
        self.waiting[runs, table.NODE] = moved[self.waiting[runs, table.NODE]]
        self.header[table.NODES] = len(kept)
        self._reachable = max(FIRST_CAPACITY, len(kept))

    def _alive(self) -> np.ndarray:
        return np.flatnonzero(self.waiting[: self.header[table.USED], table.STATE] != table.NOTHING)

    @property
    def has_doubled(self) -> bool:
        """Whether compacting is paid for by the nodes made since the last time."""
        return bool(self.header[table.NODES] > 2 * self._reachable)

    @property
    def bytes(self) -> int:
        """What waiting runs and nodes in use take."""
        run = 8 * table.WAITING_COLUMNS + 9 * self.registers.shape[1]
        return self.live_runs * run + int(self.header[table.NODES]) * table.NODE_COLUMNS * 8

    def shed_oldest(self, count: int) -> None:
        """Drop the waiting runs that started first."""
        alive = self._alive()
        by_start = alive[np.lexsort((self.waiting[alive, table.FIRST_ORDINAL], self.waiting[alive, table.FIRST_TIME]))]
        doomed, kept = by_start[:count], by_start[count:]
        self.shed += len(doomed)
        self.waiting[doomed, table.STATE] = table.NOTHING
        self._link(kept)

    def _link(self, runs: np.ndarray) -> None:
        """Put these runs into the lists of their keys, in the order of their starts, and all other places into that of the free ones."""
        runs = runs[np.lexsort((self.waiting[runs, table.FIRST_ORDINAL], self.waiting[runs, table.KEY]))]
        keys = self.waiting[runs, table.KEY]
        first = np.concatenate([[True], keys[1:] != keys[:-1]])[: len(runs)]
        self.waiting[runs, table.NEXT] = np.where(np.append(first, True)[1:], table.NOTHING, np.append(runs, table.NOTHING)[1:])
        self.head[:] = table.NOTHING
        self.head[keys[first]] = runs[first]
        self._link_free()
        self.header[table.LIVE] = len(runs)

    def _link_free(self) -> None:
        free = np.flatnonzero(self.waiting[: self.header[table.USED], table.STATE] == table.NOTHING)
        self.waiting[free, table.NEXT] = np.append(free, table.NOTHING)[1:]
        self.header[table.FREE] = free[0] if len(free) else table.NOTHING

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.ensure_keys(int(old_of_new.max(initial=-1)) + 1)
        new_of_old = np.full(len(self.head), table.NOTHING, np.int64)
        new_of_old[old_of_new] = np.arange(len(old_of_new))
        alive = self._alive()
        self.waiting[alive, table.KEY] = new_of_old[self.waiting[alive, table.KEY]]
        self.head = self.head[old_of_new]

    def state(self) -> dict[str, np.ndarray]:
        self.collect_garbage()
        used, base = int(self.header[table.USED]), len(self.stack)
        return {
            "waiting": self.waiting[:used],
            "registers": self.registers[base : base + used],
            "register_valid": self.register_valid[base : base + used],
            "nodes": self.nodes[: self.header[table.NODES]],
            "header": self.header,
            "head": self.head,
            "shed": np.array([self.shed]),
        }

    def load(self, state: dict[str, np.ndarray]) -> None:
        used, base = len(state["waiting"]), len(self.stack)
        self._resize(base, max(FIRST_CAPACITY, 2 * used))
        self.waiting[:used] = state["waiting"]
        self.registers[base : base + used] = state["registers"]
        self.register_valid[base : base + used] = state["register_valid"]
        self.nodes = grown(np.ascontiguousarray(state["nodes"]), max(FIRST_CAPACITY, 2 * len(state["nodes"])))
        segment = self.header[table.SEGMENT]
        self.header = state["header"].copy()
        self.header[[table.FOUND, table.ERROR, table.AT_KEY, table.IN_KEY, table.DEPTH]] = 0
        self.header[table.NODES], self.header[table.USED], self.header[table.SEGMENT] = len(state["nodes"]), used, segment
        self.header[table.LIVE] = len(self._alive())
        self._link_free()
        self.head = state["head"].copy()
        self.shed = int(state["shed"][0])
