"""Fields of struct columns, as columns of their own, where a query names them by their paths."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ostinato.program.input import Input
from ostinato.tasks.carried_names import carried


def quoted(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")


def at_path(frame: DataFrame, name: str) -> Column:
    """The column of this name, else the field at the end of this path."""
    if name in frame.columns:
        return quoted(name)
    root = next(name[:dot] for dot, letter in enumerate(name) if letter == "." and name[:dot] in frame.columns)
    found = quoted(root)
    for field in name[len(root) + 1 :].split("."):
        found = found.getField(field)
    return found


def travelling(names: Iterable[str]) -> list[Column]:
    """The columns of these names, as they go to Python."""
    return [quoted(name).alias(carried(name)) for name in names]


def with_fields(frame: DataFrame, reads: Input) -> DataFrame:
    """The frame with the fields that the program reads. Spark reads no more of a struct in a file than that."""
    fields = [column.name for column in reads.columns if column.root and column.name not in frame.columns]
    return frame.select("*", *(at_path(frame, name).alias(name) for name in fields)) if fields else frame
