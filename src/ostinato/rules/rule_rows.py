"""Tables of rules in whatever form they are given, row by row."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ostinato.base.errors import DataError, OstinatoError
from ostinato.base.span import Span

FORMS = "an Arrow, pandas or Polars table, a Spark DataFrame, a list of dicts, or the path of a .parquet, .csv, .jsonl or .toml file"


@dataclass
class RuleRows:
    """`places` says where each row stands, for errors; `templates` are those that stand beside the rules."""

    rows: list[dict[str, Any]]
    places: list[str]
    templates: dict[str, str] = field(default_factory=dict)


def rule_rows(given: Any) -> RuleRows:
    if isinstance(given, str | Path):
        return _file(Path(given))
    if isinstance(given, Mapping):
        raise OstinatoError("rules are a table, and this is one mapping", hint=f"Pass {FORMS}")
    if getattr(given, "isStreaming", False) is True:
        raise OstinatoError("a table of rules is no stream", hint="Read it as a table, and call sync again when it has changed")
    if hasattr(given, "toArrow"):  # a DataFrame of Spark; what it needs is loaded where it comes from
        return _numbered(given.toArrow().to_pylist())
    if isinstance(given, pa.RecordBatch | pa.RecordBatchReader) or hasattr(given, "__arrow_c_stream__") or hasattr(given, "columns"):
        return _numbered(_table(given).to_pylist(maps_as_pydicts="lossy"))
    if isinstance(given, Iterable):
        rows = list(given)
        if all(isinstance(row, Mapping) for row in rows):
            return _numbered([dict(row) for row in rows])
    raise OstinatoError(f"a {type(given).__name__} is no table of rules", hint=f"Pass {FORMS}")


def _table(given: Any) -> pa.Table:
    try:
        return given.read_all() if isinstance(given, pa.RecordBatchReader) else pa.table(given)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise OstinatoError(f"a {type(given).__name__} is no table of rules", detail=str(error), hint=f"Pass {FORMS}") from error


def _numbered(rows: list[dict[str, Any]]) -> RuleRows:
    return RuleRows(rows, [f"row {number}" for number in range(1, len(rows) + 1)])


def _file(path: Path) -> RuleRows:
    readers = {".parquet": _parquet, ".csv": _csv, ".jsonl": _json_lines, ".ndjson": _json_lines, ".toml": _toml}
    if path.suffix.lower() not in readers:
        raise OstinatoError(f"{path} is no file of rules", hint="It is called .parquet, .csv, .jsonl or .toml")
    try:
        return readers[path.suffix.lower()](path)
    except (OSError, UnicodeDecodeError, pa.ArrowException, csv.Error) as error:
        raise DataError(f"the rules in {path} cannot be read", detail=str(error)) from error


def _parquet(path: Path) -> RuleRows:
    return _numbered(pq.read_table(path).to_pylist(maps_as_pydicts="lossy"))


def _csv(path: Path) -> RuleRows:
    """All values are texts, and an empty one says nothing: so an id like 007 stays what it is."""
    found = RuleRows([], [])
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        for row in reader:
            if None in row or None in row.values():
                raise DataError(f"{path}, line {reader.line_num}: the row has not as many values as there are columns")
            found.rows.append({name: value or None for name, value in row.items()})
            found.places.append(f"line {reader.line_num}")
    return found


def _json_lines(path: Path) -> RuleRows:
    found = RuleRows([], [])
    for number, line in _lines(path):
        try:
            row = json.loads(line, parse_float=Decimal)
        except json.JSONDecodeError as error:
            raise DataError(f"{path}, line {number}, column {error.colno}: this is no JSON", detail=error.msg) from error
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}, column 1: a rule is an object", hint='Write {"id": ..., "text": ...}')
        found.rows.append(row)
        found.places.append(f"line {number}")
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8") as file:
        yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())


def _toml(path: Path) -> RuleRows:
    """`[[rules]]`, and `[templates]` by their names."""
    text = path.read_text(encoding="utf-8")
    try:
        found = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is no TOML", detail=str(error)) from error
    unknown = sorted(set(found) - {"rules", "templates"})
    if unknown:
        raise DataError(
            f"{path} has a table {unknown[0]!r}", hint="There are [[rules]] and [templates]", span=_first(text, unknown[0]), text=text
        )
    templates, rows = found.get("templates", {}), found.get("rules", [])
    if not isinstance(templates, dict) or not all(isinstance(one, str) for one in templates.values()):
        raise DataError(f"{path}: templates are texts by their names", span=_first(text, "templates"), text=text)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{path}: rules are tables", hint="Write [[rules]] before each", span=_first(text, "rules"), text=text)
    return RuleRows(rows, [f"rule {number}" for number in range(1, len(rows) + 1)], templates)


def _first(text: str, name: str) -> Span:
    at = max(text.find(name), 0)
    return Span(at, at + len(name))
