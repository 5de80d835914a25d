"""Numbers for the partition keys of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ostinato.kernels.vectors.vector import from_arrow
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.string_pool import StringPool


def key_codes(table: pa.Table, keys: Sequence[str]) -> np.ndarray:
    """One number per row, equal where all key columns are equal to the engine; nulls are equal to one another."""
    if not keys or not table.num_rows:
        return np.zeros(table.num_rows, np.int64)
    vectors = [from_arrow(table.column(name)) for name in keys]
    return KeyIndex(tuple(vector.type for vector in vectors), StringPool()).number(vectors)


def with_keys_of(table: pa.Table, wanted: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The rows of a table whose key is one of those in `wanted`."""
    codes = key_codes(pa.concat_tables([wanted.select(keys), table.select(keys)]), keys)
    chosen = np.zeros(int(codes.max()) + 1 if len(codes) else 0, np.bool_)
    chosen[codes[: wanted.num_rows]] = True
    return table.take(np.flatnonzero(chosen[codes[wanted.num_rows :]]))
