"""Verifies what an operator reads."""

from __future__ import annotations

from ostinato.expr.types import Kind
from ostinato.program.constants_table import unpacked
from ostinato.program.expansion import HELD, PARAMETER
from ostinato.program.input import Input
from ostinato.program.verification.requirement import require
from ostinato.program.verification.type_check import check_type

CONSTANTS = {Kind.STRING: str, Kind.INT: int}
TIMES = (Kind.INT, Kind.DATE, Kind.TIMESTAMP)


def check_input(reads: Input) -> None:
    columns, count = reads.columns, len(reads.columns)
    for column in columns:
        check_type(column.type)
    require(count > 0 and len({column.name for column in columns}) == count, "columns with names of their own")
    require(reads.null_keys in ("group", "never"), "a known null_keys")
    require(-1 <= reads.time < count, "a time column among its columns")
    require(reads.time < 0 or columns[reads.time].type.kind in TIMES, "times in its time column")
    require(all(0 <= k < count for k in reads.keys) and len(set(reads.keys)) == len(reads.keys), "key columns among its columns")
    require(-1 <= reads.stream_number < count, "a stream number among its columns")
    require(reads.stream_number < 0 or columns[reads.stream_number].type.kind is Kind.INT, "a whole number of the stream")
    require(all(0 <= column < count for column, _, _ in reads.order), "order columns among its columns")
    compared = (*reads.keys, *(column for column, _, _ in reads.order))
    require(all(columns[column].type.is_computable for column in compared), "keys and order columns that can be compared")
    _check_sources(reads)
    require(reads.time < 0 or not reads.order or reads.order[0][0] == reads.time, "the time column first in its order")


def check_shape(reads: Input) -> None:
    """What stands for many queries has constants of a known form, and a table of them."""
    if not reads.shape:
        require(not reads.parameters and not reads.queries, "constants of shapes alone")
        return
    names = [column.name for column in reads.parameters]
    require(bool(names) and names == [f"{PARAMETER}{number}" for number in range(len(names))], "constants that are numbered")
    require(all(column.type.kind in HELD for column in reads.parameters), "constants that can be compared")
    require(not any(column.name.startswith(PARAMETER) for column in reads.columns), "constants apart from what is read")
    unpacked(reads.queries, reads.parameters)


def _check_sources(reads: Input) -> None:
    types = {column.name: column.type for column in reads.columns}
    for source in reads.sources:
        for name, value in source.constants:
            if name not in types:
                continue  # it is not read
            held = types[name]
            require(isinstance(value, CONSTANTS.get(held.kind, ())), "constants of the types of their columns")
            require(isinstance(value, str) or 0 <= value < 1 << (held.bits - 1), "constants that fit their columns")
