"""Evaluates the columnar predicates and slot values of rows that have come in, each row once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ostinato.expr.types import Kind
from ostinato.kernels.rows.grouping import put_octets, ranges
from ostinato.kernels.rows.key_regions import COUNT, FIRST, LINES, SOURCE, TARGET, WANTED, stretches_around, total
from ostinato.kernels.rows.predicate_lines import find_holding, put_bits
from ostinato.kernels.vectors.evaluate import Evaluator
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.pattern import Pattern
from ostinato.program.shared_code import shared_code
from ostinato.runtime.row_code.predicate_code import PredicateCode
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool


class RowCode:
    """The row code of one pattern, or of several over the same rows: each distinct predicate is evaluated once, however many ask for it."""

    def __init__(self, patterns: Sequence[Pattern], pool: StringPool) -> None:
        self._patterns = patterns
        self._pool = pool
        self._types = {c.name: c.type for pattern in patterns for c in pattern.reads.columns}
        self._back = max(pattern.look_back for pattern in patterns)
        self._ahead = max(pattern.look_ahead for pattern in patterns)
        code, self._wanted = shared_code([pattern.rows for pattern in patterns])
        self._bits = [np.array(own[: pattern.bits], np.int64) for own, pattern in zip(self._wanted, patterns, strict=True)]
        self._direct = PredicateCode.of(patterns[0]) if len(patterns) == 1 else None
        self._evaluator = Evaluator(code) if code.results and self._direct is None else None
        self._last: Evaluated | None = None

    def fill(self, rows: PatternRows, keys: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        """Of one pattern: both at once."""
        if self._direct is not None:
            self._direct.run(rows, keys, start, end)
        else:
            self.evaluate(rows, keys, start, end)
            self.store(rows)

    def evaluate(self, rows: PatternRows, keys: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        """Compute what the patterns ask of the rows with ordinals start[i]..end[i] of each key. Then `store` writes it for a pattern, and
        `started` tells in which keys one of its matches may begin."""
        self._last = None
        found, begin = np.empty((LINES, len(keys)), np.int64), np.empty(len(keys) + 1, np.int64)
        count = stretches_around(keys, start, end, rows.offset, rows.base, rows.length, self._back, self._ahead, found, begin)
        if not count:
            return
        if count < len(keys):
            found, begin = np.ascontiguousarray(found[:, :count]), begin[: count + 1]
        extent = Extent(found[FIRST], found[COUNT], begin)
        results: list[Vector] = []
        if self._evaluator is not None:
            results = self._evaluator.evaluate(extent.count, lambda name: self._input(rows, extent.index, name), extent.shift)
        self._last = Evaluated(extent, results, found[SOURCE], found[WANTED], found[TARGET])

    def store(self, view: PatternRows, number: int = 0, chosen: np.ndarray | None = None) -> None:
        """Fill the bits and slots of a pattern with what was evaluated last; `view` are the rows as it sees them. `chosen`: places of the
        keys in which it is asked for, in order."""
        last, pattern, own = self._last, self._patterns[number], self._wanted[number]
        if last is None:
            return
        if len(self._patterns) == 1:
            store_bits(view, [last.results[n] for n in own[: pattern.bits]], last)
        else:
            stretches = np.arange(len(last.counts)) if chosen is None else chosen
            put_bits(last.holds, self._bits[number], stretches, last.source, last.counts, last.target, view.bits)
        if pattern.slots:
            last = last if chosen is None else last.chosen(own[pattern.bits :], chosen)
            inner = None if last.is_whole else ranges(last.source, last.counts)
            self._store_slots(view, side_by_side(last.target, last.counts), [last.results[n] for n in own[pattern.bits :]], inner)

    def result(self, number: int, bit: int) -> int:
        """The result that is this bit of a pattern."""
        return self._wanted[number][bit]

    def stretches_with(self, results: np.ndarray, keys: int) -> np.ndarray:
        """Flags, a line per predicate and a column per key that was evaluated last: whether it holds for a row of the key."""
        flags = np.zeros((len(results), keys), np.bool_)
        if self._last is not None:
            find_holding(self._last.holds, results, self._last.extent.begin, flags)
        return flags

    def _input(self, rows: PatternRows, index: np.ndarray | slice, name: str) -> Vector:
        held = rows.held_as(name)
        data, known = rows.arena.column(held)[index], rows.arena.valid[held]
        valid = None if known is None else known[index]
        type_ = self._types[name]
        if type_.kind is not Kind.STRING:
            return Vector(type_, data, valid, rows.opaque.get(name))
        return compact_strings(Vector(type_, data, valid, self._pool.strings))

    def _store_slots(self, rows: PatternRows, at: np.ndarray | slice, values: list[Vector], inner: np.ndarray | None) -> None:
        for number, vector in enumerate(values):
            data, valid = self._slot(vector)
            rows.slots[at, number] = data if inner is None else data[inner]
            rows.slot_valid[at, number] = 1 if valid is None else (valid if inner is None else valid[inner])

    def _slot(self, vector: Vector) -> tuple[np.ndarray, np.ndarray | None]:
        """A value as 64 bits: integers as they are, the bits of floats, session codes of strings."""
        if vector.type.kind is Kind.STRING:
            codes = self._pool.codes_of(vector.dictionary)
            return (codes[vector.data] if len(codes) else np.full(len(vector.data), -1)), vector.valid
        if vector.data.dtype == np.float64:
            return vector.data.view(np.int64), vector.valid
        return vector.data.astype(np.int64, copy=False), vector.valid


Results = list[Vector] | dict[int, Vector]


class Evaluated:
    """Results over the rows of an extent, of which `counts` from `source` on are asked for; their place in the arena begins at `target`."""

    def __init__(self, extent: Extent, results: Results, source: np.ndarray, counts: np.ndarray, target: np.ndarray) -> None:
        self.extent = extent
        self.results = results
        self.source = source
        self.counts = counts
        self.target = target
        self.is_whole = extent.count == total(counts)

    @cached_property
    def holds(self) -> np.ndarray:
        """A line per result: where it is a predicate that holds."""
        lines = np.zeros((len(self.results), self.extent.count), np.uint8)
        for line in range(len(self.results)):
            if self.results[line].type.kind is Kind.BOOL:
                lines[line] = _holds(self.results[line])
        return lines

    def chosen(self, results: Sequence[int], stretches: np.ndarray) -> Evaluated:
        """Some of the results in some of the stretches."""
        counts = self.counts[stretches]
        rows = ranges(self.source[stretches], counts)
        found = {result: _taken(self.results[result], rows) for result in results}
        extent = Extent(self.target[stretches], counts, np.concatenate([[0], np.cumsum(counts)]))
        return Evaluated(extent, found, extent.begin[:-1], counts, self.target[stretches])


def _taken(vector: Vector, rows: np.ndarray) -> Vector:
    return Vector(vector.type, vector.data[rows], None if vector.valid is None else vector.valid[rows], vector.dictionary)


def store_bits(view: PatternRows, predicates: list[Vector], last: Evaluated) -> None:
    bits, extent = _bit_sets(predicates), last.extent
    if isinstance(bits, np.ndarray) and last.is_whole and isinstance(extent.index, slice):
        view.bits[extent.index] = bits
    elif isinstance(bits, np.ndarray) and bits.dtype == np.uint8:
        put_octets(bits, last.source, last.counts, last.target, view.bits)
    else:
        place = side_by_side(last.target, last.counts)
        view.bits[place] = bits if not isinstance(bits, np.ndarray) else bits[ranges(last.source, last.counts)]


def _bit_sets(predicates: list[Vector]) -> np.ndarray | int:
    """One bit per predicate; unknown counts as not true. Bytes are put together first: eight bits cost one pass over words."""
    if not predicates:
        return 0
    if len(predicates) <= 8:
        return _octet(predicates)
    words = _octet(predicates[:8]).astype(np.uint64)
    for group in range(8, len(predicates), 8):
        words |= _octet(predicates[group : group + 8]).astype(np.uint64) << np.uint64(group)
    return words


def _octet(predicates: list[Vector]) -> np.ndarray:
    octet = _holds(predicates[0])
    for number, vector in enumerate(predicates[1:], 1):
        octet = octet | _holds(vector) << np.uint8(number)
    return octet


def _holds(vector: Vector) -> np.ndarray:
    return (vector.data if vector.valid is None else vector.data & vector.valid).view(np.uint8)


class Extent:
    """The rows that are evaluated together: a stretch per key."""

    def __init__(self, first: np.ndarray, counts: np.ndarray, begin: np.ndarray) -> None:
        """`first`: where the stretches begin in the arena; `begin`: among all rows that are evaluated, and last how many these are."""
        self.counts = counts
        self.begin = begin
        self.count = int(begin[-1])
        self.index = side_by_side(first, counts)

    def shift(self, vector: Vector, n: int) -> Vector:
        """The value n rows further on in the same stretch, null outside."""
        size = len(vector.data)
        step = min(abs(n), size)
        data = np.empty_like(vector.data)
        valid = np.ones(size, np.bool_) if vector.valid is None else np.empty(size, np.bool_)
        if n < 0:
            data[step:], data[:step] = vector.data[: size - step], 0
            if vector.valid is not None:
                valid[step:] = vector.valid[: size - step]
            edges = side_by_side(self.begin[:-1], np.minimum(self.counts, step))
        else:
            data[: size - step], data[size - step :] = vector.data[step:], 0
            if vector.valid is not None:
                valid[: size - step] = vector.valid[step:]
            outside = np.minimum(self.counts, step)
            edges = side_by_side(self.begin[1:] - outside, outside)
        valid[edges] = False
        return Vector(vector.type, data, valid, vector.dictionary)


def side_by_side(first: np.ndarray, counts: np.ndarray) -> np.ndarray | slice:
    """The rows of stretches; a slice where these lie one behind the other."""
    if len(first) == 1:
        return slice(int(first[0]), int(first[0]) + int(counts[0]))
    if len(first) and (first[1:] == first[:-1] + counts[:-1]).all():
        return slice(int(first[0]), int(first[-1] + counts[-1]))
    return ranges(first, counts)


def compact_strings(vector: Vector) -> Vector:
    """With a dictionary much longer than the column, only the strings that occur: functions work on dictionaries."""
    if len(vector.dictionary) <= 2 * len(vector.data) + 64:
        return vector
    codes = vector.data if vector.valid is None else np.where(vector.valid, vector.data, vector.data[0] if len(vector.data) else 0)
    present, local = np.unique(codes, return_inverse=True)
    present = np.maximum(present, 0)
    return Vector(vector.type, local.astype(np.int64), vector.valid, vector.dictionary.take(present))
