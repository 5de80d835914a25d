"""The strings of a session as numbers: equal strings have equal codes in whichever batch they came; order goes by rank."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class StringPool:
    def __init__(self, strings: pa.Array | None = None) -> None:
        self._strings: pa.Array = pa.array([], pa.large_string()) if strings is None else strings.cast(pa.large_string())
        self._ranks: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self._strings)

    @property
    def strings(self) -> pa.Array:
        """The string of every code."""
        return self._strings

    def codes_of(self, strings: pa.Array) -> np.ndarray:
        """The codes of the strings of a batch's dictionary, new ones added. A null has code -1."""
        if not len(strings):
            return np.empty(0, np.int64)
        wanted = strings.cast(pa.large_string())
        found = pc.index_in(wanted, value_set=self._strings, skip_nulls=True) if len(self._strings) else pa.nulls(len(wanted), pa.int32())
        missing = pc.and_(pc.is_null(found), pc.is_valid(wanted))
        if pc.any(missing).as_py():
            self._add(pc.unique(wanted.filter(missing)))
            found = pc.index_in(wanted, value_set=self._strings, skip_nulls=True)
        return np.asarray(found.cast(pa.int64()).fill_null(-1))

    def codes(self, strings: list[str]) -> np.ndarray:
        return self.codes_of(pa.array(strings, pa.large_string()))

    def _add(self, strings: pa.Array) -> None:
        self._strings = pa.concat_arrays([self._strings, strings])
        self._ranks = None

    def keep(self, used: np.ndarray) -> np.ndarray:
        """Forget the strings whose code is not marked in `used`; returns the new code of every old one, -1 for none."""
        self._strings = self._strings.filter(pa.array(used))
        self._ranks = None
        return np.where(used, np.cumsum(used) - 1, -1)

    def ranks(self) -> np.ndarray:
        """Per code, its place in the order of strings (by code point, as SQL's binary collation)."""
        if self._ranks is None:
            order = np.asarray(pc.sort_indices(self._strings)).astype(np.int64)
            self._ranks = np.empty(len(order), np.int64)
            self._ranks[order] = np.arange(len(order))
        return self._ranks
