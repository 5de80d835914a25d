"""Measures at the rows of matches, where all of them are shown: a line per row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.expr.types import BOOL
from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.measure_code import MatchAggregate, Point
from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.output.match_aggregates import aggregated
from ostinato.runtime.output.measures import MatchView


@dataclass(frozen=True)
class Lines:
    """Line i is about match `match[i]`. RUNNING sees its rows from `begin[i]` up to, not including, `behind[i]`, which are places among
    the rows of all matches; both are the same for an empty match."""

    match: np.ndarray
    begin: np.ndarray
    behind: np.ndarray

    def __len__(self) -> int:
        return len(self.match)

    @property
    def filled(self) -> np.ndarray:
        return self.behind > self.begin


def lines_of(matches: Matches, hidden: np.ndarray, empty: bool) -> Lines:
    """A line per row that is not `hidden` (flags per variable), and one per match without rows, if `empty` says so."""
    lengths = np.diff(matches.offsets)
    counts = np.maximum(lengths, 1) if empty else lengths
    match = np.repeat(np.arange(len(matches)), counts)
    before = np.cumsum(counts) - counts
    within = np.arange(len(match)) - before[match]
    begin = matches.offsets[:-1][match]
    behind = begin + within + (lengths[match] > 0)
    if not hidden.any():
        return Lines(match, begin, behind)
    last = np.maximum(behind - 1, 0)
    shown = (behind == begin) | ~hidden[matches.variables[last]] if len(matches.variables) else behind == begin
    return Lines(match[shown], begin[shown], behind[shown])


class RowView:
    """The values that measures ask for. What is FINAL is asked of the matches, and repeated; what is RUNNING takes one pass over all
    rows of the matches."""

    def __init__(self, of_matches: MatchView, lines: Lines) -> None:
        self.of_matches = of_matches
        self.lines = lines
        self._pattern = of_matches.pattern
        self._chosen: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def measure_columns(self) -> list[Vector]:
        measures = self._pattern.measures
        assert measures.code is not None
        return evaluate(measures.code, len(self.lines), self.input, names=measures.names)

    def rows(self) -> np.ndarray:
        """The arena rows that are shown: of an empty match, the one at which it starts."""
        lines = self.lines
        return self._arena_rows(np.where(lines.filled, lines.behind - 1, lines.begin), 0)

    def input(self, name: str) -> Vector:
        kind, _, rest = name.partition(":")
        measures = self._pattern.measures
        if kind == "aggregate":
            spec = measures.aggregates[int(rest)]
            return self._repeated(name) if spec.final else self._running(spec)
        if kind not in ("point", "exists", "classifier"):
            return self._repeated(name)
        number, _, column = rest.partition(":")
        point = measures.points[int(number)]
        if point.final:
            return self._repeated(name)
        places = self._places(point)
        if kind == "classifier":
            m, offsets = self.lines.match, self.of_matches.matches.offsets
            return self.of_matches.classified(places, point.shift, offsets[m], offsets[m + 1])
        index = np.where(places >= 0, self._arena_rows(places, point.shift), -1)
        return Vector(BOOL, index >= 0, None, None) if kind == "exists" else self.of_matches.stored(column, index)

    def _repeated(self, name: str) -> Vector:
        found, match = self.of_matches.input(name), self.lines.match
        return Vector(found.type, found.data[match], None if found.valid is None else found.valid[match], found.dictionary)

    def _places(self, point: Point) -> np.ndarray:
        """Per line the place among the rows of all matches that a navigation starts from, -1 if there is none."""
        begin, behind = self.lines.begin, self.lines.behind
        if point.variable < 0:
            at = begin + point.offset if point.anchor == "FIRST" else behind - 1 - point.offset
            return np.where((begin <= at) & (at < behind), at, -1)
        chosen, before = self._rows_of(point.variable)
        first, end = before[begin], before[behind]
        at = first + point.offset if point.anchor == "FIRST" else end - 1 - point.offset
        there = (first <= at) & (at < end)
        return np.where(there, chosen[np.where(there, at, 0)], -1) if len(chosen) else np.full(len(at), -1)

    def _rows_of(self, variable: int) -> tuple[np.ndarray, np.ndarray]:
        """The places of the rows of a variable, and how many of them stand before each place."""
        if variable not in self._chosen:
            flags = self.of_matches.belonging(variable)[self.of_matches.matches.variables]
            before = np.zeros(len(flags) + 1, np.int64)
            np.cumsum(flags, out=before[1:])
            self._chosen[variable] = np.flatnonzero(flags), before
        return self._chosen[variable]

    def _arena_rows(self, places: np.ndarray, shift: int) -> np.ndarray:
        """Where the rows some rows away from these places lie, -1 outside of the partition."""
        matches, rows, m = self.of_matches.matches, self.of_matches.rows, self.lines.match
        key = matches.key[m]
        at = matches.start[m] + (places - matches.offsets[m]) + shift - rows.base[key]
        return np.where((at >= 0) & (at < rows.length[key]), rows.offset[key] + at, -1)

    def _running(self, spec: MatchAggregate) -> Vector:
        matches, lines = self.of_matches.matches, self.lines
        belongs = self.of_matches.belonging(spec.variable)
        values = None if spec.value < 0 else self.of_matches.row_values()[spec.value]
        if spec.function == "array" and values is not None:
            return self.of_matches.arrays(spec, values, lines.begin, lines.behind)
        found = aggregated(spec, matches, belongs, values, running=True)
        filled, last = lines.filled, lines.behind[lines.filled] - 1
        data = np.zeros(len(lines), found.data.dtype)  # a count of nothing is 0,
        data[filled] = found.data[last]
        if found.valid is None:
            return Vector(found.type, data, None, None)
        valid = np.zeros(len(lines), np.bool_)  # and everything else null
        valid[filled] = found.valid[last]
        return Vector(found.type, data, valid, found.dictionary)
