"""Buckets of keys: which bucket a row belongs to, and under which label Spark keeps it.

Both are part of the stored state: they depend on nothing but the key and the number of buckets, never on a setting of the session, and
they may not change from release to release without a new version of `BucketState`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from ostinato.expr.types import Kind
from ostinato.kernels.vectors.vector import Vector, from_arrow
from ostinato.runtime.rows.key_index import key_images

DEFAULT_BUCKETS = 8

_WORD = 0xFFFFFFFF
_NULL = np.uint64(0x9E3779B97F4A7C15)
_TEXT_KEY = "0123456789123456"


def buckets_of(table: pa.Table, keys: Sequence[str], buckets: int) -> np.ndarray:
    """A bucket per row, the same for keys that the engine holds equal, on every machine and in every run."""
    mixed = np.zeros(table.num_rows, np.uint64)
    if buckets == 1:
        return mixed.astype(np.int64)
    for name in keys:
        mixed = _mixed(mixed ^ _hashes(from_arrow(table.column(name))))
    return (mixed % np.uint64(buckets)).astype(np.int64)


def _hashes(vector: Vector) -> np.ndarray:
    """64 bits per row, from what the engine tells keys apart by: texts, or the images of all else."""
    if vector.type.kind is Kind.STRING:
        texts = vector.dictionary.to_numpy(zero_copy_only=False).astype(object)
        by_code = np.append(pd.util.hash_array(texts, hash_key=_TEXT_KEY, categorize=False), _NULL)  # so that an empty one can be read
        hashes = by_code[vector.data]
    else:
        hashes = _mixed(key_images(vector.data).view(np.uint64) + _NULL)
    return hashes if vector.valid is None else np.where(vector.valid, hashes, _NULL)


def _mixed(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def label_of(bucket: int) -> int:
    """The number whose hash, in Spark, is the number of the bucket. So Spark sends bucket i to shuffle partition i % n, however many
    there are: eight buckets labelled from 0 would leave some tasks with none."""
    h = _unshifted(bucket & _WORD, 16)
    h = _unshifted((h * pow(0xC2B2AE35, -1, 1 << 32)) & _WORD, 13)
    h = _unshifted((h * pow(0x85EBCA6B, -1, 1 << 32)) & _WORD, 16) ^ 4
    h = ((h - 0xE6546B64) * pow(5, -1, 1 << 32)) & _WORD
    k = (_turned(h, 19) ^ 42) * pow(0x1B873593, -1, 1 << 32) & _WORD
    return _signed((_turned(k, 17) * pow(0xCC9E2D51, -1, 1 << 32)) & _WORD)


def bucket_of(label: int) -> int:
    """Murmur3 of a 32-bit integer with seed 42, as a signed number: what Spark partitions by."""
    k = (_turned((label * 0xCC9E2D51) & _WORD, 15) * 0x1B873593) & _WORD
    h = ((_turned(42 ^ k, 13) * 5 + 0xE6546B64) & _WORD) ^ 4
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & _WORD
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & _WORD
    return _signed(h ^ (h >> 16))


def _turned(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (32 - bits))) & _WORD


def _unshifted(word: int, bits: int) -> int:
    """The word x for which x ^ (x >> bits) is the given one."""
    found, rest = word, word >> bits
    while rest:
        found ^= rest
        rest >>= bits
    return found


def _signed(word: int) -> int:
    return word - (1 << 32) if word & 0x80000000 else word
