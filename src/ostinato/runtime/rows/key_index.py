"""Partition keys as consecutive numbers, over one or several columns of any type."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.expr.types import Kind, Type
from ostinato.kernels.rows.hashing import Numbering
from ostinato.kernels.rows.text_codes import occurring
from ostinato.kernels.vectors.vector import Vector
from ostinato.runtime.rows.string_pool import StringPool


class KeyColumn:
    """The distinct values of one key column, numbered. Null is a value like any other; who must not see it filters before."""

    def __init__(self, type_: Type, pool: StringPool) -> None:
        self.type = type_
        self._pool = pool
        self._numbering = Numbering()
        self._null = -1

    def __len__(self) -> int:
        return len(self._numbering)

    def number(self, vector: Vector) -> np.ndarray:
        if self.type.kind is Kind.STRING:
            return self._number_strings(vector)
        images = key_images(vector.data)
        if vector.valid is None or vector.valid.all():
            return self._numbering.number(images)
        numbers = np.full(len(images), self._null_number(), np.int64)
        numbers[vector.valid] = self._numbering.number(images[vector.valid])
        return numbers

    def _number_strings(self, vector: Vector) -> np.ndarray:
        """Number the distinct strings that occur, then look up the rows."""
        if vector.valid is None and len(vector.data) == 1 and len(vector.dictionary) == 1:
            return self._numbering.number(self._pool.codes_of(vector.dictionary))
        codes = vector.data if vector.valid is None else vector.data[vector.valid]
        present = occurring(codes, len(vector.dictionary))
        dictionary = vector.dictionary if present.all() else vector.dictionary.filter(pa.array(present))
        numbers = np.zeros(len(present), np.int64)
        numbers[present] = self._numbering.number(self._pool.codes_of(dictionary))
        if vector.valid is None or vector.valid.all():
            same = len(numbers) == len(self._numbering) and (numbers == np.arange(len(numbers))).all()
            return vector.data if same else numbers.take(vector.data)
        out = np.full(len(vector.data), self._null_number(), np.int64)
        out[vector.valid] = numbers[codes]
        return out

    @property
    def has_null(self) -> bool:
        return self._null >= 0

    def _null_number(self) -> int:
        if self._null < 0:
            self._null = self._numbering.reserve()
        return self._null

    def state(self) -> np.ndarray:
        """The values by number, behind the number of null."""
        return np.concatenate([[self._null], self._numbering.values])

    def load(self, state: np.ndarray) -> None:
        self._null, values = int(state[0]), state[1:]
        split = self._null if self._null >= 0 else len(values)
        self._numbering.number(values[:split])
        if self._null >= 0:
            self._numbering.reserve()
            self._numbering.number(values[split + 1 :])

    def codes(self) -> np.ndarray:
        """The codes of strings that it holds."""
        return self._numbering.values if self.type.kind is Kind.STRING else np.empty(0, np.int64)

    def recode(self, new_of_old: np.ndarray) -> None:
        if self.type.kind is Kind.STRING and len(self):
            state = self.state()
            self._numbering = Numbering()
            self.load(np.concatenate([state[:1], new_of_old[state[1:]]]))

    def values(self, numbers: np.ndarray) -> Vector:
        images = self._numbering.values[numbers]
        valid = None if self._null < 0 else numbers != self._null
        if self.type.kind is Kind.FLOAT:
            return Vector(self.type, images.view(np.float64), valid, None)
        if self.type.kind is Kind.BOOL:
            return Vector(self.type, images == 1, valid, None)
        return Vector(self.type, images, valid, self._pool.strings if self.type.kind is Kind.STRING else None)


class KeyIndex:
    """Numbers for the combinations of values that occur in the key columns."""

    def __init__(self, types: tuple[Type, ...], pool: StringPool) -> None:
        self.types = types
        self._columns = [KeyColumn(type_, pool) for type_ in types]
        self._pairs = [Numbering() for _ in types[1:]]

    def __len__(self) -> int:
        return len(self._pairs[-1]) if self._pairs else len(self._columns[0])

    def number(self, vectors: list[Vector]) -> np.ndarray:
        """The key number of every row."""
        numbers = self._columns[0].number(vectors[0])
        if self._pairs:
            for pair, column, vector in zip(self._pairs, self._columns[1:], vectors[1:], strict=True):
                numbers = pair.number((numbers << 32) | column.number(vector))
        return numbers

    def values(self, column: int, keys: np.ndarray) -> Vector:
        """The values of a key column for the given key numbers."""
        numbers = keys
        for i in range(len(self.types) - 1, 0, -1):
            pair = self._pairs[i - 1].values[numbers]
            if i == column:
                numbers = pair & 0xFFFFFFFF
                break
            numbers = pair >> 32
        return self._columns[column].values(numbers)

    def with_null(self, keys: np.ndarray) -> np.ndarray | None:
        """Which of `keys` have a null among their values; None if none has."""
        columns = [number for number, column in enumerate(self._columns) if column.has_null]
        if not columns:
            return None
        found = np.zeros(len(keys), np.bool_)
        for number in columns:
            valid = self.values(number, keys).valid
            found |= ~valid if valid is not None else False
        return found

    def codes(self) -> list[np.ndarray]:
        return [column.codes() for column in self._columns]

    def recode(self, new_of_old: np.ndarray) -> None:
        """Strings have other codes now."""
        for column in self._columns:
            column.recode(new_of_old)

    def state(self) -> dict[str, np.ndarray]:
        columns = {f"column{i}": column.state() for i, column in enumerate(self._columns)}
        return columns | {f"pair{i}": pair.values for i, pair in enumerate(self._pairs)}

    def load(self, state: dict[str, np.ndarray]) -> None:
        for i, column in enumerate(self._columns):
            column.load(state[f"column{i}"])
        for i, pair in enumerate(self._pairs):
            pair.number(state[f"pair{i}"])

    def kept(self, keys: np.ndarray, pool: StringPool) -> tuple[KeyIndex, np.ndarray]:
        """A new index with only these keys, its strings in another pool, and the old number of each new one."""
        index = KeyIndex(self.types, pool)
        if not len(keys):
            return index, keys
        new = index.number([self.values(i, keys) for i in range(len(self.types))])
        old_of_new = np.empty(len(keys), np.int64)
        old_of_new[new] = keys
        return index, old_of_new


def key_images(data: np.ndarray) -> np.ndarray:
    """Values as int64, equal where SQL holds them equal."""
    if data.dtype == np.float64:
        return np.ascontiguousarray(np.where(np.isnan(data), np.nan, data + 0.0)).view(np.int64)  # one NaN, no negative zero
    return data.astype(np.int64, copy=False)
