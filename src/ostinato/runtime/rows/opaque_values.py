"""Values that the engine does not look into: where rows hold a position, they lie here as Arrow made them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.base.errors import StateError

SWEEP_FROM = 65_536  # values; below, forgetting some is not worth the work,
SWEEP_BYTES = 32 << 20  # unless they are large
LARGE = 1 << 28  # bytes; far from where the offsets of Arrow's lists end


class OpaqueValues:
    """The values of the columns of one type, by position. A batch is added as it is, without a copy; what nothing refers to any more goes
    when that is most of it. In a snapshot they are one Arrow column, and the positions that rows hold count from 0 in it."""

    def __init__(self, type_: pa.DataType) -> None:
        self.type = type_
        self._pieces: list[pa.Array] = []
        self._ends = np.zeros(0, np.int64)
        self._sweep_at, self._sweep_at_bytes = SWEEP_FROM, SWEEP_BYTES

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @property
    def bytes(self) -> int:
        """What they take, with those that nothing refers to and that were not forgotten yet."""
        return sum(piece.nbytes for piece in self._pieces)

    def add(self, values: pa.Array | pa.ChunkedArray) -> int:
        """The position of the first of them."""
        first = len(self)
        chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        for chunk in chunks:
            self._append(chunk if chunk.type == self.type else chunk.cast(self.type))
        return first

    def _append(self, piece: pa.Array) -> None:
        """Small pieces are put together, so that there are never many: each is large, or more than twice as long as the next."""
        if not len(piece):
            return
        while self._pieces and len(self._pieces[-1]) <= 2 * len(piece) and self._pieces[-1].nbytes + piece.nbytes <= LARGE:
            piece = pa.concat_arrays([self._pieces.pop(), piece])
        self._pieces.append(piece)
        self._ends = np.cumsum([len(one) for one in self._pieces])

    def take(self, positions: pa.Array) -> pa.Array:
        """The values at these positions; null where the position is."""
        known = positions.is_valid().to_numpy(zero_copy_only=False)
        wanted = positions.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        piece = np.where(known, np.searchsorted(self._ends, wanted, side="right"), -1)
        touched = np.unique(piece[known])
        if len(touched) <= 1:
            begin = self._begin(int(touched[0])) if len(touched) else 0
            values = self._pieces[int(touched[0])] if len(touched) else pa.nulls(0, self.type)
            return values.take(pa.array(wanted - begin, mask=~known))
        parts, place = [], np.zeros(len(wanted), np.int64)
        found = 0
        for number in touched.tolist():
            rows = np.flatnonzero(piece == number)
            parts.append(self._pieces[number].take(pa.array(wanted[rows] - self._begin(number))))
            place[rows] = found + np.arange(len(rows))
            found += len(rows)
        return pa.concat_arrays(parts).take(pa.array(place, mask=~known))

    def _begin(self, piece: int) -> int:
        return int(self._ends[piece]) - len(self._pieces[piece])

    def due(self) -> bool:
        return len(self) >= self._sweep_at or self.bytes >= self._sweep_at_bytes

    def keep(self, positions: np.ndarray) -> np.ndarray:
        """Forget all values but those at these positions; returns where they are now."""
        kept, moved = np.unique(positions, return_inverse=True)
        values = self.take(pa.array(kept))
        self._pieces, self._ends = [], np.zeros(0, np.int64)
        self.add(values)
        self._sweep_at = max(SWEEP_FROM, 4 * len(self))
        self._sweep_at_bytes = max(SWEEP_BYTES, 4 * self.bytes)
        return moved

    def state(self) -> pa.Table:
        return pa.table({"v": pa.chunked_array(self._pieces, self.type)}).combine_chunks()

    def load(self, state: pa.Table, positions: np.ndarray) -> None:
        """The values of a snapshot, and the positions that its rows have among them: both are looked at before anybody reads one."""
        try:
            state.validate(full=True)
        except pa.ArrowInvalid as error:
            raise StateError("the snapshot is damaged", detail=str(error), hint="restore an earlier one") from error
        if state.column_names != ["v"] or state.column(0).type != self.type:
            raise StateError("the snapshot is damaged", detail=f"it has no values of type {self.type}", hint="restore an earlier one")
        if len(positions) and not (positions.min() >= 0 and positions.max() < state.num_rows):
            raise StateError("the snapshot is damaged", detail="a row has a value that is not there", hint="restore an earlier one")
        self._pieces, self._ends = [], np.zeros(0, np.int64)
        self.add(state.column(0))
