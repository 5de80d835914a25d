"""The strings of a session as numbers: equal strings have equal codes in whichever batch they came; order goes by rank."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.kernels.rows.read_only import borrowed
from ostinato.kernels.rows.string_table import StringTable
from ostinato.kernels.vectors.vector import SHORT, TEXT

_ALL_VALID = np.empty(0, np.bool_)
_NO_BYTES = np.zeros(0, np.uint8)
MOST_SINGLES = 1 << 10
STRING_BYTES = 64  # beside its letters: where it ends, its rank, between two and eight places in the table


class StringPool:
    def __init__(self) -> None:
        self._table = StringTable()
        self._strings: pa.Array | None = None
        self._ranks: np.ndarray | None = None
        self._asked: tuple[pa.Array, np.ndarray] | None = None  # a column may be key and value: its dictionary is coded once
        self._singles: dict[int, tuple[pa.Array, np.ndarray]] = {}  # dictionaries of one string by their identity, with its code

    def __len__(self) -> int:
        return self._table.count

    @property
    def bytes(self) -> int:
        """What the strings take, with the table by which they are found."""
        return self._table.letters + STRING_BYTES * self._table.count

    @property
    def strings(self) -> pa.Array:
        """The string of every code."""
        if self._strings is None:
            table = self._table
            self._strings = pa.LargeStringArray.from_buffers(table.count, pa.py_buffer(table.offsets), pa.py_buffer(table.data))
        return self._strings

    def codes_of(self, strings: pa.Array) -> np.ndarray:
        """The codes of the strings of a batch's dictionary, new ones added. A null has code -1."""
        if not len(strings):
            return np.empty(0, np.int64)
        if self._asked is not None and self._asked[0] is strings:
            return self._asked[1]
        known = self._singles.get(id(strings))
        if known is not None:
            return known[1]
        codes = self._coded(strings)
        if len(strings) == 1 and strings.nbytes <= SHORT:
            self._remember(strings, codes)
        return codes

    def _remember(self, text: pa.Array, code: np.ndarray) -> None:
        """Texts of rows that come one by one come again and again, as the same array (`vectors.vector.one_text`)."""
        if len(self._singles) >= MOST_SINGLES:
            self._singles.clear()
        self._singles[id(text)] = text, code

    def _coded(self, strings: pa.Array) -> np.ndarray:
        before = self._table.count
        codes = self._table.codes(*_as_arrays(strings))
        if self._table.count > before:
            self._strings = self._ranks = None
        self._asked = strings, codes
        return codes

    def find(self, strings: pa.Array) -> np.ndarray:
        """The codes of strings that are there, -1 of others; none is added."""
        return self._table.find(*_as_arrays(strings)) if len(strings) else np.empty(0, np.int64)

    def codes(self, strings: list[str]) -> np.ndarray:
        return self.codes_of(pa.array(strings, pa.large_string()))

    def keep(self, used: np.ndarray) -> np.ndarray:
        """Forget the strings whose code is not marked in `used`; returns the new code of every old one, -1 for none."""
        kept = self.strings.filter(pa.array(used))
        self._table = StringTable()
        self._strings = self._ranks = self._asked = None
        self._singles.clear()
        self.codes_of(kept)
        return np.where(used, np.cumsum(used) - 1, -1)

    def ranks(self) -> np.ndarray:
        """Per code, its place in the order of strings."""
        if self._ranks is None:
            self._ranks = ranks_of(self.strings)
        return self._ranks


def _as_arrays(strings: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where strings begin, their bytes, and which are not null (empty: all)."""
    wanted = strings if strings.type == TEXT else strings.cast(TEXT)
    _, offsets, data = wanted.buffers()
    begins = np.frombuffer(offsets, np.int64)[wanted.offset : wanted.offset + len(wanted) + 1]
    octets = _NO_BYTES if data is None else np.frombuffer(data, np.uint8)
    return borrowed(begins), borrowed(octets), np.asarray(wanted.is_valid()) if wanted.null_count else _ALL_VALID


def ranks_of(strings: pa.Array) -> np.ndarray:
    """The place of each of these strings in their order (by code point, as SQL's binary collation)."""
    order = np.asarray(pc.sort_indices(strings)).astype(np.int64)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
