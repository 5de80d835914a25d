"""The arrays in which situations live between calls of the kernel: they grow, are swept, shed, saved and loaded here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ostinato.kernels.intervals import interval_layout as layout
from ostinato.kernels.scalar.arithmetic import IS_VALUE
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.matches.finished_intervals import FinishedIntervals
from ostinato.runtime.rows.array_growth import grown

FIRST_CAPACITY = 64
MOST_SPARE = 1 << 13  # places behind the regions
SPARE_FACTOR = 16  # as many as these at the most: there may be many queries with few situations
AT_A_TIME = 1 << 16  # results that are found before they are taken
COUNTERS = (layout.VISITED, layout.MADE, layout.PEAK, layout.PURGED, layout.PARTNERLESS, layout.SEARCHES)
POOLED = ("situations", "registers", "register_valid")


class SituationStore:
    """See `kernels.intervals.interval_layout` for the columns."""

    def __init__(self, pattern: IntervalPattern) -> None:
        self._pattern = pattern
        self._definitions = len(pattern.definitions)
        self._given = any(one.start >= 0 for one in pattern.definitions)
        self._within = pattern.within
        count = len(pattern.registers)
        self.situations = np.zeros((FIRST_CAPACITY, layout.SITUATION_COLUMNS), np.int64)
        self.registers = np.zeros((FIRST_CAPACITY, count), np.int64)
        self.register_valid = np.zeros((FIRST_CAPACITY, count), np.uint8)
        self._counters = np.array([IS_VALUE if register.counter else 0 for register in pattern.registers], np.uint8)
        self.register_valid[layout.EMPTY] = self._counters
        self.regions = np.zeros((0, layout.REGION_COLUMNS), np.int64)
        self.per_key = np.zeros((0, layout.KEY_COLUMNS), np.int64)
        self.places = np.zeros((layout.PLACES, self._definitions), np.int64)
        self.ranges = np.zeros((self._definitions + 2, layout.RANGE_COLUMNS), np.int64)
        self.header = np.zeros(layout.HEADER_CELLS, np.int64)
        self.header[layout.TAIL] = layout.RESERVED
        self.shed = 0
        self._spare = FIRST_CAPACITY
        self._new_results(FIRST_CAPACITY)

    def _new_results(self, capacity: int) -> None:
        self.found = np.zeros((layout.FOUND_STARTS + 2 * self._definitions, capacity), np.int64)
        self.found_registers = np.zeros((capacity, self.registers.shape[1]), np.int64)
        self.found_valid = np.zeros((capacity, self.registers.shape[1]), np.uint8)

    def ensure_keys(self, count: int) -> None:
        known = len(self.per_key)
        if count > known:
            self.per_key = grown(self.per_key, max(count, 2 * known))
            self.per_key[known:] = layout.NEVER
            self.regions = grown(self.regions, len(self.per_key) * self._definitions)

    @property
    def key_count(self) -> int:
        return len(self.per_key)

    @property
    def live(self) -> int:
        return int(self.header[layout.LIVE])

    @property
    def busy(self) -> np.ndarray:
        """Per key, whether situations are kept there."""
        return np.asarray((self.regions[:, layout.COUNT].reshape(-1, self._definitions) > 0).any(axis=1))

    @property
    def alive(self) -> np.ndarray:
        """The places of all situations, region by region."""
        counts = self.regions[:, layout.COUNT]
        behind = np.cumsum(counts)
        return np.repeat(self.regions[:, layout.HEAD] - (behind - counts), counts) + np.arange(counts.sum())

    @property
    def _times(self) -> np.ndarray:
        """Start and end of all situations, in the same order."""
        return self.situations[self.alive, : layout.END + 1]

    def make_room(self) -> None:
        """After the kernel stopped for want of space: regions stand side by side again, each with room for as many more. Where situations
        come and go, regions move through the pool: the longer they do, the more places it has, so that this happens seldom."""
        self._spare = min(2 * self._spare, MOST_SPARE)
        self._lay_out(self.alive, self.regions[:, layout.COUNT].copy())

    def _lay_out(self, kept: np.ndarray, counts: np.ndarray) -> None:
        """Keep these situations, so many of each region."""
        rooms = np.where(counts > 0, 2 * counts + 2, 0)
        behind = layout.RESERVED + np.cumsum(rooms)
        tail = int(behind[-1]) if len(behind) else layout.RESERVED
        heads = behind - rooms
        spare = min(self._spare, FIRST_CAPACITY + SPARE_FACTOR * tail)
        target = np.repeat(heads - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        for name in POOLED:
            before = getattr(self, name)
            after = np.zeros((2 * tail + spare, before.shape[1]), before.dtype)
            after[layout.EMPTY] = before[layout.EMPTY]
            after[target] = before[kept]
            setattr(self, name, after)
        self.regions = np.ascontiguousarray(np.stack([heads, counts, behind, heads], axis=1) * (counts > 0)[:, None])
        self.header[layout.TAIL], self.header[layout.LIVE] = tail, int(counts.sum())

    def _keep(self, chosen: np.ndarray) -> int:
        """Of what is kept only these, by a flag each. Returns how many are gone."""
        kept = self.alive
        counts = self.regions[:, layout.COUNT]
        owner = np.repeat(np.arange(len(counts)), counts)
        self._lay_out(kept[chosen], np.bincount(owner[chosen], minlength=len(counts)))
        return len(kept) - int(chosen.sum())

    def of_keys(self, keys: np.ndarray) -> SituationStore:
        """A store of its own with what is kept of these, which are numbered from 0 on there. It counts from 0, too."""
        part = SituationStore(self._pattern)
        lines = self._lines(keys)
        counts = self.regions[lines, layout.COUNT]
        kept = np.repeat(self.regions[lines, layout.HEAD] - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        for name in POOLED:
            setattr(part, name, np.concatenate([getattr(self, name)[: layout.RESERVED], getattr(self, name)[kept]]))
        part.per_key, part._spare = self.per_key[keys], self._spare
        part._lay_out(layout.RESERVED + np.arange(len(kept)), counts)
        return part

    def put_back(self, parts: Sequence[tuple[np.ndarray, SituationStore]]) -> None:
        """What was kept of the keys of these parts is what the parts keep now. Their counters are for whoever looks at all of them."""
        behind = len(self.situations)
        for keys, part in parts:
            self.regions[self._lines(keys)] = part.regions + np.array([behind, 0, behind, behind])
            self.per_key[keys] = part.per_key
            behind += len(part.situations)
        for name in POOLED:
            setattr(self, name, np.concatenate([getattr(self, name), *(getattr(part, name) for _, part in parts)]))
        self._lay_out(self.alive, self.regions[:, layout.COUNT].copy())

    def _lines(self, keys: np.ndarray) -> np.ndarray:
        """Of the regions of keys."""
        lines: np.ndarray = (keys[:, None] * self._definitions + np.arange(self._definitions)).ravel()
        return lines

    def sweep(self, watermark: int) -> None:
        """Let go of what is in no later match: it ended and started too long before the watermark."""
        if self._within < 0 or watermark < layout.NEVER + self._within:
            return
        starts, ends = self._times.T
        useful = (ends == layout.OPEN) | (starts >= watermark - self._within) | self._undecided()
        if not useful.all():
            self.header[layout.PURGED] += self._keep(useful)

    def _undecided(self) -> np.ndarray:
        """Of what is kept: whether it is of a partition with a moment that is not decided yet."""
        waits = np.repeat(self.per_key[:, layout.NOW] != layout.NEVER, self._definitions)
        return np.repeat(waits, self.regions[:, layout.COUNT])

    def shed_oldest(self, count: int) -> None:
        """Let go of the situations that started first. What is open stays: it would begin anew, and later than it did."""
        starts, ends = self._times.T
        ended = np.flatnonzero(ends != layout.OPEN)
        doomed = ended[np.argsort(starts[ended], kind="stable")[:count]]
        chosen = np.ones(len(starts), np.bool_)
        chosen[doomed] = False
        self.shed += self._keep(chosen)

    def undecided_elsewhere(self, keys: np.ndarray, complete: int) -> np.ndarray:
        """Other keys with a moment that is over too: so what is found comes in the order of detection, over all calls."""
        now = self.per_key[:, layout.NOW]
        waits = (now < complete) & (now != layout.NEVER) & self.busy
        waits[keys] = False
        return np.flatnonzero(waits)

    def finds_more(self) -> bool:
        """Whether there is room now for more results; else they have to be taken."""
        capacity = self.found.shape[1]
        if capacity >= AT_A_TIME:
            return False
        before = self.found, self.found_registers, self.found_valid
        self._new_results(8 * capacity)
        self.found[:, :capacity] = before[0]
        self.found_registers[:capacity], self.found_valid[:capacity] = before[1:]
        return True

    def taken(self) -> FinishedIntervals:
        count = int(self.header[layout.FOUND])
        self.header[layout.FOUND] = 0
        lines, registers, valid = self.found[:, :count], self.found_registers[:count], self.found_valid[:count]
        if self._given:  # several may have the same times: they come in the order of their rows, in which they lie in the pool
            places = np.lexsort(lines[: layout.FOUND_STARTS + self._definitions - 1 : -1])
            lines, registers, valid = lines[:, places], registers[places], valid[places]
        elif 2 * count > self.found.shape[1]:
            self._new_results(self.found.shape[1])  # and whoever takes them has the others
        else:
            lines, registers, valid = lines.copy(), registers.copy(), valid.copy()
        return FinishedIntervals(
            key=lines[layout.FOUND_KEY],
            start=lines[layout.FOUND_START],
            end=lines[layout.FOUND_END],
            registers=registers,
            register_valid=valid,
            detected=lines[layout.FOUND_TIME],
            starts=lines[layout.FOUND_STARTS : layout.FOUND_STARTS + self._definitions],
        )

    @property
    def situation_bytes(self) -> int:
        """What one takes: its times and its registers."""
        return 16 + 9 * self.registers.shape[1]

    @property
    def bytes(self) -> int:
        return self.live * self.situation_bytes

    def renumber(self, old_of_new: np.ndarray) -> None:
        self.regions = np.ascontiguousarray(self.regions[self._lines(old_of_new)])
        self.per_key = np.ascontiguousarray(self.per_key[old_of_new])
        self.header[layout.LIVE] = int(self.regions[:, layout.COUNT].sum())

    def state(self) -> dict[str, np.ndarray]:
        kept = self.alive
        return {
            "moments": self.per_key,
            "counts": np.ascontiguousarray(self.regions[:, layout.COUNT]),
            "situations": self._times,
            "registers": self.registers[kept],
            "register_valid": self.register_valid[kept],
            "counters": np.array([*self.header[list(COUNTERS)], self.shed]),
        }

    def load(self, state: dict[str, np.ndarray]) -> None:
        self.header[list(COUNTERS)], self.shed = state["counters"][:-1], int(state["counters"][-1])
        self.per_key = state["moments"].copy()
        counts = state["counts"]
        self.regions = np.zeros((len(counts), layout.REGION_COLUMNS), np.int64)
        saved = {**state, "situations": _all_taken_in(state["situations"])}
        for name in POOLED:
            first = getattr(self, name)[: layout.RESERVED]
            setattr(self, name, np.concatenate([first, saved[name]]))
        self._lay_out(layout.RESERVED + np.arange(len(state["situations"])), counts)


def _all_taken_in(times: np.ndarray) -> np.ndarray:
    """Situations between calls: their registers have taken in all of their rows."""
    situations = np.full((len(times), layout.SITUATION_COLUMNS), layout.NOTHING, np.int64)
    situations[:, : times.shape[1]] = times
    situations[times[:, layout.END] == layout.OPEN, layout.BEHIND] = layout.OPEN
    return situations
