"""Random streams: rows with ties in time and nulls everywhere but in the time column."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from ostinato.expr.types import FLOAT, INT, STRING, TIMESTAMP, decimal
from ostinato.expr.typing.schema import Schema

# `bit` is 2 to the power of the position: a sum of it tells exactly which rows went into the sum.
SCHEMA = Schema(
    (
        ("bit", INT),
        ("ts", INT),
        ("p", STRING),
        ("q", INT),
        ("kind", STRING),
        ("v", INT),
        ("w", FLOAT),
        ("m", decimal(9, 2)),
        ("s", STRING),
        ("at", TIMESTAMP),
    )
)
EPOCH = datetime(2026, 1, 1)

KINDS = ("K", "L")


def _often(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Null now and then."""
    return st.integers(0, 7).flatmap(lambda number: st.none() if number == 7 else strategy)


_VALUES = st.fixed_dictionaries(
    {
        "gap": st.sampled_from((0, 0, 1, 1, 1, 2, 4)),
        "p": _often(st.sampled_from(("x", "y"))),
        "q": _often(st.sampled_from((0, 1))),
        "kind": _often(st.sampled_from(KINDS)),
        "v": _often(st.integers(0, 3)),
        "w": _often(st.integers(-4, 8).map(lambda quarters: quarters / 4)),  # exact in binary, so that sums do not depend on their order
        "m": _often(st.integers(-4, 8).map(lambda quarters: Decimal(quarters) * Decimal("0.25"))),
        "s": _often(st.sampled_from(("a", "b", "ä"))),
        "at": _often(st.integers(0, 3).map(lambda hours: EPOCH + timedelta(hours=hours))),
    }
)


@st.composite
def streams(draw: st.DrawFn, max_size: int = 12) -> list[dict[str, Any]]:
    """Rows of `SCHEMA` in the order of time; rows of the same time are in the order of arrival."""
    time = 0
    rows = []
    for position, values in enumerate(draw(st.lists(_VALUES, min_size=draw(st.sampled_from((0, max_size // 2))), max_size=max_size))):
        time += values.pop("gap")
        rows.append({"bit": 1 << position, "ts": time, **values})
    return rows
