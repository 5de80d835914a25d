"""Rows pushed with the name of their stream."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost

ORDERS = pa.table({"ts": [1, 4, 6], "k": ["x", "y", "x"], "v": [1, 2, 3]})
TRADES = pa.table({"at": pa.array([2, 5, 7], pa.int32()), "k": ["x", "y", "y"], "price": [1.5, 2.5, 3.5]})
TEXT = "PATTERN SEQ(Orders o, Trades+ t[]) WHERE [k] RETURN o.v, sum(t[].price) AS paid"
SCHEMAS = {"orders": ORDERS.schema, "trades": TRADES.schema}


def compiled() -> ost.Query:
    return ost.compile(TEXT, SCHEMAS, time={"trades": "at"})


@pytest.mark.filterwarnings("ignore::ostinato.ExplosionWarning")
def test_several_streams_make_one() -> None:
    expected = ost.match(TEXT, orders=ORDERS, trades=TRADES, time={"trades": "at"}).to_arrow().to_pylist()
    session = compiled().open(lateness=None)
    found = session.push("orders", ORDERS).to_pylist() + session.push("TRADES", TRADES.slice(0, 1)).to_pylist()
    session = compiled().open(lateness=None, snapshot=session.snapshot())
    found += session.advance(3).to_pylist()
    assert found == expected[:1]
    found += session.push("trades", TRADES.slice(1)).to_pylist() + session.close().to_pylist()
    assert found == expected and len(expected) == 3


@pytest.mark.filterwarnings("ignore::ostinato.ExplosionWarning")
def test_what_does_not_fit() -> None:
    session = compiled().open()
    with pytest.raises(ost.UnknownNameError, match="reads no stream `quotes`"):
        session.push("quotes", TRADES)
    with pytest.raises(ost.SchemaError, match="have no column `at`"):
        session.push("trades", ORDERS)


def test_the_one_stream_of_a_query() -> None:
    query = ost.compile("PATTERN SEQ(Orders a, Orders b) WHERE b.v > a.v", {"orders": ORDERS.schema})
    session = query.open()
    assert session.push("orders", ORDERS).num_rows == ost.compile(query.text, SCHEMAS).open().push(ORDERS).num_rows == 2
    with pytest.raises(ost.UnknownNameError, match="reads no stream `trades`"):
        session.push("trades", ORDERS)
