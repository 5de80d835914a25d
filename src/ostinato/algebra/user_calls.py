"""The calls of functions that were added to the language, wherever they stand in a query."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ostinato.expr.nodes import Call, Expr


def user_calls(value: object) -> Iterator[Call]:
    if isinstance(value, Expr):
        yield from (node for node in value.walk() if isinstance(node, Call) and node.function is not None)
    elif isinstance(value, tuple):
        for item in value:
            yield from user_calls(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from user_calls(getattr(value, field.name))
