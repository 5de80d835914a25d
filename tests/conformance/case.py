"""A case: a query, its input, and what must come out. Every engine runs the same ones."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

ARROW_TYPES = {
    "string": pa.string(),
    "int": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us"),
    "date": pa.date32(),
    "device": pa.struct([("id", pa.int64()), ("tag", pa.string())]),
    "ints": pa.list_(pa.int64()),
}


@dataclass(frozen=True)
class Matches:
    """The matches: variable -> ids of its events. `distinct`: how often each is found is left open."""

    found: tuple[dict[str, list[str]], ...]
    distinct: bool = False


@dataclass(frozen=True)
class Rows:
    """Output rows as a multiset; floats compare approximately. `distinct`: how often each is found is left open; `chosen`: other
    columns may stand beside these."""

    columns: tuple[str, ...]
    found: tuple[tuple[Any, ...], ...]
    distinct: bool = False
    chosen: bool = False

    def only(self, columns: tuple[str, ...]) -> Rows:
        """Those of its columns."""
        places = [self.columns.index(column) for column in columns if column in self.columns]
        return Rows(tuple(self.columns[i] for i in places), tuple(tuple(row[i] for i in places) for row in self.found))


@dataclass(frozen=True)
class Refused:
    """The query must raise an OstinatoError, of the named kind and with these words where they are given."""

    kind: str | None = None
    words: str = ""


Expected = Matches | Rows | Refused


@dataclass(frozen=True)
class Case:
    """`options` are the arguments of `match`: output, ties, type_by, time. The table is called `t` in SQL, `events` otherwise."""

    name: str
    language: str  # a name of the registry
    text: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]
    expect: Expected
    options: dict[str, str] = field(default_factory=dict)

    @property
    def stream(self) -> str:
        return "t" if self.language == "sql" else "events"

    @property
    def dicts(self) -> list[dict[str, Any]]:
        return [dict(zip([name for name, _ in self.columns], row)) for row in self.rows]

    @property
    def table(self) -> pa.Table:
        arrays = [pa.array([row[i] for row in self.rows], ARROW_TYPES[kind]) for i, (_, kind) in enumerate(self.columns)]
        return pa.Table.from_arrays(arrays, names=[name for name, _ in self.columns])

    @property
    def wants_matches(self) -> bool:
        """Whether the output is the default one, which engines report as event ids."""
        return isinstance(self.expect, Matches)


@dataclass(frozen=True)
class Outcome:
    """What an engine did: `found` is a list of matches (variable -> ids) or `Rows`, unless it raised `error`."""

    found: list[dict[str, list[str]]] | Rows | None = None
    error: Exception | None = None


def value_of(text: str, kind: str) -> Any:
    """A value of a fixture; `-` is null."""
    if text == "-":
        return None
    if kind == "timestamp":
        return datetime.datetime.fromisoformat(text)
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind == "device":
        number, _, tag = text.partition("/")
        return {"id": value_of(number, "int"), "tag": value_of(tag, "string")}
    if kind == "ints":
        return [int(number) for number in text.strip("[]").split(",") if number]
    if kind == "boolean":
        return {"true": True, "false": False}[text]
    return {"int": int, "double": float, "string": str}[kind](text)
