"""The arrays in which runs live between calls of the kernel: they grow, are compacted, shed, saved and loaded here."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.runs import node_collection, run_nodes, run_order, runs
from ostinato.kernels.runs import run_table as table
from ostinato.program.scalar_code import Register
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.runs.run_plan import RunPlan

FIRST_CAPACITY = 64
FULL_SLACK = 1 << 20  # runs: up to here, room is doubled
NO_TABLE = 1  # cells of a hash table that nobody uses
NO_SLOTS, NO_FLAGS = np.zeros((1, 0), np.int64), np.zeros((1, 0), np.uint8)  # runs find their places without looking at a row


class RunStore:
    """See `kernels.runs.run_table` and `kernels.runs.run_nodes` for the columns. `nodes` and `found` stay empty where matches are only
    counted."""

    def __init__(self, plan: RunPlan, registers: tuple[Register, ...], keeps_matches: bool) -> None:
        self._plan = plan
        self._initial = np.array([register.counter for register in registers], np.uint8)
        self.keeps_matches = keeps_matches
        self.runs = np.zeros((0, table.RUN_COLUMNS), np.int64)
        self.registers = np.zeros((0, len(registers)), np.int64)
        self.register_valid = np.zeros((0, len(registers)), np.uint8)
        self.nodes = np.zeros((FIRST_CAPACITY if keeps_matches else 0, run_nodes.NODE_COLUMNS), np.int64)
        self.found = np.zeros((FIRST_CAPACITY if keeps_matches else 0, run_nodes.FOUND_COLUMNS), np.int64)
        self.header = np.zeros(table.HEADER_CELLS, np.int64)
        self.per_key = np.zeros((0, table.WAITING + (len(plan.states) - 1) * (2 if plan.orders else 1)), np.int64)
        self.shed = 0
        self._reachable = FIRST_CAPACITY  # nodes after the last compaction
        self.header[table.FREE] = table.NOTHING
        self.header[table.USED] = table.RESERVED
        self._resize(FIRST_CAPACITY)
        self._reserve()

    def _resize(self, capacity: int) -> None:
        self.runs = grown(self.runs, capacity)
        self.registers = grown(self.registers, capacity)
        self.register_valid = grown(self.register_valid, capacity)
        self.born = np.empty(capacity, np.int64)
        self.live = np.empty(capacity, np.int64)
        self.rebuild()

    def rebuild(self) -> None:
        """The tables by which runs are found, with a cell per run; see `kernels.runs.run_index` and `kernels.runs.run_merging`."""
        cells = 1 << (len(self.runs) - 1).bit_length()
        self.cells = np.full(cells if self._plan.joins else NO_TABLE, table.NOTHING, np.int64)
        self.equivalents = np.full(cells if self._plan.merges else NO_TABLE, table.NOTHING, np.int64)
        self.order = np.empty((len(self.runs) if self._plan.orders else NO_TABLE, run_order.ORDER_COLUMNS), np.int64)
        self.per_key[:, table.WAITING :] = table.NOTHING
        plan, code = self._plan, self._plan.interpreter
        runs.rebuild(
            plan.states, plan.bounds, plan.watched, plan.settings, code.code, code.scratch, code.scratch_valid, code.ranks, NO_SLOTS,
            NO_FLAGS, self.runs, self.registers, self.register_valid, self.header[table.USED], self.per_key, self.cells, self.order,
            self.equivalents,
        )  # fmt: skip

    def _reserve(self) -> None:
        """The empty run: nothing selected, counters at zero, everything else null."""
        self.runs[: table.RESERVED] = table.NOTHING
        if not self.keeps_matches:
            self.runs[table.EMPTY, table.NODE] = 1
        self.registers[table.EMPTY] = 0
        self.register_valid[table.EMPTY] = self._initial

    def ensure_keys(self, count: int) -> None:
        known = len(self.per_key)
        if count > known:
            self.per_key = grown(self.per_key, max(count, 2 * known))
            self.per_key[known:] = table.NOTHING
            self.per_key[known:, table.ALIVE] = 0
            self.per_key[known:, table.KEEP] = 0
            self.per_key[known:, table.LIMIT] = run_nodes.ANY_START

    @property
    def live_runs(self) -> int:
        return self.header.item(table.LIVE)

    @property
    def key_count(self) -> int:
        return len(self.per_key)

    @property
    def busy(self) -> np.ndarray:
        """Per key, whether it has runs."""
        return self.per_key[:, table.ALIVE] > 0

    def make_room(self, fanout: int) -> None:
        """After the kernel stopped for want of space: for whatever the next event can bring forth, and as much again as long as that is
        little; or what unreachable nodes give back."""
        most = (int(self.per_key[:, table.ALIVE].max(initial=0)) + 1) * fanout
        needed = int(self.header[table.LIVE]) + most + table.RESERVED
        if needed > len(self.runs):
            self._resize(needed + max(needed // 4, min(needed, FULL_SLACK)))
        if not self.keeps_matches:
            return
        if self.header[table.FOUND] + most > len(self.found):
            self.found = grown(self.found, 2 * len(self.found) + most)
        if self.header[table.NODES] + 2 * most > len(self.nodes):
            self.collect_garbage()
            if 2 * self.header[table.NODES] + 2 * most > len(self.nodes):
                self.nodes = grown(self.nodes, 2 * len(self.nodes) + 2 * most)

    def collect_garbage(self) -> None:
        header = self.header
        header[table.NODES] = node_collection.collect_nodes(
            self.runs, header[table.USED], self.per_key, self.nodes, header[table.NODES], self.found, header[table.FOUND]
        )
        self._reachable = max(FIRST_CAPACITY, int(header[table.NODES]))

    @property
    def has_doubled(self) -> bool:
        """Whether compacting is paid for by the nodes made since the last time."""
        return self.header.item(table.NODES) > 2 * self._reachable

    @property
    def steps(self) -> int:
        """As `run_table.steps_made`."""
        return self.header.item(table.VISITED) + table.NEW_RUN_STEPS * self.header.item(table.STARTED)

    @property
    def run_bytes(self) -> int:
        """What one run takes: its row, its registers, its cells in the tables by which it is found."""
        tables = (len(self.cells) > NO_TABLE) + (len(self.equivalents) > NO_TABLE) + run_order.ORDER_COLUMNS * self._plan.orders
        return self.runs.itemsize * table.RUN_COLUMNS + 9 * self.registers.shape[1] + 8 * tables

    @property
    def node_bytes(self) -> int:
        return self.nodes.itemsize * run_nodes.NODE_COLUMNS

    @property
    def bytes(self) -> int:
        """What runs and nodes in use take."""
        live, nodes = self.header.item(table.LIVE), self.header.item(table.NODES)
        return (live * self.run_bytes if live else 0) + nodes * self.node_bytes

    @property
    def alive(self) -> np.ndarray:
        """The numbers of the runs in use."""
        numbers = np.empty(int(self.header[table.LIVE]), np.int64)
        table.alive_runs(self.runs, self.header[table.USED], numbers)
        return numbers

    def shed_oldest(self, count: int) -> None:
        """Release the runs that started first."""
        alive = self.alive
        order = np.lexsort((self.runs[alive, table.FIRST_ORDINAL], self.runs[alive, table.FIRST_TIME]))
        doomed = alive[order[:count]]
        table.release_all(self.runs, self.header, self.per_key, self.cells, self.order, self.equivalents, doomed)
        self.shed += len(doomed)

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.ensure_keys(int(old_of_new.max(initial=-1)) + 1)
        new_of_old = np.full(len(self.per_key), table.NOTHING)
        new_of_old[old_of_new] = np.arange(len(old_of_new))
        self.per_key = self.per_key[old_of_new]
        alive = self.alive
        self.runs[alive, table.KEY] = new_of_old[self.runs[alive, table.KEY]]
        self.rebuild()

    def state(self) -> dict[str, np.ndarray]:
        """Only what is in use: runs move together, so that a snapshot does not carry the peak along."""
        if self.keeps_matches:
            self.collect_garbage()
        kept = np.concatenate([np.arange(table.RESERVED), self.alive])
        new_of_old = np.full(int(self.header[table.USED]) + 1, table.NOTHING)  # the last cell is where NOTHING leads
        new_of_old[kept] = np.arange(len(kept))
        runs, per_key, header = self.runs[kept], self.per_key.copy(), self.header.copy()
        for link in (table.LATER, table.EARLIER):
            runs[table.RESERVED :, link] = new_of_old[runs[table.RESERVED :, link]]
        for link in (table.FIRST_RUN, table.LAST_RUN):
            per_key[:, link] = new_of_old[per_key[:, link]]
        header[table.FREE], header[table.USED] = table.NOTHING, len(kept)
        return {
            "runs": runs,
            "registers": self.registers[kept],
            "register_valid": self.register_valid[kept],
            "nodes": self.nodes[: int(header[table.NODES])],
            "header": header,
            "per_key": per_key,
            "shed": np.array([self.shed]),
        }

    def load(self, state: dict[str, np.ndarray]) -> None:
        used = len(state["runs"])
        self.header = state["header"].copy()
        self.per_key = state["per_key"].copy()
        self.nodes = grown(np.ascontiguousarray(state["nodes"]), max(FIRST_CAPACITY, 2 * len(state["nodes"])))
        self.shed = int(state["shed"][0])
        for name in ("runs", "registers", "register_valid"):
            setattr(self, name, np.ascontiguousarray(state[name]))
        header = self.header
        header[[table.FREE, table.AT_ROW]] = table.NOTHING
        header[[table.FOUND, table.ERROR, table.AT_KEY, table.BORN]] = 0
        header[table.USED], header[table.LIVE], header[table.NODES] = used, used - table.RESERVED, len(state["nodes"])
        self._reserve()
        self._resize(max(FIRST_CAPACITY, 2 * used))
