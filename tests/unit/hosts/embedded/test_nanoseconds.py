"""A time column in nanoseconds is ordered, measured and reported in nanoseconds."""

import datetime as dt

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost

BASE = 1_700_000_000_000_000_000  # some moment of 2023, in nanoseconds
NS = pa.timestamp("ns")


def stamped(*nanos, type_=NS):
    return pa.table({"ts": pa.array([BASE + n for n in nanos], type_), "id": range(len(nanos))})


def rows(measures, table, pattern="A B", define="true", within="", **options):
    text = f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {measures} PATTERN ({pattern}) {within} DEFINE A AS {define})"""
    return ost.sql(text, t=table, **options).to_arrow()


def nanos(column):
    return column.cast(pa.int64()).to_pylist()


SHUFFLED = stamped(900, 100, 500)
KINDS = {
    "Arrow": lambda: SHUFFLED,
    "with a zone": lambda: stamped(900, 100, 500, type_=pa.timestamp("ns", "Europe/Berlin")),
    "pandas": SHUFFLED.to_pandas,
    "Polars": lambda: pl.from_arrow(SHUFFLED),
    "a lazy frame": lambda: pl.from_arrow(SHUFFLED).lazy(),
    "DuckDB": lambda: duckdb.from_arrow(SHUFFLED),
    "a reader": SHUFFLED.to_reader,
    "a reader with a zone": stamped(900, 100, 500, type_=pa.timestamp("ns", "Europe/Berlin")).to_reader,
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_one_microsecond_are_put_in_order(kind):
    found = rows("FIRST(A.id) AS first, LAST(A.id) AS last, LAST(A.ts) AS ts", KINDS[kind](), pattern="A A A")
    assert found.select(["first", "last"]).to_pylist() == [{"first": 1, "last": 0}]
    assert found.schema.field("ts").type.unit == "ns"
    assert nanos(found["ts"]) == [BASE + 900]


def test_parquet_files(tmp_path):
    for number, part in enumerate((stamped(900, 100), stamped(500))):
        pq.write_table(part, tmp_path / f"{number}.parquet")
    found = rows("LAST(A.ts) AS ts, LAST(A.ts) - FIRST(A.ts) AS took", str(tmp_path), pattern="A A A")
    assert (nanos(found["ts"]), nanos(found["took"]), found.schema.field("took").type) == ([BASE + 900], [800], pa.duration("ns"))


@pytest.mark.parametrize(("window", "pairs"), [("500 nanoseconds", 2), ("499 ns", 0), ("'0.5' MICROSECOND", 2), ("'1' MICROSECOND", 2)])
def test_windows_in_sql(window, pairs):
    assert len(rows("1 AS n", stamped(0, 500, 2000, 2500), within=f"WITHIN INTERVAL {window}")) == pairs


def pairs_within(window, table, **options):
    text = f"PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) {{}} WITHIN {window} RETURN a.id AS a, b.id AS b"
    return [(row["a"], row["b"]) for row in ost.match(text, t=table, **options)]


def test_windows_in_sase():
    table = stamped(0, 1, 999, 1000, 1001)
    assert pairs_within("1 nanoseconds", table) == [(0, 1), (2, 3), (3, 4)]
    assert len(pairs_within("999 ns", table)) == 7
    assert len(pairs_within("1 microseconds", table)) == 9
    assert len(pairs_within("0.0005 ms", table)) == 4


def test_a_window_finer_than_the_column_is_the_largest_of_its_unit():
    table = pa.table({"ts": pa.array([0, 1, 2], pa.timestamp("us")), "id": range(3)})
    assert pairs_within("1999 ns", table) == [(0, 1), (1, 2)]
    assert pairs_within("999 ns", table) == []


def test_coarser_columns_are_microseconds():
    for unit in ("s", "ms"):
        table = pa.table({"ts": pa.array([2, 1, 3], pa.timestamp(unit))})
        assert rows("LAST(A.ts) AS ts", table, pattern="A A A").schema.field("ts").type == pa.timestamp("us")


def test_lateness_and_watermarks_are_in_nanoseconds():
    query = ost.compile("PATTERN SEQ(t a, t b) WITHIN 1 hours RETURN a.id AS a, b.id AS b", {"t": SHUFFLED.schema})
    session = query.open(lateness="800 ns")
    out = [session.push("t", stamped(n)) for n in (900, 100, 99)]
    assert (session.metrics()["late_rows"], session.metrics()["waiting_rows"]) == (1, 2)
    out.append(session.advance(pd.Timestamp(BASE + 900)))
    assert session.metrics()["waiting_rows"] == 1
    again = query.open(lateness="800 ns", snapshot=session.snapshot())
    assert len(pa.concat_tables([*out, again.close()])) == 1
    assert query.open(lateness=dt.timedelta(microseconds=3)).graph.inputs[0].reorder.lateness == 3000


def test_start_and_end_of_a_match():
    found = ost.match("PATTERN SEQ(t a, t b) WITHIN 1 us", t=stamped(500, 100)).to_arrow()
    assert (nanos(found["start_ts"]), nanos(found["end_ts"])) == ([BASE + 100], [BASE + 500])
    assert found.schema.field("a").type.field("ts").type == NS


def test_streams_of_different_units_meet_in_the_finer():
    coarse = pa.table({"ts": pa.array([BASE // 1000], pa.timestamp("us")), "id": [0]})
    found = ost.match("PATTERN SEQ(x a, y b) RETURN a.ts AS a, b.ts AS b", x=coarse, y=stamped(1)).to_arrow()
    assert (nanos(found["a"]), nanos(found["b"])) == ([BASE], [BASE + 1])


def test_parts_and_sums():
    table = stamped(1_000, 2_345)
    parts = "epoch_ns(A.ts) AS n, epoch_us(A.ts) AS u, A.ts + INTERVAL 5 ns AS later, date_trunc('second', A.ts) AS s"
    found = rows(parts + ", CAST(A.ts AS TIMESTAMP) AS c, CAST(A.ts AS VARCHAR) AS t", table, pattern="A").slice(1)
    assert found["n"].to_pylist() == [BASE + 2_345] and found["u"].to_pylist() == [BASE // 1000 + 2]
    assert nanos(found["later"]) == [BASE + 2_350] and nanos(found["s"]) == [BASE]
    assert found.schema.field("c").type == pa.timestamp("us") and nanos(found["c"]) == [BASE // 1000 + 2]
    assert found["t"].to_pylist() == ["2023-11-14 22:13:20.000002345"]


def test_conditions_over_several_events():
    near = "b.ts - a.ts < interval '2 ns' and epoch_us(b.ts - a.ts) = 0"
    text = f"PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) {{ {near} }} WITHIN 1 hours RETURN a.id AS a, b.id AS b"
    assert [tuple(row.values()) for row in ost.match(text, t=stamped(0, 1, 3, 4))] == [(0, 1), (2, 3)]


def test_constants():
    table = stamped(0, 123_456_789)
    exact = "ts = TIMESTAMP '2023-11-14 22:13:20.123456789'"
    assert len(rows("1 AS n", table, pattern="A", define=exact)) == 1
    assert len(rows("1 AS n", table, pattern="A", define="ts < '2023-11-14 22:13:20.123456789'")) == 1
    assert len(rows("1 AS n", table, pattern="A", define="ts < TIMESTAMP '9999-12-31' AND DATE '0001-01-01' < ts")) == 2
    with pytest.raises(ost.TypeMismatchError, match="out of the range of nanoseconds"):
        rows("coalesce(A.ts, TIMESTAMP '9999-12-31') AS n", table, pattern="A")


def test_overflows_are_errors():
    with pytest.raises(ost.DataError, match="range") as caught:
        rows("A.ts + A.id * INTERVAL '200' DAY * 550 AS n", stamped(0, 1), pattern="A")
    assert "1677 to 2262" in caught.value.hint
    with pytest.raises(ost.DataError, match="beyond what can be calculated"):
        rows("1 AS n", pa.table({"ts": pa.array([2**63 - 1], NS)}), pattern="A")


def test_what_a_query_was_compiled_for_is_kept():
    clause = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS ts PATTERN (A) DEFINE A AS true)"
    coarse = ost.compile(clause, {"t": pa.schema([("ts", pa.timestamp("us"))])}).open()
    assert nanos(coarse.push(stamped(1000)).column("ts")) == [BASE // 1000 + 1]
    with pytest.raises(ost.SchemaError, match="nanoseconds"):
        coarse.push(stamped(1001))
    fine = ost.compile(clause, {"t": pa.schema([("ts", NS)])}).open()
    assert nanos(fine.push(pa.table({"ts": pa.array([7], pa.timestamp("ms"))})).column("ts")) == [7_000_000]
    with pytest.raises(ost.DataError, match="out of range"):
        fine.push(pa.table({"ts": pa.array([dt.datetime(9999, 1, 1)], pa.timestamp("us"))}))


def test_through_the_sql_around_the_clause():
    text = """SELECT ts, later, took_us FROM (SELECT * FROM t WHERE id < 5) MATCH_RECOGNIZE (ORDER BY ts
        MEASURES FIRST(A.ts) AS ts, LAST(A.ts) AS later, CAST(LAST(A.ts) - FIRST(A.ts) AS INTERVAL) AS took_us
        PATTERN (A A A) DEFINE A AS true) WHERE true"""
    found = ost.sql(text, t=SHUFFLED).to_arrow()
    assert nanos(found["ts"]) == [BASE + 100] and nanos(found["later"]) == [BASE + 900]
    with pytest.raises(ost.DataError, match="no intervals in nanoseconds"):
        ost.sql(text.replace("CAST(LAST(A.ts) - FIRST(A.ts) AS INTERVAL)", "LAST(A.ts) - FIRST(A.ts)"), t=SHUFFLED)


def test_programs_and_explanations_keep_them():
    query = ost.compile("PATTERN SEQ(t a, t b) WHERE { b.ts < a.ts + interval '7 ns' } WITHIN 1500 ns", {"t": SHUFFLED.schema})
    assert "window: 00:00:00.000001500" in query.explain("plan")
    assert "1 microsecond 500 nanoseconds" in query.explain("automaton")
    assert "within 1500 nanoseconds" in query.syntax.lower() or "1500 nanosecond" in query.syntax
