"""Buckets of keys: which bucket a row belongs to, and where Spark puts each bucket."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

DEFAULT_BUCKETS = 8


def buckets_of(table: pa.Table, keys: Sequence[str], buckets: int) -> np.ndarray:
    """A bucket per row, the same for equal keys on every machine and in every run."""
    mixed = np.zeros(table.num_rows, np.uint64)
    if buckets == 1:
        return mixed.astype(np.int64)
    for name in keys:
        column = table.column(name)
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        hashes = np.append(_hashes(encoded.dictionary), np.uint64(0x9E3779B97F4A7C15))  # the last one is for null
        codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        with np.errstate(over="ignore"):
            mixed = (mixed ^ hashes[codes]) * np.uint64(0xFF51AFD7ED558CCD)
            mixed ^= mixed >> np.uint64(33)
    return (mixed % np.uint64(buckets)).astype(np.int64)


def _hashes(values: pa.Array) -> np.ndarray:
    """64 bits per value. Whatever is not a string or a number goes by its printed form."""
    if pa.types.is_integer(values.type) or pa.types.is_boolean(values.type):
        return pd.util.hash_array(values.cast(pa.int64()).to_numpy(zero_copy_only=False))
    if pa.types.is_timestamp(values.type):
        return pd.util.hash_array(values.cast(pa.int64()).to_numpy(zero_copy_only=False))
    if not pa.types.is_string(values.type):
        values = values.cast(pa.string())
    return pd.util.hash_array(values.to_numpy(zero_copy_only=False).astype(object), categorize=False)


def labels(buckets: int, partitions: int) -> list[int]:
    """A number for each bucket such that Spark's own hash spreads them evenly: bucket i goes to shuffle partition i % partitions.
    Eight buckets numbered from 0 would leave some tasks with none. It is a matter of speed alone."""
    found: list[int] = []
    candidate = 0
    while len(found) < buckets:
        if _spark_hash(candidate) % partitions == len(found) % partitions:
            found.append(candidate)
        candidate += 1
    return found


def _spark_hash(value: int) -> int:
    """Murmur3 of a 32-bit integer with seed 42, as a signed number: what Spark partitions by."""
    mask = 0xFFFFFFFF
    k = (value * 0xCC9E2D51) & mask
    k = ((k << 15) | (k >> 17)) & mask
    k = (k * 0x1B873593) & mask
    h = 42 ^ k
    h = ((h << 13) | (h >> 19)) & mask
    h = (h * 5 + 0xE6546B64) & mask
    h ^= 4
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & mask
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & mask
    h ^= h >> 16
    return h - (1 << 32) if h & 0x80000000 else h
