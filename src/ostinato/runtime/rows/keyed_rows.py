"""Rows grouped by partition: every partition's retained rows lie next to each other, in order, in shared column arrays.

Each key owns a region of the arena. A region that is full moves to the end with twice the room (like a growing list), so that
appending costs constant time per row however the input is cut into batches; the first batch is laid out exactly."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from ostinato.kernels.rows.grouping import count_rows_of_keys, places_and_rows, places_of, ranges
from ostinato.kernels.rows.key_regions import append_rows, drop_rows, total
from ostinato.runtime.rows.arena import Arena, Moved, Places
from ostinato.runtime.rows.array_growth import as_slice
from ostinato.runtime.rows.opaque_values import OpaqueValues

FEW_ROWS = 512  # a smaller batch lays nothing out anew; so many have room together where keys are few, so that regions move seldom
NO_TIMES = np.zeros(1, np.int64)  # kernels want an array also where nobody reads it


class Grouping(NamedTuple):
    """Rows of a batch by key: `keys` have rows in it, `counts` how many. `numbers` is the key of every row; None: the rows lie key
    by key already. `rows` are all of them."""

    keys: np.ndarray
    counts: np.ndarray
    rows: int
    numbers: np.ndarray | None


class KeyedRows:
    """`offset[k]`: arena index of key k's first retained row; `base[k]`: that row's ordinal in its partition; `length[k]`: how
    many are retained. Columns that matchers read have fixed names: times, positions; see also `PatternRows`. `time_column` is held
    once, as times; positions are left out where nobody asks for them (`positioned`). Of the columns `seldom_read` few rows are read."""

    def __init__(
        self,
        columns: Mapping[str, np.dtype | type],
        timed: bool,
        positioned: bool = True,
        time_column: str | None = None,
        seldom_read: Collection[str] = (),
    ) -> None:
        self.arena = Arena()
        self._time_column = time_column
        for name, dtype in columns.items():
            if name != time_column:
                self.arena.declare("column:" + name, dtype, patient=name in seldom_read)
        if positioned:
            self.arena.declare("positions", np.int64)
        if timed:
            self.arena.declare("times", np.int64, patient=time_column in seldom_read)
        self.timed = timed
        self.opaque: dict[str, OpaqueValues] = {}  # of columns whose arrays hold positions among these; one for all of a type
        self.used = 0
        self.held = 0  # rows that are retained
        self.offset = np.zeros(0, np.int64)
        self.base = np.zeros(0, np.int64)
        self.length = np.zeros(0, np.int64)
        self._room = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.int64)  # rows of the batch that is being grouped; zero in between
        self._next_place = np.zeros(0, np.int64)

    def held_as(self, column: str) -> str:
        """The name of a stored column in the arena."""
        return "times" if column == self._time_column else "column:" + column

    @property
    def positions(self) -> np.ndarray:
        return self.arena.column("positions")

    @property
    def times(self) -> np.ndarray:
        return self.arena.column("times") if self.timed else NO_TIMES

    @property
    def key_count(self) -> int:
        return len(self.offset)

    @property
    def bytes(self) -> int:
        """Of the rows that are retained, and of the opaque values that were not forgotten."""
        return self.held * self.arena.row_bytes + sum(values.bytes for values in self.heaps)

    @property
    def heaps(self) -> list[OpaqueValues]:
        """Where opaque values lie, each once."""
        return list({id(values): values for values in self.opaque.values()}.values())

    @property
    def most_bytes(self) -> int | None:
        """As many at the most, where that is known without looking."""
        return None if self.opaque else self.arena.capacity * self.arena.most_row_bytes

    def index_of(self, keys: np.ndarray, ordinals: np.ndarray) -> np.ndarray:
        """Arena rows of these rows of these keys."""
        return self.offset[keys] + ordinals - self.base[keys]

    def ensure_keys(self, count: int) -> None:
        """Make room for keys 0..count-1."""
        have = len(self.offset)
        if count <= have:
            return
        grow = max(count, have + have // 2, 16) - have if count > 1 else 1
        for name in ("offset", "base", "length", "_room", "_counts", "_next_place"):
            setattr(self, name, np.concatenate([getattr(self, name), np.zeros(grow, np.int64)]))

    def group(self, keys: np.ndarray | None, rows: int) -> Grouping:
        """What a batch brings to which key; `keys` None: everything belongs to key 0."""
        if keys is None or rows <= 1:
            counts = np.array((rows,) if rows else (), np.int64)
            return Grouping(np.zeros(len(counts), np.int64) if keys is None else keys, counts, rows, None)
        touched = np.empty(min(rows, len(self.offset)), np.int64)
        found = count_rows_of_keys(keys, self._counts, touched)
        # the order of key numbers is that of the arena: neighbours in memory are then used one after the other
        touched = np.flatnonzero(self._counts) if len(self.offset) <= 4 * rows else touched[:found].copy()
        counts = self._counts[touched]
        self._counts[touched] = 0
        return Grouping(touched, counts, rows, None if found == 1 else keys)

    def _places(self, grouping: Grouping, first: np.ndarray, capacity: int) -> Places:
        """Arena rows of the rows of a batch, given where those of each key begin."""
        if grouping.numbers is None:
            return slice(int(first[0]), int(first[0]) + grouping.rows)
        self._next_place[grouping.keys] = first
        return places_of(grouping.numbers, self._next_place, capacity)

    def append(self, grouping: Grouping, batch: dict[str, tuple[np.ndarray, np.ndarray | None]]) -> None:
        """Add the rows of a batch behind those of their keys. `batch`: arena name -> (data, valid), in batch order."""
        keys, counts = grouping.keys, grouping.counts
        if not len(keys):
            return
        if grouping.rows >= max(self.held, FEW_ROWS):
            if self.held:
                self._merge(grouping, batch)
            else:
                self._lay_out(grouping, batch)
            return
        self.settle()
        first = np.empty(len(keys), np.int64)
        if not append_rows(keys, counts, self.offset, self.length, self._room, first):
            self._make_room(keys, counts)
            append_rows(keys, counts, self.offset, self.length, self._room, first)
        places = self._places(grouping, first, self.arena.capacity)
        self.arena.write(batch, places)
        self.held += grouping.rows

    def restore(
        self, keys: np.ndarray, lengths: np.ndarray, base: np.ndarray, columns: dict[str, tuple[np.ndarray, np.ndarray | None]]
    ) -> None:
        """Lay out retained rows of a snapshot, key by key."""
        self._lay_out(Grouping(keys, lengths, total(lengths), None), columns)
        self.base[: len(base)] = base

    def _lay_out(self, grouping: Grouping, batch: dict[str, tuple[np.ndarray, np.ndarray | None]]) -> None:
        """Nothing is retained: the batch becomes the arena, without spare room."""
        keys = grouping.keys
        offset, rows = _side_by_side(grouping.counts)
        self._room[:] = 0
        self.offset[:] = 0
        self.offset[as_slice(keys)] = offset
        self.length[as_slice(keys)] = self._room[as_slice(keys)] = grouping.counts
        self.used = self.held = rows
        if grouping.numbers is not None and self.arena.lets_wait(batch, rows):
            self._next_place[as_slice(keys)] = offset
            places, order = places_and_rows(grouping.numbers, self._next_place)
            self.arena.become(places, batch, rows, order)
        else:
            self.arena.become(self._places(grouping, offset, rows) if rows else slice(0, 0), batch, rows)

    def settle(self) -> None:
        """Nothing that was pushed is referred to any more: what is needed of it lies in the arena, which shrinks if that is little."""
        if not self.arena.waits:
            return
        kept = self.held
        if 2 * kept <= self.arena.capacity:
            self._close_gaps(kept)
        else:
            self.arena.settle(self.retained()[1])

    def _merge(self, grouping: Grouping, batch: dict[str, tuple[np.ndarray, np.ndarray | None]]) -> None:
        """More rows come than are retained: lay everything out anew, the touched keys first and side by side, without spare room."""
        touched = np.zeros(self.key_count, np.bool_)
        touched[grouping.keys] = True
        others = np.flatnonzero((self.length > 0) & ~touched)
        keys = np.concatenate([grouping.keys, others])
        kept = self.length[keys]
        length = kept.copy()
        length[: len(grouping.keys)] += grouping.counts
        offset, rows = _side_by_side(length)
        places = self._places(grouping, (offset + kept)[: len(grouping.keys)], rows)
        self.arena.merged(Moved(self.offset[keys], kept, offset), places, batch, rows)
        self._room[:] = 0
        self.offset[keys] = offset
        self.length[keys] = self._room[keys] = length
        self.used = self.held = rows

    def _make_room(self, keys: np.ndarray, counts: np.ndarray) -> None:
        needed = self.length[keys] + counts
        movers, room = self._movers(keys, needed)
        if self.used + total(room) > self.arena.capacity and self._drop_abandoned(total(needed)):
            movers, room = self._movers(keys, needed)  # regions have no spare room now
        if len(movers) == 1 and self._lengthen(int(movers[0]), int(room[0])):
            return
        target = self.used + np.concatenate([[0], np.cumsum(room)])
        self._reserve(int(target[-1]))
        lengths = self.length[movers]
        self.arena.copy_rows(Moved(self.offset[movers], lengths, target[:-1]))
        self.offset[movers] = target[:-1]
        self._room[movers] = room
        self.used = int(target[-1])

    def _lengthen(self, key: int, room: int) -> bool:
        """A region behind which there is no other gets its room where it lies."""
        offset = int(self.offset[key])
        if not self.length[key] or offset + int(self._room[key]) != self.used:
            return False
        self._reserve(offset + room)
        self._room[key], self.used = room, offset + room
        return True

    def _reserve(self, used: int) -> None:
        """Where there are several keys, with as much room again: rows of many are copied seldom then."""
        if used > self.arena.capacity:
            self.arena.extend(max(64, used if self.key_count == 1 else 2 * used))

    def _movers(self, keys: np.ndarray, needed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The keys whose region is too small, and the room they get."""
        full = needed > self._room[keys]
        return keys[full], np.maximum(max(4, FEW_ROWS // len(self.offset)), 2 * needed[full])

    def _drop_abandoned(self, demand: int) -> bool:
        """Close the gaps between regions, if that frees at least half of the arena."""
        if 2 * (int(self.length.sum()) + demand) > self.arena.capacity:
            return False
        self._close_gaps(self.arena.capacity)
        return True

    def _close_gaps(self, capacity: int) -> None:
        """The regions side by side, without spare room."""
        live = np.flatnonzero(self.length)
        lengths = self.length[live]
        target, kept = _side_by_side(lengths)
        self.arena.rebuilt(Moved(self.offset[live], lengths, target), capacity)
        self._room[:] = 0
        self.offset[:] = 0
        self.offset[live] = target
        self._room[live] = lengths
        self.used = kept

    def trim(self, keys: np.ndarray, keep_from: np.ndarray) -> None:
        """Forget rows before the given ordinals."""
        self.held -= drop_rows(keys, keep_from, self.offset, self.base, self.length, self._room)
        self.settle()

    def renumber(self, old_of_new: np.ndarray) -> None:
        for name in ("offset", "base", "length", "_room"):
            setattr(self, name, getattr(self, name)[old_of_new])
        self.held = int(self.length.sum())
        self._counts = np.zeros(len(old_of_new), np.int64)
        self._next_place = np.zeros(len(old_of_new), np.int64)

    def places_in(self, heap: OpaqueValues) -> list[tuple[np.ndarray, np.ndarray]]:
        """The arrays that hold positions among these values, each with the retained rows that have one. What a null holds is -1 then."""
        _, index = self.retained()
        found = []
        for name, values in self.opaque.items():
            if values is heap:
                held = self.held_as(name)
                positions, valid = self.arena.data[held], self.arena.valid[held]
                known = index if valid is None else index[valid[index]]
                if valid is not None:
                    positions[index[~valid[index]]] = -1
                found.append((positions, known))
        return found

    def retained(self) -> tuple[np.ndarray, np.ndarray]:
        """(keys with rows, arena indices of all retained rows, key by key)."""
        live = np.flatnonzero(self.length)
        return live, ranges(self.offset[live], self.length[live])


def _side_by_side(lengths: np.ndarray) -> tuple[np.ndarray, int]:
    """Where stretches of these lengths begin without gaps, and where the last ends."""
    ends = np.cumsum(lengths)
    return ends - lengths, int(ends[-1]) if len(ends) else 0
