"""Rows of a batch go behind those of their keys."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ostinato.expr.types import Kind, Type
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.input import Input
from ostinato.runtime.rows.key_index import KeyIndex
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.string_pool import StringPool


class Intake:
    def __init__(self, reads: Input, stored: Mapping[str, Type], pool: StringPool) -> None:
        self._keys = reads.key_names
        self._time = reads.time_name
        self._stored = tuple(name for name in stored if name != self._time)
        self._plain = {name for name, type_ in stored.items() if type_.kind not in (Kind.STRING, Kind.OPAQUE)}
        self._pool = pool

    def append(
        self,
        rows: KeyedRows,
        keys: KeyIndex | None,
        columns: Mapping[str, Vector],
        count: int,
        times: np.ndarray | None,
        positions: np.ndarray | None,
    ) -> np.ndarray:
        """Number the keys of `count` rows and store what is needed of them; returns the keys that have got some. `positions`: None where
        nobody asks for them."""
        numbers = None
        if keys is not None:
            numbers = keys.number([columns[name] for name in self._keys])
            rows.ensure_keys(len(keys))
        batch = {}
        for name in self._stored:
            vector = columns[name]
            plain = name in self._plain
            batch[rows.held_as(name)] = (vector.data, vector.valid) if plain else self._storable(rows, name, vector)
        if times is not None:
            batch["times"] = (times, columns[self._time].valid)
        if positions is not None:
            batch["positions"] = (positions, None)
        grouping = rows.group(numbers, count)
        rows.append(grouping, batch)
        return grouping.keys

    def _storable(self, rows: KeyedRows, name: str, vector: Vector) -> tuple[np.ndarray, np.ndarray | None]:
        if name in rows.opaque and vector.dictionary is not None:
            return rows.opaque[name].add(vector.dictionary) + vector.data, vector.valid
        if vector.type.kind is not Kind.STRING:
            return vector.data, vector.valid
        codes = self._pool.codes_of(vector.dictionary)
        return (codes[vector.data] if len(codes) else np.zeros(len(vector.data), np.int64)), vector.valid
