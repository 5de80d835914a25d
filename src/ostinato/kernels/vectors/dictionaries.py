"""Strings as codes: looking up what was computed per distinct string, and bringing columns to one dictionary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.expr.types import STRING
from ostinato.kernels.vectors.vector import TEXT, Vector, with_distinct_entries

ROOMY = 64


def lookup(table: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """table[codes]; where there are no strings at all, all rows are null and anything will do."""
    return table[codes] if len(table) else np.zeros(len(codes), table.dtype)


def as_table(array: pa.Array) -> np.ndarray:
    return np.asarray(array.to_numpy(zero_copy_only=False))


def without_unused_entries(vector: Vector) -> Vector:
    """Only the strings that occur, where the dictionary is much longer than the column: functions work on dictionaries."""
    if len(vector.dictionary) <= 2 * len(vector) + ROOMY:
        return vector
    codes = vector.data if vector.valid is None else np.where(vector.valid, vector.data, 0)
    present, local = np.unique(codes, return_inverse=True)
    return Vector(vector.type, local.astype(np.int64), vector.valid, vector.dictionary.take(pa.array(present)), vector.failure)


def recoded(vector: Vector, texts: pa.Array) -> Vector:
    """Every string replaced by another one, some of which may be equal now."""
    texts = texts if texts.type == TEXT else texts.cast(TEXT)
    return with_distinct_entries(Vector(STRING, vector.data, vector.valid, texts))


def unified(vectors: Sequence[Vector]) -> tuple[list[np.ndarray], pa.Array]:
    """Codes of all columns in one dictionary."""
    first = vectors[0].dictionary
    if all(vector.dictionary is first for vector in vectors):
        return [vector.data for vector in vectors], first
    vectors = [without_unused_entries(vector) for vector in vectors]
    encoded = pa.concat_arrays([vector.dictionary for vector in vectors]).dictionary_encode()
    table = np.asarray(encoded.indices).astype(np.int64)
    codes, start = [], 0
    for vector in vectors:
        end = start + len(vector.dictionary)
        codes.append(lookup(table[start:end], vector.data))
        start = end
    return codes, encoded.dictionary


def ranks(dictionary: pa.Array) -> np.ndarray:
    """Per code its place in the order of strings, by code point."""
    order = np.asarray(pc.sort_indices(dictionary)).astype(np.int64)
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order))
    return found
