"""Texts with a collation of Spark's. The engine compares texts by their bytes: what Spark holds equal would be two keys."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql.types import DataType, StringType, StructType

from ostinato.base.errors import UnsupportedError
from ostinato.program.analysis.compared_columns import compared_columns
from ostinato.program.pattern import Pattern


def check_collations(schema: StructType, pattern: Pattern, own_name: Callable[[str], str | None] = lambda name: name) -> None:
    """Refuse a collated column where its values are compared, ordered or told apart; to show it does no harm. `own_name` is what a
    column of the query is called in the schema, None where it has none."""
    for name in compared_columns(pattern):
        own = own_name(name)
        kind = None if own is None else _type_at(schema, own)
        if own is not None and kind is not None and is_collated(kind):
            raise UnsupportedError(
                f"the column {own!r} has the type {kind.simpleString()}, and the query compares its values, which is done by their bytes",
                hint=f"compare its bytes: CAST({own} AS STRING COLLATE UTF8_BINARY), or what the collation holds equal: lower({own})",
            )


def is_collated(kind: DataType) -> bool:
    return isinstance(kind, StringType) and not kind.isUTF8BinaryCollation()


def _type_at(schema: StructType, name: str) -> DataType | None:
    """The type of a column, or of the field of a struct at the end of a path."""
    for field in schema.fields:
        if field.name.lower() == name.lower():
            return field.dataType
        if isinstance(field.dataType, StructType) and name.lower().startswith(f"{field.name.lower()}."):
            found = _type_at(field.dataType, name[len(field.name) + 1 :])
            if found is not None:
                return found
    return None
