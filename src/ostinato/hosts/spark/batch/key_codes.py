"""Numbers for the partition keys of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def key_codes(table: pa.Table, keys: Sequence[str]) -> np.ndarray:
    """One number per row, equal where all key columns are equal; nulls are equal to one another."""
    codes = np.zeros(table.num_rows, np.int64)
    for name in keys:
        column = table.column(name)
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        encoded = column.dictionary_encode(null_encoding="encode") if not pa.types.is_dictionary(column.type) else column
        own = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
        _, codes = np.unique(codes * (len(encoded.dictionary) + 1) + own, return_inverse=True)
    return codes
