"""Compressed matches read back: counted, listed, or one by one, without more work than the part that is asked for.

A value is what `OUTPUT compressed` returns; `runtime.output.compressed_output` says how it is laid out. Matches come in the order of
`all`: by the event that completes them, then by the places of their events, then earlier variables first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.inspect.match_graph import Found, MatchGraph

COLUMN = "matches"


def decode(compressed: Any) -> DecodedMatches:
    """The matches in a compressed result: a `Result`, an Arrow table or column, a pandas frame, or values as Python has them (a dict, a
    Spark row, or a list of such)."""
    return DecodedMatches([MatchGraph(value) for value in _values(compressed)])


class DecodedMatches:
    """Like a list of rows of output `all`. `len` and slices cost no enumeration; `count()` is a length of any size."""

    def __init__(self, graphs: list[MatchGraph]) -> None:
        self._graphs = graphs

    def count(self) -> int:
        return sum(graph.count for graph in self._graphs)

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def __getitem__(self, place: int | slice) -> Any:
        total = self.count()
        if isinstance(place, slice):
            begin, end, step = place.indices(total)
            if step != 1:
                return [self[at] for at in range(begin, end, step)]
            return list(self.rows(begin, end))
        at = place + total if place < 0 else place
        if not 0 <= at < total:
            raise IndexError(f"there are {total} matches")
        return next(self.rows(at, at + 1))

    def rows(self, begin: int = 0, end: int | None = None) -> Iterator[dict[str, Any]]:
        """The matches from `begin` on, before `end`, as rows."""
        for number, graph, found in self._found(begin, end):
            yield graph.row(number + 1, found)

    def to_arrow(self, begin: int = 0, end: int | None = None) -> pa.Table:
        """The same as a table."""
        tables = []
        for graph, first, found in self._by_graph(begin, end):
            tables.append(graph.table(first + 1, found))
        if tables:
            return pa.concat_tables(tables)
        return self._graphs[0].table(1, []) if self._graphs else pa.table({})

    def to_pandas(self, begin: int = 0, end: int | None = None) -> Any:
        return self.to_arrow(begin, end).to_pandas()

    def _found(self, begin: int, end: int | None) -> Iterator[tuple[int, MatchGraph, Found]]:
        for graph, first, found in self._by_graph(begin, end):
            for place, match in enumerate(found):
                yield first + place, graph, match

    def _by_graph(self, begin: int, end: int | None) -> Iterator[tuple[MatchGraph, int, Iterable[Found]]]:
        before = 0
        for graph in self._graphs:
            if end is not None and before >= end:
                return
            skipped = max(0, begin - before)
            if skipped < graph.count:
                wanted = None if end is None else end - before - skipped
                yield graph, before + skipped, islice(graph.matches(skipped), wanted)
            before += graph.count


def _values(compressed: Any) -> list[pa.StructScalar]:
    if hasattr(compressed, "to_arrow") and not isinstance(compressed, pa.Table | pa.Array | pa.ChunkedArray):
        compressed = compressed.to_arrow()
    if hasattr(compressed, "columns") and hasattr(compressed, "iloc"):
        compressed = compressed[COLUMN].tolist()
    if isinstance(compressed, pa.Table | pa.RecordBatch):
        if COLUMN not in compressed.schema.names:
            raise DataError(f"there is no column {COLUMN} here", hint="decode what a query with OUTPUT compressed returned")
        compressed = compressed.column(COLUMN)
    if isinstance(compressed, pa.StructScalar):
        return [_checked(compressed)]
    if isinstance(compressed, pa.Array | pa.ChunkedArray):
        return [_checked(value) for value in compressed if value.is_valid]
    if isinstance(compressed, dict) or hasattr(compressed, "asDict"):
        compressed = [compressed]
    values = [_plain(value) for value in compressed]
    values = [value[COLUMN] if set(value) == {COLUMN} else value for value in values]
    return [_checked(value) for value in pa.array(values)] if values else []


def _plain(value: Any) -> Any:
    """Rows of Spark as dicts, also inside of others; arrays of pandas as lists."""
    if hasattr(value, "asDict"):
        value = value.asDict(recursive=True)
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _checked(value: pa.Scalar) -> pa.StructScalar:
    known = {"variables", "time", "events", "node_event", "node_variable", "node_before", "node_other", "root_node", "root_from"}
    if not isinstance(value, pa.StructScalar) or not known <= {field.name for field in value.type}:
        raise DataError("this is no compressed match", hint="decode what a query with OUTPUT compressed returned")
    return value
