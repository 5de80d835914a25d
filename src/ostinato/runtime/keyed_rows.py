"""Rows grouped by partition: every partition's retained rows lie next to each other, in order, in shared column arrays.

Each key owns a region of the arena. A region that is full moves to the end with twice the room (like a growing list), so that
appending costs constant time per row however the input is cut into batches; the first batch is laid out exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.kernels.grouping import counting_sort, number_touched, ranges
from ostinato.runtime.arena import Arena, ordered


@dataclass(frozen=True)
class Grouping:
    """Rows of a batch by key: the rows of `keys[i]` are `order[begin[i]:begin[i+1]]`. `order` None: as they are."""

    keys: np.ndarray
    begin: np.ndarray
    order: np.ndarray | None

    @property
    def counts(self) -> np.ndarray:
        return np.diff(self.begin)


class KeyedRows:
    """`offset[k]`: arena index of key k's first retained row; `base[k]`: that row's ordinal in its partition; `length[k]`: how
    many are retained. Columns that matchers read have fixed names: bits, times, positions, slots, slot_valid. `time_column` is held
    once, as times; positions are left out where nobody asks for them (`positioned`)."""

    def __init__(
        self, columns: dict[str, np.dtype | type], slots: int, timed: bool, positioned: bool = True, time_column: str | None = None
    ) -> None:
        self.arena = Arena()
        self._time_column = time_column
        for name, dtype in columns.items():
            if name != time_column:
                self.arena.declare("column:" + name, dtype)
        self.arena.declare("bits", np.uint64)
        if positioned:
            self.arena.declare("positions", np.int64)
        if timed:
            self.arena.declare("times", np.int64)
        if slots:
            self.arena.declare("slots", np.int64, slots)
            self.arena.declare("slot_valid", np.uint8, slots)
        self.slot_count = slots
        self.timed = timed
        self.used = 0
        self.offset = np.zeros(0, np.int64)
        self.base = np.zeros(0, np.int64)
        self.length = np.zeros(0, np.int64)
        self._room = np.zeros(0, np.int64)
        self._stamp = np.zeros(0, np.int64)
        self._local = np.zeros(0, np.int64)
        self._epoch = 0

    def held_as(self, column: str) -> str:
        """The name of a stored column in the arena."""
        return "times" if column == self._time_column else "column:" + column

    @property
    def bits(self) -> np.ndarray:
        return self.arena.data["bits"]

    @property
    def positions(self) -> np.ndarray:
        return self.arena.data["positions"]

    @property
    def times(self) -> np.ndarray | None:
        return self.arena.data["times"] if self.timed else None

    @property
    def slots(self) -> np.ndarray:
        return self.arena.data["slots"] if self.slot_count else np.zeros((1, 0), np.int64)

    @property
    def slot_valid(self) -> np.ndarray:
        return self.arena.data["slot_valid"] if self.slot_count else np.zeros((1, 0), np.uint8)

    @property
    def key_count(self) -> int:
        return len(self.offset)

    def ensure_keys(self, count: int) -> None:
        """Make room for keys 0..count-1."""
        have = len(self.offset)
        if count <= have:
            return
        grow = max(count, have + have // 2, 16) - have if count > 1 else 1
        for name in ("offset", "base", "length", "_room", "_stamp", "_local"):
            setattr(self, name, np.concatenate([getattr(self, name), np.zeros(grow, np.int64)]))

    def group(self, keys: np.ndarray | None, rows: int) -> Grouping:
        """Order a batch by key; `keys` None: everything belongs to key 0."""
        if keys is None:
            return Grouping(np.zeros(1 if rows else 0, np.int64), np.array([0, rows] if rows else [0], np.int64), None)
        if len(self.offset) <= 4 * rows:
            touched, begin, order = self._by_number(keys, rows)
        else:
            touched, begin, order = self._by_appearance(keys, rows)
        return Grouping(touched, begin, None if len(touched) == 1 else order)

    def _by_number(self, keys: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In the order of key numbers, which is the order of the arena: neighbours in memory are then used one after the other."""
        begin, order = np.zeros(len(self.offset) + 1, np.int64), np.empty(rows, np.int32)
        counting_sort(keys, len(self.offset), begin, order)
        touched = np.flatnonzero(begin[1:] > begin[:-1])
        return touched, np.append(begin[touched], rows), order

    def _by_appearance(self, keys: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """At a cost that follows the batch, not the number of keys."""
        self._epoch += 1
        touched, local_of = np.empty(rows, np.int64), np.empty(rows, np.int64)
        count = number_touched(keys, self._stamp, self._epoch, self._local, touched, local_of)
        begin, order = np.zeros(count + 1, np.int64), np.empty(rows, np.int32)
        counting_sort(local_of, count, begin, order)
        return touched[:count].copy(), begin, order

    def append(self, grouping: Grouping, batch: dict[str, tuple[np.ndarray, np.ndarray | None]]) -> None:
        """Add the rows of a batch behind those of their keys. `batch`: arena name -> (data, valid), in batch order."""
        keys, counts = grouping.keys, grouping.counts
        if not len(keys):
            return
        if not self.length.any():
            self._lay_out(grouping, batch)
            return
        if int(grouping.begin[-1]) >= int(self.length.sum()):
            self._merge(grouping, batch)
            return
        self._make_room(keys, counts)
        at = ranges(self.offset[keys] + self.length[keys], counts)
        for name, (data, valid) in batch.items():
            self.arena.write(name, at, ordered(data, grouping.order), ordered(valid, grouping.order))
        self.length[keys] += counts

    def restore(
        self, keys: np.ndarray, lengths: np.ndarray, base: np.ndarray, columns: dict[str, tuple[np.ndarray, np.ndarray | None]]
    ) -> None:
        """Lay out retained rows of a snapshot, key by key."""
        self._lay_out(Grouping(keys, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), None), columns)
        self.base[: len(base)] = base

    def _lay_out(self, grouping: Grouping, batch: dict[str, tuple[np.ndarray, np.ndarray | None]]) -> None:
        """Nothing is retained: the batch becomes the arena, without spare room."""
        rows = int(grouping.begin[-1])
        self._room[:] = 0
        self.offset[:] = 0
        keys = grouping.keys
        self.offset[keys] = grouping.begin[:-1]
        self.length[keys] = grouping.counts
        self._room[keys] = grouping.counts
        for name, old in list(self.arena.data.items()):
            if name in batch:
                data, valid = batch[name]
                self.arena.adopt(name, ordered(data, grouping.order), ordered(valid, grouping.order))
            else:
                self.arena.adopt(name, np.empty((rows, *old.shape[1:]), old.dtype), None)
        self.arena.capacity = self.used = rows

    def _merge(self, grouping: Grouping, batch: dict[str, tuple[np.ndarray, np.ndarray | None]]) -> None:
        """More rows come than are retained: lay everything out anew, the touched keys first and side by side, without spare room.
        Memory is written from front to back, which at many keys is several times faster than filling up each region."""
        touched = np.zeros(self.key_count, np.bool_)
        touched[grouping.keys] = True
        others = np.flatnonzero((self.length > 0) & ~touched)
        keys = np.concatenate([grouping.keys, others])
        begin = np.concatenate([grouping.begin, np.full(len(others), grouping.begin[-1])])
        old_offset, old_length = self.offset[keys], self.length[keys]
        length = old_length + np.diff(begin)
        offset = np.concatenate([[0], np.cumsum(length)])
        layout = (old_offset, old_length, begin, grouping.order, offset[:-1])
        self.arena.merged(layout, batch, int(offset[-1]))
        self._room[:] = 0
        self.offset[keys] = offset[:-1]
        self.length[keys] = self._room[keys] = length
        self.used = int(offset[-1])

    def _make_room(self, keys: np.ndarray, counts: np.ndarray) -> None:
        needed = self.length[keys] + counts
        movers, room = self._movers(keys, needed)
        if self.used + int(room.sum()) > self.arena.capacity:
            if self._drop_abandoned(int(needed.sum())):
                movers, room = self._movers(keys, needed)  # regions have no spare room now
            demand = self.used + int(room.sum())
            if demand > self.arena.capacity:
                self.arena.reserve(max(64, 2 * demand))
        target = self.used + np.concatenate([[0], np.cumsum(room)])
        lengths = self.length[movers]
        self.arena.copy_rows(ranges(self.offset[movers], lengths), ranges(target[:-1], lengths))
        self.offset[movers] = target[:-1]
        self._room[movers] = room
        self.used = int(target[-1])

    def _movers(self, keys: np.ndarray, needed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The keys whose region is too small, and the room they get."""
        full = needed > self._room[keys]
        return keys[full], np.maximum(4, 2 * needed[full])

    def _drop_abandoned(self, demand: int) -> bool:
        """Close the gaps between regions, if that frees at least half of the arena."""
        live = np.flatnonzero(self.length)
        lengths = self.length[live]
        kept = int(lengths.sum())
        if 2 * (kept + demand) > self.arena.capacity:
            return False
        target = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        self.arena.rebuilt(ranges(self.offset[live], lengths), ranges(target, lengths), self.arena.capacity)
        self._room[:] = 0
        self.offset[:] = 0
        self.offset[live] = target
        self._room[live] = lengths
        self.used = kept
        return True

    def trim(self, keys: np.ndarray, keep_from: np.ndarray) -> None:
        """Forget rows before the given ordinals."""
        drop = np.clip(keep_from - self.base[keys], 0, self.length[keys])
        self.offset[keys] += drop
        self.base[keys] += drop
        self.length[keys] -= drop
        self._room[keys] -= drop

    def renumber(self, old_of_new: np.ndarray) -> None:
        for name in ("offset", "base", "length", "_room"):
            setattr(self, name, getattr(self, name)[old_of_new])
        self._stamp = np.zeros(len(old_of_new), np.int64)
        self._local = np.zeros(len(old_of_new), np.int64)
        self._epoch = 0

    def retained(self) -> tuple[np.ndarray, np.ndarray]:
        """(keys with rows, arena indices of all retained rows, key by key)."""
        live = np.flatnonzero(self.length)
        return live, ranges(self.offset[live], self.length[live])
