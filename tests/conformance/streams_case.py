"""A case over several streams, of a language whose queries combine streams: what the others have in one table."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.conformance.case import ARROW_TYPES, Case, Expected, Refused, Rows

FOLDER = Path(__file__).parent / "cases"
TYPES = {"name": "string", "f1": "boolean", "f2": "boolean", "f3": "boolean"}  # of the worked cases; all other columns are integers


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
    lines = (FOLDER / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [WORKED_STREAMS[language](f"{language}-{number}", language, json.loads(line)) for number, line in enumerate(lines, 1)]


def _cel_case(name: str, language: str, raw: dict[str, Any]) -> StreamsCase:
    """Their rows list each result once, however often it is found."""
    streams = {stream: _given(**given) for stream, given in raw["streams"].items()}
    expect = raw["expect"]
    expected = Refused("QuerySyntaxError") if expect == "refused" else Rows(tuple(expect["columns"]), _rows(expect["rows"]), distinct=True)
    return streams_case(name, language, raw["query"], streams, expected)


def _tpstream_case(name: str, language: str, raw: dict[str, Any]) -> StreamsCase:
    """The columns of the results are those of RETURN, and when it was found."""
    types = TYPES | ({"ts": "timestamp"} if raw["time"] == "timestamp" else {})
    columns = tuple((column, types.get(column, "int")) for column in raw["columns"])
    events = tuple(tuple(_value(value, kind) for value, (_, kind) in zip(row, columns, strict=True)) for row in raw["events"])
    expect = raw["expect"]
    times = [*("int" for _ in expect["columns"][1:]), types.get("ts", "int")]
    rows = tuple(tuple(_value(value, kind) for value, kind in zip(row, times, strict=True)) for row in expect["rows"])
    expected = Rows(tuple(expect["columns"]), rows, chosen=True)
    return streams_case(name, language, raw["query"], {"sensors": StreamRows(columns, events)}, expected, latency=raw["latency"])


def _value(value: Any, kind: str) -> Any:
    return datetime.datetime.fromisoformat(value) if kind == "timestamp" else value


def _given(columns: list[str], rows: list[list[Any]]) -> StreamRows:
    return StreamRows(tuple((column, TYPES.get(column, "int")) for column in columns), _rows(rows))


def _rows(rows: list[list[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, rows))


WORKED_STREAMS: dict[str, Callable[[str, str, dict[str, Any]], StreamsCase]] = {"cel": _cel_case, "tpstream": _tpstream_case}
