"""The queries of one shape, while they run: their names, and their constants as columns. They come and go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.expr.types import Kind
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.constants_table import IDS, constants_schema, unpacked
from ostinato.program.input import Column
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
        self._numbers: dict[str, int] | None = {}  # by the names of queries; None: made when it is asked for
        self._known: dict[bytes, int] | None = {}  # combinations of constants; None: made when it is asked for
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
    def _number_of(self) -> dict[str, int]:
        if self._numbers is None:
            self._numbers = {name: number for number, names in enumerate(self.ids) for name in names}
        return self._numbers

    @property
    def queries(self) -> Iterable[str]:
        return self._number_of

    @property
    def query_count(self) -> int:
        return len(self._number_of) if self._numbers is not None else sum(map(len, self.ids))

    def number_of(self, query: str) -> int:
        return self._number_of[query]

    def add(self, query: str, constants: Sequence[Any], since: int, before: int) -> None:
        """`constants` as the engine holds them, texts as texts. Those that run already with the same ones and have seen no other rows
        are evaluated together with it."""
        self.add_all([query], [constants], since, before)

    def add_all(self, queries: Sequence[str], constants: Sequence[Sequence[Any]], since: int, before: int) -> None:
        if queries:
            words = np.stack([self._words(values, column) for values, column in zip(zip(*constants), self.parameters, strict=True)], 1)
            images = np.stack([self._images(words[:, n], column) for n, column in enumerate(self.parameters)])
            self._make_room(len(self) + len(queries))
            for place, query in enumerate(queries):
                self._add(query, words[place], images[:, place], since, before)

    def _words(self, values: Sequence[Any], column: Column) -> np.ndarray:
        if column.type.kind is Kind.STRING:
            return self.pool.codes(list(values))
        return np.array(values, np.float64).view(np.int64) if column.type.kind is Kind.FLOAT else np.array(values, np.int64)

    def _add(self, query: str, words: np.ndarray, images: np.ndarray, since: int, before: int) -> None:
        same = self._combinations
        key = _key(words, since, before)
        known = same.get(key)
        if known is not None:
            self.ids[known] = (*self.ids[known], query)
            self._number_of[query] = known
            return
        number = len(self.ids)
        self.ids.append((query,))
        self._number_of[query] = same[key] = number
        self.words[:, number] = words
        self.images[:, number] = images
        self.since[number], self.emitted[number], self.before[number] = since, 0, before

    @property
    def _combinations(self) -> dict[bytes, int]:
        """Numbers by their constants and the rows that they have seen."""
        if self._known is None:
            self._known = {self._key_of(number): number for number in range(len(self)) if self.ids[number]}
        return self._known

    def _key_of(self, number: int) -> bytes:
        return _key(self.words[:, number], int(self.since[number]), int(self.before[number]))

    @staticmethod
    def _images(words: np.ndarray, column: Column) -> np.ndarray:
        return ordered_image(np.ascontiguousarray(words).view(np.float64)) if column.type.kind is Kind.FLOAT else words

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
            if self._known is not None:
                del self._known[self._key_of(number)]
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

    def load_words(self, words: np.ndarray, ids: Sequence[Sequence[str]]) -> None:
        count = len(ids)
        self._make_room(count)
        self.words[:, :count] = words.T
        for number, column in enumerate(self.parameters):
            self.images[number, :count] = self._images(words[:, number], column)
        self._known = None
        self.ids = [tuple(names) for names in ids]
        self._numbers = None
        gone = [number for number, names in enumerate(ids) if not names]
        self.since[gone] = GONE
        self.changes = len(gone)

    def copy(self) -> QueryTable:
        """One that changes by itself, with the same queries."""
        table = QueryTable(self.parameters)
        table.pool.codes_of(self.pool.strings)
        table.ids, table.changes, table._numbers, table._known = list(self.ids), self.changes, None, None
        for name in ("words", "images", "since", "emitted", "before"):
            setattr(table, name, getattr(self, name).copy())
        return table

    def state(self) -> np.ndarray:
        """What a snapshot holds beside the names and the constants."""
        return np.stack([self.since[: len(self)], self.emitted[: len(self)], self.before[: len(self)]])

    def load_state(self, state: np.ndarray) -> None:
        count = len(self)
        self.since[:count], self.emitted[:count], self.before[:count] = state
        self._known = None


def _key(words: np.ndarray, since: int, before: int) -> bytes:
    return words.tobytes() + since.to_bytes(8, "big") + before.to_bytes(8, "big")


@lru_cache(8)  # on a Spark stream every micro-batch opens sessions of the same program
def _read(data: bytes, parameters: tuple[Column, ...]) -> QueryTable:
    table = QueryTable(parameters)
    table.load(unpacked(data, parameters))
    return table


def table_of(data: bytes, parameters: tuple[Column, ...]) -> QueryTable:
    """As a program has it."""
    return _read(data, parameters).copy()


def _lengthened(old: np.ndarray, size: int) -> np.ndarray:
    new = np.zeros(size, old.dtype)
    new[: len(old)] = old
    return new


def _texts(vector: Vector) -> Vector:
    """With the strings that occur alone: there are as many as queries have constants."""
    present, local = np.unique(vector.data, return_inverse=True)
    return Vector(vector.type, local.astype(np.int64), None, vector.dictionary.take(pa.array(present)))
