"""A number of rows of each key: the first or the last ones of a table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.tasks.key_codes import key_codes


def last_rows(table: pa.Table, keys: list[str], count: int) -> pa.Table:
    grouped, by_key = _grouped(table, keys)
    ends = np.searchsorted(grouped, grouped, side="right")
    return table.take(np.sort(by_key[ends - np.arange(len(grouped)) <= count]))


def first_rows(table: pa.Table, keys: list[str], count: int) -> pa.Table:
    grouped, by_key = _grouped(table, keys)
    begins = np.searchsorted(grouped, grouped)
    return table.take(np.sort(by_key[np.arange(len(grouped)) - begins < count]))


def all_have(found: pa.Table, wanted: pa.Table, keys: list[str], count: int) -> bool:
    """Whether `found` has so many rows of every key in `wanted`."""
    if not keys:
        return found.num_rows >= count
    both = pa.concat_tables([found.select(keys), wanted.select(keys)])
    codes = key_codes(both, keys)
    sizes = np.bincount(codes[: found.num_rows], minlength=codes.max() + 1 if len(codes) else 0)
    return bool(np.all(sizes[codes[found.num_rows :]] >= count))


def _grouped(table: pa.Table, keys: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The keys' numbers one key after the other, and the rows that they are of, in their order."""
    codes = key_codes(table, keys)
    by_key = np.argsort(codes, kind="stable")
    return codes[by_key], by_key
