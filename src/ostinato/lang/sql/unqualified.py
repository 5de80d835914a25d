"""Columns of PARTITION BY and ORDER BY that are qualified by the name of the input: `PARTITION BY t.symbol`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ostinato.expr.typing.schema import Schema
from ostinato.lang.sql.syntax import MatchRecognize, Name


def unqualified(tree: MatchRecognize, schema: Schema, qualifiers: Collection[str]) -> MatchRecognize:
    """The same clause with plain columns. A path that leads to a field of a struct stays what it is."""

    def plain(name: Name) -> Name:
        if schema.find(name.value) is not None:
            return name
        for qualifier in qualifiers:
            if name.value.lower().startswith(f"{qualifier.lower()}."):
                rest = name.value[len(qualifier) + 1 :]
                return replace(name, value=rest, quoted="." in rest)
        return name

    order = tuple(replace(item, column=plain(item.column)) for item in tree.order)
    return replace(tree, partition=tuple(map(plain, tree.partition)), order=order)
