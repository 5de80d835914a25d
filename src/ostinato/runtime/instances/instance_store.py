"""The arrays in which instances live between calls of the kernel: they grow, are swept, shed, saved and loaded here."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.instances import instance_table as table
from ostinato.kernels.instances.instances import EASY
from ostinato.runtime.instances.instance_plan import InstancePlan
from ostinato.runtime.matches.finished_instances import FinishedInstances
from ostinato.runtime.rows.array_growth import grown

FIRST_CAPACITY = 64
AT_A_TIME = 1 << 16  # results that are found before they are taken
FULL_SLACK = 1 << 20  # instances: up to here, room is doubled
SAVED = (table.KEY, table.STATE, table.START, table.TIME, table.USED)
COUNTERS = (table.EXPIRED, table.VISITED, table.MADE, table.PEAK)


class InstanceStore:
    """See `kernels.instances.instance_table` for the columns."""

    def __init__(self, plan: InstancePlan, registers: int) -> None:
        self._plan = plan
        self.instances = np.zeros((0, table.INSTANCE_COLUMNS), np.int64)
        self.registers = np.zeros((0, registers), np.int64)
        self.register_valid = np.zeros((0, registers), np.uint8)
        self.found = np.empty(FIRST_CAPACITY, np.int64)
        self.header = np.zeros(table.HEADER_CELLS, np.int64)
        self.per_key = np.zeros((0, table.BOUND + len(plan.states) - 1), np.int64)
        self.shed = 0
        self._kept = FIRST_CAPACITY  # instances after the last sweep
        self.header[[table.FREE, table.AT_ROW, table.AT_STATE, table.AT_INSTANCE, table.AT_BEGUN]] = table.NOTHING
        self.header[table.BEHIND] = table.RESERVED
        self._resize(FIRST_CAPACITY)
        self.instances[table.EMPTY, table.STATE] = table.NOTHING

    def _resize(self, capacity: int) -> None:
        for name in ("instances", "registers", "register_valid"):
            setattr(self, name, grown(getattr(self, name), capacity))
        if self.header[table.AT_INSTANCE] == table.NOTHING:  # else the kernel is on its way through a list
            self.rebuild()

    def rebuild(self) -> None:
        """The lists in which instances wait."""
        self.cells = np.empty(1 << (len(self.instances) - 1).bit_length(), np.int64)
        table.rebuild(self._plan.states, self.instances, self.registers, self.register_valid, self.cells, self.per_key, self.header)

    def make_room(self, watermark: int) -> None:
        """After the kernel stopped for want of space."""
        if self.header[table.AT_INSTANCE] == table.NOTHING:
            self.sweep(watermark)
        needed = 2 * int(self.header[table.LIVE]) + FIRST_CAPACITY + EASY + table.RESERVED
        if needed > len(self.instances):
            self._resize(min(needed, int(self.header[table.LIVE]) + FULL_SLACK) if needed > FULL_SLACK else needed)

    def finds_more(self) -> bool:
        """Whether there is room now for more results; else they have to be taken."""
        if len(self.found) >= AT_A_TIME:
            return False
        self.found = grown(self.found, 8 * len(self.found))
        return True

    def sweep(self, watermark: int) -> None:
        """Let go of what no later event finds."""
        dropped = table.drop_over(self._plan.states, self.instances, self.per_key, self.header, watermark)
        if dropped or len(self.cells) < len(self.instances):
            self.rebuild()
        self._kept = max(FIRST_CAPACITY, self.waiting)

    @property
    def has_doubled(self) -> bool:
        """Whether a sweep is paid for by the instances made since the last one."""
        return self.waiting > 2 * self._kept

    @property
    def waiting(self) -> int:
        return int(self.header[table.LIVE] - self.header[table.FOUND])

    @property
    def key_count(self) -> int:
        return len(self.per_key)

    def ensure_keys(self, count: int) -> None:
        known = len(self.per_key)
        if count > known:
            self.per_key = grown(self.per_key, max(count, 2 * known))
            self.per_key[known:, table.CLOCK] = table.NEVER
            table.forget_bounds(self._plan.states, self.per_key, known)

    @property
    def busy(self) -> np.ndarray:
        """Per key, whether instances wait there."""
        return self.per_key[:, table.ALIVE] > 0

    @property
    def alive(self) -> np.ndarray:
        """The numbers of the instances that wait."""
        states = self.instances[: int(self.header[table.BEHIND]), table.STATE]
        return np.flatnonzero((states >= 0) & (states < len(self._plan.states) - 1))

    def taken(self) -> FinishedInstances:
        """The results that were found, which are then let go."""
        found = self.found[: int(self.header[table.FOUND])]
        times = self.instances[found]
        finished = FinishedInstances(
            times[:, table.KEY], times[:, table.START], times[:, table.TIME], self.registers[found], self.register_valid[found]
        )
        table.release_all(self.instances, self.header, found)
        self.header[table.FOUND] = 0
        return finished

    def shed_oldest(self, count: int) -> None:
        """Let go of the instances that started first."""
        alive = self.alive
        doomed = alive[np.argsort(self.instances[alive, table.START], kind="stable")[:count]]
        table.release_all(self.instances, self.header, doomed)
        self.shed += len(doomed)
        self.rebuild()

    @property
    def instance_bytes(self) -> int:
        """What one takes: its line, its registers, its cell."""
        return 8 * table.INSTANCE_COLUMNS + 9 * self.registers.shape[1] + 8

    @property
    def bytes(self) -> int:
        return int(self.header[table.LIVE]) * self.instance_bytes

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.ensure_keys(int(old_of_new.max(initial=-1)) + 1)
        new_of_old = np.full(len(self.per_key), table.NOTHING)
        new_of_old[old_of_new] = np.arange(len(old_of_new))
        self.per_key = np.ascontiguousarray(self.per_key[old_of_new])
        alive = self.alive
        self.instances[alive, table.KEY] = new_of_old[self.instances[alive, table.KEY]]
        self.rebuild()

    def state(self) -> dict[str, np.ndarray]:
        """Only the instances that wait: a snapshot does not carry the peak along."""
        alive = self.alive
        return {
            "instances": np.ascontiguousarray(self.instances[alive][:, SAVED]),
            "registers": self.registers[alive],
            "register_valid": self.register_valid[alive],
            "counters": np.array([*self.header[list(COUNTERS)], self.shed]),
        }

    def load(self, state: dict[str, np.ndarray]) -> None:
        count = len(state["instances"])
        behind = table.RESERVED + count
        self.header[list(COUNTERS)], self.shed = state["counters"][:-1], int(state["counters"][-1])
        self.header[table.BEHIND], self.header[table.LIVE] = behind, count
        for name in ("instances", "registers", "register_valid"):
            setattr(self, name, grown(getattr(self, name), max(FIRST_CAPACITY, 2 * behind)))
        self.instances[table.RESERVED : behind, SAVED] = state["instances"]
        self.registers[table.RESERVED : behind] = state["registers"]
        self.register_valid[table.RESERVED : behind] = state["register_valid"]
        self._kept = max(FIRST_CAPACITY, count)
        self.ensure_keys(int(state["instances"][:, 0].max(initial=-1)) + 1)
        self.rebuild()
