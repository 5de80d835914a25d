"""The queries of one shape, while they run: their names, and their constants as columns. They come and go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.expr.types import Kind
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.input import Column
from ostinato.program.shapes.query_table import IDS, constants_schema
from ostinato.runtime.queries.images import ordered_image
from ostinato.runtime.rows.string_pool import StringPool

GONE = int(np.iinfo(np.int64).max)  # when a query that is removed will see its first row
FIRST_ROOM = 16


class QueryTable:
    """A number per combination of constants, for all queries that have it; numbers stay as long as the table does.

    `since[n]` is the first arrival that number n sees, `emitted[n]` how many matches it has returned, `before[n]` how many rows had come
    before it."""

    def __init__(self, parameters: Sequence[Column]) -> None:
        self.parameters = tuple(parameters)
        self.pool = StringPool()  # of constants that are texts
        self.ids: list[tuple[str, ...]] = []
        self._number_of: dict[str, int] = {}
        self._known: dict[bytes, int] = {}  # combinations of constants
        self.words = np.zeros((len(self.parameters), FIRST_ROOM), np.int64)  # as they are held: the bits of doubles, codes of texts
        self.images = np.zeros((len(self.parameters), FIRST_ROOM), np.int64)
        self.since = np.zeros(FIRST_ROOM, np.int64)
        self.emitted = np.zeros(FIRST_ROOM, np.int64)
        self.before = np.zeros(FIRST_ROOM, np.int64)
        self.changes = 0  # how often something was removed

    def __len__(self) -> int:
        """Numbers, those that are gone included."""
        return len(self.ids)

    def __contains__(self, query: object) -> bool:
        return query in self._number_of

    @property
    def queries(self) -> Iterable[str]:
        return self._number_of

    @property
    def query_count(self) -> int:
        return len(self._number_of)

    def number_of(self, query: str) -> int:
        return self._number_of[query]

    def add(self, query: str, constants: Sequence[Any], since: int, before: int) -> None:
        """`constants` as the engine holds them, texts as texts. Those that run already with the same ones and have seen no other rows
        are evaluated together with it."""
        words = np.array([self._word(value, column) for value, column in zip(constants, self.parameters, strict=True)], np.int64)
        self._add(query, words, since, before)

    def _word(self, value: Any, column: Column) -> int:
        if column.type.kind is Kind.STRING:
            return int(self.pool.codes([value])[0])
        return int(np.float64(value).view(np.int64)) if column.type.kind is Kind.FLOAT else int(value)

    def _add(self, query: str, words: np.ndarray, since: int, before: int) -> None:
        key = words.tobytes() + since.to_bytes(8, "big") + before.to_bytes(8, "big")
        known = self._known.get(key)
        if known is not None:
            self.ids[known] = (*self.ids[known], query)
            self._number_of[query] = known
            return
        number = len(self.ids)
        self._make_room(number + 1)
        self.ids.append((query,))
        self._number_of[query] = self._known[key] = number
        self.words[:, number] = words
        self.images[:, number] = [self._image(word, column) for word, column in zip(words, self.parameters, strict=True)]
        self.since[number], self.emitted[number], self.before[number] = since, 0, before

    @staticmethod
    def _image(word: np.int64, column: Column) -> int:
        return int(ordered_image(np.array([word]).view(np.float64))[0]) if column.type.kind is Kind.FLOAT else int(word)

    def _make_room(self, count: int) -> None:
        have = len(self.since)
        if count <= have:
            return
        room = max(count, 2 * have)
        for name in ("since", "emitted", "before"):
            setattr(self, name, _lengthened(getattr(self, name), room))
        self.words, self.images = (np.stack([_lengthened(line, room) for line in array]) for array in (self.words, self.images))

    def remove(self, query: str) -> None:
        number = self._number_of.pop(query)
        self.ids[number] = tuple(other for other in self.ids[number] if other != query)
        if not self.ids[number]:
            key = self.words[:, number].tobytes() + int(self.since[number]).to_bytes(8, "big") + int(self.before[number]).to_bytes(8, "big")
            del self._known[key]
            self.since[number] = GONE
            self.changes += 1

    def column(self, parameter: int, numbers: np.ndarray) -> Vector:
        """A constant of each of these queries."""
        type_ = self.parameters[parameter].type
        words = self.words[parameter].take(numbers)
        if type_.kind is Kind.FLOAT:
            return Vector(type_, words.view(np.float64))
        if type_.kind is Kind.BOOL:
            return Vector(type_, words != 0)
        if type_.kind is Kind.STRING:
            return _texts(Vector(type_, words, None, self.pool.strings))
        return Vector(type_, words)

    def table(self) -> pa.Table:
        """As in a program; those that are gone have no names."""
        schema = constants_schema(self.parameters)
        count = len(self)
        columns: list[pa.Array] = [pa.array([list(ids) for ids in self.ids], schema.types[0])]
        for number, column in enumerate(self.parameters):
            words = self.words[number, :count]
            if column.type.kind is Kind.STRING:
                columns.append(self.pool.strings.take(pa.array(words)))
            else:
                columns.append(pa.array(words.view(np.float64) if column.type.kind is Kind.FLOAT else words))
        return pa.table(columns, schema=schema)

    def load(self, table: pa.Table) -> None:
        """Of a program, into a table that is empty."""
        count = table.num_rows
        words = np.zeros((count, len(self.parameters)), np.int64)
        for number, column in enumerate(self.parameters):
            held = table.column(column.name).combine_chunks()
            if column.type.kind is Kind.STRING:
                words[:, number] = self.pool.codes_of(held)
            else:
                words[:, number] = held.to_numpy().view(np.int64)
        self.load_words(words, table.column(IDS).to_pylist())

    def load_words(self, words: np.ndarray, ids: list[list[str]]) -> None:
        count = len(ids)
        self._make_room(count)
        self.words[:, :count] = words.T
        for number, column in enumerate(self.parameters):
            line = np.ascontiguousarray(words[:, number])
            self.images[number, :count] = ordered_image(line.view(np.float64)) if column.type.kind is Kind.FLOAT else line
        suffix = bytes(16)
        for number, names in enumerate(ids):
            self.ids.append(tuple(names))
            self._known[words[number].tobytes() + suffix] = number
            for name in names:
                self._number_of[name] = number
            if not names:
                self.since[number] = GONE
                self.changes += 1

    def state(self) -> np.ndarray:
        """What a snapshot holds beside the names and the constants."""
        return np.stack([self.since[: len(self)], self.emitted[: len(self)], self.before[: len(self)]])

    def load_state(self, state: np.ndarray) -> None:
        count = len(self)
        self.since[:count], self.emitted[:count], self.before[:count] = state
        self._known = {
            self.words[:, n].tobytes() + int(self.since[n]).to_bytes(8, "big") + int(self.before[n]).to_bytes(8, "big"): n
            for n in range(count)
            if self.ids[n]
        }


def _lengthened(old: np.ndarray, size: int) -> np.ndarray:
    new = np.zeros(size, old.dtype)
    new[: len(old)] = old
    return new


def _texts(vector: Vector) -> Vector:
    """With the strings that occur alone: there are as many as queries have constants."""
    present, local = np.unique(vector.data, return_inverse=True)
    return Vector(vector.type, local.astype(np.int64), None, vector.dictionary.take(pa.array(present)))
