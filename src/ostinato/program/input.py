"""What an operator reads: the rows of a stream, or of several that are merged by time, in an order, by keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ostinato.expr.types import Type

POSITION = "seq"


@dataclass(frozen=True)
class Column:
    """A column of the rows that are read; or, if it has a `root`, the field of that column to which the name is the path."""

    name: str
    type: Type
    root: str = ""


@dataclass(frozen=True)
class Source:
    """One of the streams of an input. `operator` is the number of the operator that publishes it; -1: it comes from outside.
    `columns` are pairs (its own column, the input's); none at all: they are called alike. `constants` are what all its rows have in further
    columns: the event type, unless the stream has a type column of its own, and which of the streams it is."""

    stream: str
    columns: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, str | int], ...] = ()
    operator: int = -1


@dataclass(frozen=True)
class Input:
    """`sources` are merged by time; simultaneous rows stand in the order of the sources. Columns are numbered as they are listed."""

    stream: str
    columns: tuple[Column, ...]
    sources: tuple[Source, ...] = ()
    time: int = -1  # number of the time column
    order: tuple[tuple[int, bool, bool], ...] = ()  # (column, descending, nulls first), the time column first
    stream_number: int = -1  # the column that tells which of several streams a row is of: it decides ties and is not shown
    keys: tuple[int, ...] = ()  # partition columns
    null_keys: str = "group"
    prefilter: str = (
        ""  # what a host may apply before rows reach the engine, as SQL that Spark and DuckDB read alike; empty: every row matters
    )

    shape: str = ""  # where one body stands for many queries: its name among shapes
    parameters: tuple[Column, ...] = ()  # the constants in which these queries differ, as columns
    queries: bytes = b""  # what they are: see `program.constants_table`

    @property
    def event_columns(self) -> tuple[Column, ...]:
        """What an event has, as users know it; fields of structs are part of those."""
        return tuple(column for column in self.data_columns if not column.root and column not in self.parameters)

    @cached_property
    def types(self) -> dict[str, Type]:
        """Of the columns, by name."""
        return {column.name: column.type for column in self.columns}

    @property
    def shows_position(self) -> bool:
        """Whether events have, as `seq`, their place in the stream: not where they have a column of that name, in whatever case."""
        return POSITION not in (column.name.lower() for column in self.event_columns)

    @property
    def data_columns(self) -> tuple[Column, ...]:
        """What is read of the streams."""
        return tuple(column for number, column in enumerate(self.columns) if number != self.stream_number)

    @property
    def time_name(self) -> str:
        return self.columns[self.time].name if self.time >= 0 else ""

    @property
    def key_names(self) -> tuple[str, ...]:
        return tuple(self.columns[key].name for key in self.keys)
