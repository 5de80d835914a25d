"""A case over several streams, of a language whose queries combine streams: what the others have in one table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.conformance.case import ARROW_TYPES, Case, Expected, Refused, Rows

FOLDER = Path(__file__).parent / "cases"
WORKED_STREAMS = {"cel": "cel.jsonl"}  # by language
TYPES = {"name": "string"}  # of the worked cases; all other columns are integers


@dataclass(frozen=True)
class StreamRows:
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class StreamsCase(Case):
    """`streams` are in the place of `columns` and `rows`."""

    streams: tuple[tuple[str, StreamRows], ...] = ()

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        return {name: _table(given) for name, given in self.streams}

    @property
    def schemas(self) -> dict[str, pa.Schema]:
        return {name: table.schema for name, table in self.tables.items()}


def _table(given: StreamRows) -> pa.Table:
    arrays = [pa.array([row[i] for row in given.rows], ARROW_TYPES[kind]) for i, (_, kind) in enumerate(given.columns)]
    return pa.Table.from_arrays(arrays, names=[name for name, _ in given.columns])


def streams_case(name: str, language: str, text: str, streams: dict[str, StreamRows], expect: Expected, **options: str) -> StreamsCase:
    return StreamsCase(name, language, text, (), (), expect, options, tuple(streams.items()))


def worked_streams_cases(language: str) -> list[StreamsCase]:
    """Their rows list each result once, however often it is found."""
    file = WORKED_STREAMS[language]
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return [_case(f"{file.removesuffix('.jsonl')}-{number}", language, json.loads(line)) for number, line in enumerate(lines, 1)]


def _case(name: str, language: str, raw: dict[str, Any]) -> StreamsCase:
    streams = {stream: _given(**given) for stream, given in raw["streams"].items()}
    expect = raw["expect"]
    expected = Refused("QuerySyntaxError") if expect == "refused" else Rows(tuple(expect["columns"]), _rows(expect["rows"]), distinct=True)
    return streams_case(name, language, raw["query"], streams, expected)


def _given(columns: list[str], rows: list[list[Any]]) -> StreamRows:
    return StreamRows(tuple((column, TYPES.get(column, "int")) for column in columns), _rows(rows))


def _rows(rows: list[list[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, rows))
