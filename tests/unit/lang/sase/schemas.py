"""The streams that the tests of SASE+ speak of."""

from __future__ import annotations

from ostinato.expr.types import BOOL, FLOAT, INT, STRING, TIMESTAMP
from ostinato.expr.typing.schema import Schema

EVENTS = Schema(
    (
        ("id", STRING),
        ("ts", TIMESTAMP),
        ("kind", STRING),
        ("symbol", STRING),
        ("Price", INT),
        ("volume", INT),
        ("rate", FLOAT),
        ("ok", BOOL),
    )
)
COUNTED = Schema((("ts", INT), ("x", INT), ("len", INT)))
