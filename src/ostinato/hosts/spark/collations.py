"""Texts with a collation of Spark's. The engine compares texts by their bytes: what Spark holds equal would be two keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyspark.sql.types import DataType, StringType, StructType

from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Expr, Field, Nav


def check_collations(schema: StructType, query: MatchQuery, own_name: Callable[[str], str | None] = lambda name: name) -> None:
    """Refuse a collated column where its values are compared, ordered or told apart; to show it does no harm. `own_name` is what a
    column of the query is called in the schema, None where it has none."""
    for name in dict.fromkeys(_compared(query)):
        own = own_name(name)
        kind = None if own is None else _type_at(schema, own)
        if own is not None and kind is not None and is_collated(kind):
            raise UnsupportedError(
                f"the column {own!r} has the type {kind.simpleString()}, and the query compares its values, which is done by their bytes",
                hint=f"compare its bytes: CAST({own} AS STRING COLLATE UTF8_BINARY), or what the collation holds equal: lower({own})",
            )


def is_collated(kind: DataType) -> bool:
    return isinstance(kind, StringType) and not kind.isUTF8BinaryCollation()


def _compared(query: MatchQuery) -> Iterator[str]:
    yield from query.partition
    yield from (key.column for key in query.order)
    if query.type_column is not None:
        yield query.type_column
    negated = [item for negation in query.negations for item in negation.items]
    for definition in (*query.definitions, *negated):
        for condition in definition.conditions:
            yield from _fields(condition.expr)
    for measure in query.measures or ():
        if not (isinstance(measure.expr, Field) or (isinstance(measure.expr, Nav) and isinstance(measure.expr.body, Field))):
            yield from _fields(measure.expr)


def _fields(expr: Expr) -> Iterator[str]:
    return (node.name for node in expr.walk() if isinstance(node, Field))


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
