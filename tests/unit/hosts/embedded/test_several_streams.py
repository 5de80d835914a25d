"""Several streams merged by time, and queries over the results of others, in this process."""

from __future__ import annotations

import datetime
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.hosts.embedded.sources import merged_source
from ostinato.hosts.embedded.sources.stream_source import StreamSource

ORDERS = pa.table({"ts": [1, 4, 4, 9], "symbol": ["x", "x", "y", "x"], "quantity": pa.array([1, 2, 3, 4], pa.int32())})
TRADES = pa.table({"ts": [2, 4, 5, 9], "symbol": ["x", "x", "y", "x"], "price": [1.0, 2.0, 3.0, 4.0]})
QUERY = "PATTERN SEQ(Orders o, Trades t) WHERE [symbol] RETURN o.ts AS o, t.ts AS t, o.quantity, t.price"


def rows(result: ost.Result) -> list[dict]:
    return result.to_arrow().to_pylist()


def test_two_streams():
    found = rows(ost.match(QUERY, orders=ORDERS, trades=TRADES))
    assert found == [
        {"o": 1, "t": 2, "quantity": 1, "price": 1.0},
        {"o": 4, "t": 4, "quantity": 2, "price": 2.0},
        {"o": 4, "t": 5, "quantity": 3, "price": 3.0},
        {"o": 9, "t": 9, "quantity": 4, "price": 4.0},
    ]


def test_ties_stand_in_the_order_in_which_the_streams_are_given():
    found = rows(ost.match(QUERY, trades=TRADES, orders=ORDERS))
    assert [(row["o"], row["t"]) for row in found] == [(1, 2), (4, 5), (4, 9)]


def test_whole_events_have_the_columns_of_all():
    (row, *_) = rows(ost.match("PATTERN SEQ(Orders o, Trades t)", orders=ORDERS, trades=TRADES))
    assert row["o"] == {"ts": 1, "symbol": "x", "quantity": 1, "price": None, "event_type": "orders", "seq": 0}
    assert row["t"] == {"ts": 2, "symbol": "x", "quantity": None, "price": 1.0, "event_type": "trades", "seq": 1}


def test_time_columns_of_different_names():
    placed = ORDERS.rename_columns(["placed", "symbol", "quantity"])
    text = QUERY.replace("o.ts", "o.placed")
    assert rows(ost.match(text, time={"orders": "placed"}, orders=placed, trades=TRADES)) == rows(
        ost.match(QUERY, orders=ORDERS, trades=TRADES)
    )


def test_unordered_input_and_files(tmp_path):
    pq.write_table(ORDERS.take([3, 0, 2, 1]), tmp_path / "orders.parquet")
    shuffled = TRADES.take([1, 3, 2, 0])
    found = rows(ost.match(QUERY, orders=str(tmp_path / "orders.parquet"), trades=shuffled.to_pandas()))
    assert [(row["o"], row["t"]) for row in found] == [(1, 2), (4, 4), (4, 5), (9, 9)]


def test_a_stream_without_rows():
    assert rows(ost.match(QUERY, orders=ORDERS.slice(0, 0), trades=TRADES)) == []
    assert rows(ost.match(QUERY, orders=ORDERS.slice(0, 0), trades=TRADES.slice(0, 0))) == []


def test_a_row_without_time_is_an_error():
    broken = pa.table({"ts": pa.array([2, None], pa.int64()), "symbol": ["x", "x"], "price": [1.0, 2.0]})
    with pytest.raises(ost.DataError, match="is null"):
        ost.match("PATTERN SEQ(Orders o, Trades t) WITHIN 5", orders=ORDERS, trades=broken)


def test_a_value_that_does_not_fit_the_shared_type_is_an_error():
    big = pa.table({"ts": pa.array([2**63], pa.uint64()), "symbol": ["x"], "price": [1.0]})
    with pytest.raises(ost.DataError, match="does not fit"):
        ost.match(QUERY, orders=ORDERS, trades=big)


def test_timestamps_of_different_zones():
    noon = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
    late = noon + datetime.timedelta(minutes=1)
    a = pa.table({"ts": pa.array([noon], pa.timestamp("ms", "Asia/Tokyo"))})
    b = pa.table({"ts": pa.array([late], pa.timestamp("us", "UTC"))})
    assert len(ost.match("PATTERN SEQ(a x, b y) WITHIN 1 minute", a=a, b=b)) == 1
    assert len(ost.match("PATTERN SEQ(b y, a x) WITHIN 1 minute", a=a, b=b)) == 0


def test_a_type_column_beside_a_whole_stream():
    events = pa.table({"ts": [1, 3], "kind": ["Halt", "Resume"]})
    found = ost.match("PATTERN SEQ(Halt h, Trades t, Resume r) RETURN t.price", type_by="kind", events=events, trades=TRADES)
    assert rows(found) == [{"price": 1.0}]


def test_a_late_stream_arrives_beside_the_others():
    """Rows come when the latest time of their own stream has been reached: the row of time 3 comes with that of time 4."""
    late = TRADES.take([0, 1, 2, 3]).set_column(0, "ts", pa.array([4, 3, 5, 9]))
    text = "PATTERN SEQ(Orders o, Trades t) RETURN o.ts AS o, t.ts AS t"
    assert len(ost.match(text, lateness=1, orders=ORDERS, trades=late)) == 4


def in_batches(table: pa.Table, size: int) -> StreamSource:
    def reader(columns):
        chosen = table.select(list(columns))
        return pa.RecordBatchReader.from_batches(chosen.schema, chosen.to_batches(max_chunksize=size))

    return StreamSource("", table.schema, reader, cheap_to_reopen=True)


@pytest.mark.parametrize("seed", range(12))
def test_merging_in_batches_is_sorting(seed, monkeypatch):
    rng = random.Random(seed)
    monkeypatch.setattr("ostinato.hosts.embedded.sources.source.BATCH_ROWS", rng.choice((1, 2, 5)))
    given = {}
    for name in ("a", "b", "c"):
        times = sorted(rng.randint(0, rng.choice((3, 30))) for _ in range(rng.choice((0, 1, 7, 20))))
        given[name] = pa.table({"ts": pa.array(times, pa.int64()), "n": pa.array(range(len(times)), pa.int64())})
    query = ost.compile("PATTERN SEQ(a x, b y, c z) RETURN x.n AS x, y.n AS y, z.n AS z", {n: t.schema for n, t in given.items()})
    sources = {name: in_batches(table, rng.choice((1, 2, 3))) for name, table in given.items()}
    tables = list(merged_source.MergedSource(query.pattern.reads, sources).ordered(query.pattern.reads))
    merged = [(row["ts"], row["event_type"], row["n"]) for table in tables for row in table.to_pylist()]
    assert merged == sorted((row["ts"], name, row["n"]) for name, table in given.items() for row in table.to_pylist())


def test_a_result_is_a_stream():
    rises = ost.match("PATTERN SEQ(Trades a, Trades b) WHERE b.price > a.price RETURN Rise(b.price, a.ts AS since)", trades=TRADES)
    assert rows(rises)[0] == {"event_type": "Rise", "ts": 4, "price": 2.0, "since": 2}
    found = ost.match("PATTERN SEQ(Rise r, Orders o) WHERE o.ts > r.ts RETURN r.since, o.quantity", rise=rises, orders=ORDERS)
    assert rows(found) == [{"since": 2, "quantity": 4}, {"since": 4, "quantity": 4}]
    assert rows(ost.sql("SELECT max(since) AS last FROM rises", rises=rises)) == [{"last": 5}]
    clause = "MATCH_RECOGNIZE (ORDER BY ts MEASURES A.since AS a, B.since AS b PATTERN (A B) DEFINE B AS price > PREV(price))"
    assert rows(ost.sql(f"SELECT * FROM rises {clause}", rises=rises)) == [{"a": 2, "b": 4}]


def test_a_result_with_whole_events_is_a_stream_by_its_times():
    pairs = ost.match("PATTERN SEQ(Orders o, Trades t)", orders=ORDERS, trades=TRADES)
    found = ost.match("PATTERN SEQ(Pair p, Pair q) RETURN p.match_id AS p, q.match_id AS q", time="end_ts", pair=pairs)
    assert rows(found)[0] == {"p": 1, "q": 2}


def test_queries_in_one_text_are_the_queries_one_by_one():
    first = "PATTERN SEQ(Trades a, Trades b) WHERE b.price > a.price RETURN Rise(b.price, a.ts AS since)"
    second = "PATTERN SEQ(Rise r, Orders o) WHERE o.ts > r.ts RETURN r.since, o.quantity"
    text = f"-- rises first\n{first};\n{second}"
    alone = ost.match(second, rise=ost.match(first, trades=TRADES), orders=ORDERS)
    together = ost.match(text, trades=TRADES, orders=ORDERS)
    assert rows(together) == rows(alone) and len(together) == 2
    assert together.metrics["matches"] == 3 + 2


def test_counters_of_every_query_are_kept():
    """The first is followed in runs, the second in a compact graph; each strategy counts in its own words."""
    first = "PATTERN SEQ(Trades a, Trades b) WHERE b.price > a.price RETURN Rise(b.price)"
    counted = ost.match(f"{first}; PATTERN SEQ(Rise r) WITHIN 10", trades=TRADES).metrics
    alone = ost.match(first, trades=TRADES).metrics
    assert counted["peak_runs"] == alone["peak_runs"] and "peak_match_nodes" in counted


def test_three_queries():
    text = """
        PATTERN SEQ(Trades a, Trades b) WHERE b.price > a.price RETURN Rise(a.price AS low, b.price AS high);
        PATTERN SEQ(Rise x, Rise y) WHERE y.low = x.high RETURN Climb(x.low AS low, y.high AS high);
        PATTERN SEQ(Climb c, Orders o) WHERE o.ts >= c.ts RETURN c.low, c.high, o.quantity
    """
    assert rows(ost.match(text, orders=ORDERS, trades=TRADES)) == [{"low": 1.0, "high": 3.0, "quantity": 4}]
    # The other climb is complete at 9, and so comes behind the order of that time: events of queries stand behind the given streams.


def test_query_1_of_the_paper_over_three_streams():
    """Picked from the shelf, taken out of the store, not paid in between: readings of three devices."""

    def readings(*rows: tuple[int, int]) -> pa.Table:
        times = pa.array([minute * 60_000_000 for minute, _ in rows], pa.timestamp("us"))
        return pa.table({"ts": times, "tag_id": [tag for _, tag in rows]})

    text = """PATTERN SEQ(Shelf a, ∼(Register b), Exit c)
        WHERE skip_till_next_match(a, b, c) { a.tag_id = b.tag_id and a.tag_id = c.tag_id }
        WITHIN 12 hours RETURN a.tag_id"""
    found = ost.match(text, shelf=readings((1, 7), (2, 8)), register=readings((3, 7)), exit=readings((4, 7), (5, 8)))
    assert rows(found) == [{"tag_id": 8}]
