"""Matches as a table for people."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ostinato.inspect.plain_values import plain_values

NESTED_SHOWN = 3
PIPE_WIDTH = 160


def standard_output() -> Console:
    """A table that goes into a file or a pipe is not folded to the width of a terminal that is not there."""
    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=PIPE_WIDTH)


def show_table(table: pa.Table, console: Console, limit: int = 20, title: str | None = None) -> None:
    """The first `limit` rows, and how many there are in all."""
    drawn = Table(title=title, title_justify="left", header_style="bold")
    for name, kind in zip(table.column_names, table.schema.types):
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        drawn.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for row in zip(*(plain_values(column) for column in table.slice(0, limit).columns), strict=True):  # columns may have the same name
        drawn.add_row(*(Text(readable(value)) for value in row))
    console.print(drawn)
    total = table.num_rows
    count = "1 row" if total == 1 else f"{total:,} rows"
    console.print(f"{count}, the first {limit} shown" if total > limit else count)


def readable(value: Any) -> str:
    """One cell. The events of a variable are shown by their sequence numbers, which is what tells them apart."""
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, dict):
        return f"#{value['seq']}" if "seq" in value else ", ".join(f"{name}={readable(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        shown = [readable(inner) for inner in value]
        if len(shown) > 2 * NESTED_SHOWN:
            shown = shown[:NESTED_SHOWN] + ["…"] + shown[-NESTED_SHOWN:]
        return f"[{' '.join(shown)}]"
    return str(value)


def _moment(value: datetime) -> str:
    """UTC goes without saying, and so do zeros of a second's fraction."""
    text = value.replace(tzinfo=None).isoformat(sep=" ")
    text = text.rstrip("0") if value.microsecond else text
    return text if value.tzinfo is None or value.utcoffset() == timedelta(0) else f"{text}{value:%z}"
