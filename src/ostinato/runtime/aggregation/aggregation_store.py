"""The arrays in which aggregations of partial matches live between calls of their kernel."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.aggregation import aggregation_cells as cells
from ostinato.kernels.aggregation import aggregation_window as window
from ostinato.kernels.output.state_links import count_chained

FIRST_CAPACITY = 64
# The word of an accumulator over no event, as in the kernel.
NOTHING_OF = {
    cells.LEAST_INT: cells.FULL,
    cells.GREATEST_INT: cells.LOST,
    cells.LEAST_FLOAT: int(np.array([np.nan]).view(np.int64)[0]),
    cells.GREATEST_FLOAT: int(np.array([-np.inf]).view(np.int64)[0]),
}


class AggregationStore:
    """See `kernels.aggregation.aggregation_window`."""

    def __init__(self, states: int, accumulators: np.ndarray) -> None:
        self._states = states
        self._accumulators = len(accumulators)
        self.size = states * len(accumulators)
        self._nothing = np.tile(np.array([NOTHING_OF.get(int(kind), 0) for kind in accumulators[:, cells.KIND]], np.int64), states)
        self.total = self._nothing[: len(accumulators)].copy()
        self.product = np.zeros(states * self.size, np.int64)
        self.current = np.zeros(0, np.int64)
        self.later = np.zeros(0, np.int64)
        self.partitions = np.zeros((0, window.PARTITION_COLUMNS), np.int64)
        self.header = np.zeros(window.HEADER_CELLS, np.int64)
        self.header[[window.FREE_BACK, window.FREE_FRONT, window.FREE_MATRIX]] = window.NOTHING
        self.back = np.zeros((0, window.BACK_COLUMNS), np.int64)
        self.back_values = np.zeros((0, len(accumulators)), np.int64)
        self.back_valid = np.zeros((0, len(accumulators)), np.uint8)
        self.front = np.zeros(0, np.int64)
        self.matrices = np.zeros(0, np.int64)
        self.make_room()

    @property
    def fronts(self) -> int:
        return len(self.front) // (self.size + window.FRONT_EXTRA)

    def ensure_keys(self, count: int) -> None:
        have = len(self.partitions)
        if count <= have:
            return
        more = max(count, have + have // 2) - have
        partitions = np.zeros((more, window.PARTITION_COLUMNS), np.int64)
        partitions[:, [window.OLDEST, window.BACK_OLDEST]] = window.NO_START
        partitions[:, [window.BACK, window.FRONT, window.MATRIX]] = window.NOTHING
        self.partitions = np.concatenate([self.partitions, partitions])
        self.current = np.concatenate([self.current, np.tile(self._nothing, more)])
        self.later = np.concatenate([self.later, np.tile(self._nothing, more)])

    def make_room(self) -> None:
        """Twice as much of whatever has run out."""
        header = self.header
        if header[window.FREE_BACK] == window.NOTHING:
            self._grow_back()
        if header[window.USED_FRONT] + header[window.WAITING_STARTS] >= self.fronts:
            self._grow_front()
        if header[window.FREE_MATRIX] == window.NOTHING:
            self._grow_matrices()

    def _grow_back(self) -> None:
        have = len(self.back)
        more = max(FIRST_CAPACITY, have)
        self.back = np.concatenate([self.back, np.zeros((more, window.BACK_COLUMNS), np.int64)])
        self.back_values = np.concatenate([self.back_values, np.zeros((more, self._accumulators), np.int64)])
        self.back_valid = np.concatenate([self.back_valid, np.zeros((more, self._accumulators), np.uint8)])
        self.back[have:, window.NEXT] = _chain(have, more, self.header[window.FREE_BACK])
        self.header[window.FREE_BACK] = have

    def _grow_front(self) -> None:
        have, width = self.fronts, self.size + window.FRONT_EXTRA
        more = max(FIRST_CAPACITY, have)
        self.front = np.concatenate([self.front, np.zeros(more * width, np.int64)])
        links = self.front.reshape(-1, width)[have:, self.size + window.FRONT_NEXT]
        links[:] = _chain(have, more, self.header[window.FREE_FRONT])
        self.header[window.FREE_FRONT] = have

    def _grow_matrices(self) -> None:
        length = self._states * self.size
        have = len(self.matrices) // length
        more = max(1, have)
        self.matrices = np.concatenate([self.matrices, np.zeros(more * length, np.int64)])
        self.matrices.reshape(-1, length)[have:, 0] = _chain(have, more, self.header[window.FREE_MATRIX])
        self.header[window.FREE_MATRIX] = have

    @property
    def active(self) -> np.ndarray:
        return self.partitions[:, window.ACTIVE]

    @property
    def bytes(self) -> int:
        """What is in use."""
        header = self.header
        words = int(header[window.USED_BACK]) * (window.BACK_COLUMNS + 2 * self._accumulators)
        words += int(header[window.USED_FRONT]) * (self.size + window.FRONT_EXTRA)
        words += int(header[window.USED_MATRIX]) * self._states * self.size
        return 8 * (words + int(np.count_nonzero(self.active)) * (2 * self.size + window.PARTITION_COLUMNS))

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.ensure_keys(int(old_of_new.max(initial=-1)) + 1)
        self.partitions = np.ascontiguousarray(self.partitions[old_of_new])
        self.current = self.current.reshape(-1, self.size)[old_of_new].reshape(-1)
        self.later = self.later.reshape(-1, self.size)[old_of_new].reshape(-1)

    NAMES = ("total", "current", "later", "partitions", "header", "back", "back_values", "back_valid", "front", "matrices")

    def state(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self.NAMES}

    def load(self, state: dict[str, np.ndarray], starts: np.ndarray) -> None:
        """`starts` says of every symbol whether its events start matches."""
        for name in self.NAMES:
            setattr(self, name, state[name].copy())
        self._settle(starts)

    def _settle(self, starts: np.ndarray) -> None:
        """What is free, and how much is not, follows from the windows of the partitions."""
        header, partitions = self.header, self.partitions
        front = self.front.reshape(-1, self.size + window.FRONT_EXTRA)[:, self.size + window.FRONT_NEXT]
        matrix = self.matrices.reshape(-1, self._states * self.size)[:, 0]
        in_back, in_front = _members(partitions[:, window.BACK], self.back[:, window.NEXT]), _members(partitions[:, window.FRONT], front)
        in_use = np.zeros(len(matrix), np.bool_)
        in_use[partitions[partitions[:, window.MATRIX] != window.NOTHING, window.MATRIX]] = True
        header[window.FREE_BACK] = _link_free(self.back[:, window.NEXT], in_back)
        header[window.FREE_FRONT] = _link_free(front, in_front)
        header[window.FREE_MATRIX] = _link_free(matrix, in_use)
        header[window.USED_BACK], header[window.USED_FRONT], header[window.USED_MATRIX] = in_back.sum(), in_front.sum(), in_use.sum()
        header[window.WAITING_STARTS] = starts[self.back[in_back, window.SYMBOL]].sum()
        while header[window.USED_FRONT] + header[window.WAITING_STARTS] > self.fronts:
            self._grow_front()
        self.make_room()


def _members(heads: np.ndarray, following: np.ndarray) -> np.ndarray:
    """Which entries are in the lists that begin at `heads`."""
    holder = np.full(len(following), window.NOTHING, np.int64)
    count_chained(np.ascontiguousarray(heads), np.ascontiguousarray(following), holder)
    return holder != window.NOTHING


def _link_free(links: np.ndarray, used: np.ndarray) -> int:
    """Make a list of the entries that are not used; returns its first."""
    free = np.flatnonzero(~used)
    links[free] = np.append(free, window.NOTHING)[1:]
    return int(free[0]) if len(free) else window.NOTHING


def _chain(first: int, count: int, rest: int) -> np.ndarray:
    """The links of a list of `count` new entries in front of the rest."""
    links = np.arange(first + 1, first + count + 1)
    links[-1] = rest
    return links
