"""Orders follow what is measured, and survive a snapshot; what has no partner is let go of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("a", pa.bool_()), ("b", pa.bool_()), ("c", pa.bool_())])
Q3 = "FROM t DEFINE A AS a, B AS b, C AS c PATTERN A before B AND A before C AND B before C WITHIN {}"


def query(text: str, *without: str) -> ost.Query:
    return ost.compile(text, {"t": SCHEMA}, language="tpstream", latency="final", without=without)


def rows(first: int, count: int, a: int, b: int, c: int) -> pa.Table:
    """A situation of one second each so many seconds."""
    at = first + np.arange(count)
    return pa.table([at, at % a == 0, at % b == 1, at % c == 2], schema=SCHEMA)


def run(told: ost.Query, pieces: list[pa.Table], saved: bool = False) -> tuple[list[dict[str, int]], dict[str, int]]:
    session = told.open(lateness=0)
    found = []
    for piece in pieces:
        found.append(session.push(piece))
        if saved:
            session = told.open(snapshot=session.snapshot())
    found.append(session.close())
    return pa.concat_tables(found).to_pylist(), session.metrics()


PIECES = [rows(first, 2_000, 400, 4, 400) for first in range(0, 8_000, 2_000)]


def test_what_is_frequent_is_looked_for_last() -> None:
    (found, adaptive), (planned, fixed) = (run(query(Q3.format(900), *left), PIECES) for left in ((), ("measured_order",)))
    assert found == planned and len(found) > 100
    assert fixed["order_changes"] == 0
    turned = [rows(first, 2_000, 4, 400, 400) for first in range(8_000, 16_000, 2_000)]
    (found, adaptive), (planned, fixed) = (run(query(Q3.format(900), *left), PIECES + turned) for left in ((), ("measured_order",)))
    assert found == planned
    assert adaptive["order_changes"] > 0
    assert adaptive["visited_situations"] < fixed["visited_situations"]


def test_averages_survive_a_snapshot() -> None:
    whole, cut = (run(query(Q3.format(900)), PIECES, saved) for saved in (False, True))
    assert whole[0] == cut[0]
    assert cut[1]["visited_situations"] <= 1.2 * whole[1]["visited_situations"]


def test_what_ends_without_a_partner_is_let_go() -> None:
    starts = "FROM t DEFINE A AS a, B AS b, C AS c PATTERN A starts B AND B before C WITHIN 90"
    table = pa.table([range(9), [0, 1, 0, 0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 1, 1, 0, 0, 0], [0] * 8 + [1]], names=SCHEMA.names).cast(SCHEMA)
    for left, kept in (((), 2), (("partnerless",), 4)):
        session = query(starts, *left).open(lateness=0)
        session.push(table)
        assert session.metrics()["situations"] == kept + 1  # C goes on
        assert session.metrics()["partnerless_situations"] == 4 - kept


def test_explain_says_what_follows_what() -> None:
    text = Q3.format(9).replace("A before B", "A overlaps B")
    shown, plain = (query(text, *left).explain() for left in ((), ("measured_order", "partnerless")))
    for line in ("the orders follow moving averages", "let go of that has ended without one"):
        assert line in shown and line not in plain
