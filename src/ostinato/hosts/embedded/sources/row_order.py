"""The order in which a program wants its rows: checked, established in memory, or spelled for DuckDB."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ostinato.kernels.vectors.vector import from_arrow
from ostinato.program.input import Column, Input
from ostinato.runtime.rows.ingest import sort_order


def order_columns(reads: Input) -> list[Column]:
    return [reads.columns[number] for number, _, _ in reads.order]


def rows_in_order(table: pa.Table, reads: Input) -> np.ndarray | None:
    """The row numbers in the program's order, ties as they stand; None if they stand in order already."""
    return sort_order({column.name: from_arrow(table.column(column.name)) for column in order_columns(reads)}, reads)


def are_in_order(tables: Iterable[pa.Table], reads: Input) -> bool:
    """Whether the rows of all tables stand in order. Stops at the first that does not."""
    last: pa.Table | None = None
    for table in tables:
        if table.num_rows == 0:
            continue
        if rows_in_order(table if last is None else pa.concat_tables([last, table]), reads) is not None:
            return False
        last = table.slice(table.num_rows - 1)
    return True


def sorting_query(relation: str, reads: Input) -> str:
    """A DuckDB query for the program's columns of `relation` in its order; a row number decides ties, as the sort is not stable."""
    columns = ", ".join(quoted(column.name) for column in reads.columns)
    read = ", ".join(f"{_read(column)} AS {quoted(column.name)}" for column in reads.columns)
    position = "__ostinato_position"
    keys = [
        f"{quoted(reads.columns[number].name)} {'DESC' if descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}"
        for number, descending, nulls_first in reads.order
    ]
    numbered = f"SELECT {read}, row_number() OVER () AS {position} FROM {relation}"
    return f"SELECT {columns} FROM ({numbered}) ORDER BY {', '.join([*keys, position])}"


def _read(column: Column) -> str:
    """Fields by the function: before a dot could as well stand a table."""
    value = quoted(column.root or column.name)
    for field in column.name[len(column.root) + 1 :].split(".") if column.root else ():
        value = f"struct_extract({value}, '{field.replace(chr(39), chr(39) * 2)}')"
    return value


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
