"""Composed texts and sets over several streams, as Spark runs them but without Spark: one stateful operator, or one pass over a batch, find
what a session in this process finds."""

from __future__ import annotations

import random
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from tests.unit.hosts.spark.driven_buckets import DrivenBuckets

import ostinato as ost
from ostinato.base.errors import UnsupportedError
from ostinato.compiler import compile
from ostinato.hosts.spark.run_match import streaming_text
from ostinato.hosts.spark.streaming.match_stream import check_streamable, clock_of
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.types import as_on_spark
from ostinato.hosts.spark.work import Work
from ostinato.tasks import keyed_pass
from ostinato.tasks.fed_session import Decided
from ostinato.tasks.graph_pass import STREAM, TIME, graph_pass, rows_column
from ostinato.tasks.set_output import as_one_table

TICKS = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("v", pa.int64())])
ORDERS = pa.schema([("ts", pa.int64()), ("k", pa.float64()), ("w", pa.int64())])
RISE = "PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b) { [k] and b.v > a.v } WITHIN 20 RETURN Rise(a.k, b.v)"
QUIET = "PATTERN SEQ(ticks a, ~(ticks x)) WHERE skip_till_any_match(a, x) { [k] and a.v > 3 and x.v > a.v } WITHIN 10 RETURN Rise(a.k, a.v)"
TWO = (
    "PATTERN SEQ(Rise x, Rise y) WHERE skip_till_any_match(x, y) { [k] and y.v > x.v } WITHIN 30 RETURN x.v AS low, y.v AS high, y.ts AS at"
)
MIXED = "PATTERN SEQ(Rise x, orders y) WHERE skip_till_any_match(x, y) { [k] and y.w < x.v } WITHIN 30 RETURN x.v AS low, y.ts AS at"
AGAIN = "PATTERN SEQ(Rise x, ticks y) WHERE skip_till_any_match(x, y) { [k] and y.v < x.v } WITHIN 30 RETURN x.v AS low, y.ts AS at"
MERGED = """PATTERN SEQ(ticks x, orders y) WHERE skip_till_next_match(x, y) { [k] and x.v > 3 and y.w > 3 } WITHIN 20
    RETURN x.v AS low, y.ts AS at"""
V_SHAPE = """SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS at PATTERN (A B+) WITHIN 30
    DEFINE B AS w < PREV(w))"""
ALONE = "PATTERN SEQ(orders x, orders y) WHERE skip_till_next_match(x, y) { x.w > 5 and y.w > 5 } WITHIN 16 RETURN y.ts AS at"
NESTED = """PATTERN SEQ(Rise x, !(ticks z, z.v = x.v AND z.k = x.k), orders y, y.w < x.v AND x.k = y.k) WITHIN 30
    RETURN x.v AS low, y.ts AS at"""
PAIR = "PATTERN AND(ticks a, orders b, a.k = b.k AND a.v < b.w) WITHIN 16 RETURN Rise(a.k, b.w AS v)"
VIEW = """CREATE VIEW Rise AS SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(B.w) AS v PATTERN (A B+)
    WITHIN 20 DEFINE B AS w > PREV(w))"""
TEXTS = {
    "sase, then neel": f"{RISE}; {NESTED}",
    "neel, then sase": f"{PAIR}; {TWO}",
    "sql, then neel": f"{VIEW}; {NESTED.replace('orders', 'ticks').replace('y.w', 'y.v')}",
    "neel, then sql": f"{PAIR}; {V_SHAPE.replace('FROM orders', 'FROM Rise').replace('w < PREV(w)', 'v < PREV(v)')}",
    "a chain": f"{RISE}; {TWO}",
    "decided by time": f"{QUIET}; {TWO}",
    "beside the stream": f"{RISE}; {AGAIN}",
    "in one place": f"{RISE}; {TWO.replace('[k] and ', '')}",
    "beside another stream": f"{QUIET}; {MIXED}",
    "merged": MERGED,
}


def rows(schema: pa.Schema, count: int, seed: int) -> pa.Table:
    """No two at one time: what comes first of simultaneous events of different keys is not said."""
    generator = random.Random(seed)
    times = np.cumsum([generator.choice((1, 1, 2, 4)) for _ in range(count)]) * 2 + schema.names.index("k") * (seed % 2)
    keys = [None if generator.random() < 0.05 else generator.randrange(4) for _ in range(count)]
    return pa.table([times, keys, [generator.randrange(8) for _ in range(count)]], schema=schema)


def streams(count: int = 120) -> dict[str, pa.Table]:
    return {"orders": rows(ORDERS, count, 4), "ticks": rows(TICKS, count, 7)}


def work_of(text: str) -> Work:
    return Work.of(compile(text, {"ticks": TICKS, "orders": ORDERS}))


def rules() -> ost.QuerySet:
    queries = ost.QuerySet({"ticks": TICKS, "orders": ORDERS})
    for name, text in {**TEXTS, "v": V_SHAPE, "alone": ALONE}.items():
        queries.add(name, text)
    return queries


def set_work(queries: ost.QuerySet) -> Work:
    return Work(queries.program, as_on_spark(queries.output_schema), is_set=True)


def listed(found: list[dict]) -> list[str]:
    return sorted(str({name: value for name, value in sorted(row.items()) if value is not None}) for row in found)


def expected(text: str) -> list[str]:
    given = {name: table for name, table in streams().items() if name in text}
    found = listed(ost.match(text, streams=given).to_arrow().to_pylist())
    assert len(found) > 5
    return found


def expected_of(queries: ost.QuerySet) -> list[str]:
    found = ost.match_all(queries, streams=streams())
    assert set(found) == set(queries)
    return listed([{"query_id": query} | row for query, table in found.items() for row in table.to_pylist()])


def micro_batches(work: Work, lateness: int, seed: int) -> list[list[pa.Table]]:
    """Rows that come out of order by at most `lateness`, some streams ahead of others, some of them silent for a while."""
    generator = np.random.default_rng(seed)
    cut = []
    for stream in work.streams:
        table = streams()[stream.name]
        arrival = np.argsort(table["ts"].to_numpy() + generator.integers(0, lateness + 1, table.num_rows), kind="stable")
        places = np.sort(generator.integers(0, table.num_rows, 5))
        table = table.take(pa.array(arrival))
        cut.append([table.slice(a, b - a) for a, b in zip([0, *places], [*places, table.num_rows], strict=True)])
    return [list(tables) for tables in zip(*cut, strict=True)]


def run(work: Work, ends: bool) -> tuple[list[dict], DrivenBuckets]:
    driven = DrivenBuckets(work, Waiting(lateness=6, announced=len(work.streams)), buckets=3, delay=6)
    found = [row for tables in micro_batches(work, 6, 1) for row in driven.batch(*tables)]
    assert driven.late == 0
    return found + (driven.end() if ends else driven.tail()), driven


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_one_stateful_operator(name, ends):
    found, driven = run(work_of(TEXTS[name]), ends)
    assert listed(found) == expected(TEXTS[name])
    assert (len(driven.buckets) > 1) == (name in ("a chain", "decided by time", "beside the stream", "merged"))


@pytest.mark.parametrize("ends", [True, False])
def test_a_set_is_one_stateful_operator(ends):
    queries = rules()
    assert listed(run(set_work(queries), ends)[0]) == expected_of(queries)


def test_nobody_waits_for_a_stream_that_he_does_not_read():
    queries = ost.QuerySet({"ticks": TICKS, "orders": ORDERS})
    queries.add("rise", RISE.replace("Rise(a.k, b.v)", "b.v AS high"))
    queries.add("v", V_SHAPE)
    driven = DrivenBuckets(set_work(queries), Waiting(lateness=0, announced=2))
    table = streams()["ticks"]
    found = driven.batch(ORDERS.empty_table(), table)
    assert len(found) > 20 and {row["query_id"] for row in found} == {"rise"}
    driven.end(1)
    shown = driven.batch(streams()["orders"])
    assert {row["query_id"] for row in shown + driven.end(0)} == {"v"}


def test_spark_says_how_far_all_have_come():
    """Where streams have watermarks of their own, the least of them is all that is known."""
    work = work_of(TEXTS["beside another stream"])
    driven = DrivenBuckets(work, Waiting(), buckets=3)
    found = driven.batch(*streams().values())
    assert found == []
    for watermark in (50, 100, 200):
        driven.watermark = watermark
        found += driven.batch()
    assert len(found) > 5 and listed(found + driven.tail()) == expected(TEXTS["beside another stream"])


def passed(work: Work, keyed: bool, size: int) -> list[dict]:
    """The rows of all streams as Spark would place and order them, pass by pass."""
    placed: dict[object, list[tuple[int, int, dict]]] = {}
    for number, stream in enumerate(work.streams):
        keys = [key.column for key in work.division.keys_of(number)] if keyed else []
        names = [column.name for column in stream.reads.columns]
        for row in streams()[stream.name].select(names).to_pylist():
            place = tuple(None if row[key] is None else float(row[key]) % 2 for key in keys)
            placed.setdefault(place, []).append((row[stream.time], number, row))
    schemas = {rows_column(n): streams()[stream.name].schema for n, stream in enumerate(work.streams)}
    schema = pa.schema([(STREAM, pa.int32()), (TIME, pa.int64()), *((name, pa.struct(list(own))) for name, own in schemas.items())])
    found: list[dict] = []
    for given in placed.values():
        lines = [{STREAM: n, TIME: t, rows_column(n): row} for t, n, row in sorted(given, key=lambda one: one[:2])]
        batches = pa.Table.from_pylist(lines, schema).to_batches(max_chunksize=size)
        for decided in graph_pass(work.program, work.is_set, batches):
            found += shown(decided, work)
    return found


def shown(decided: Decided, work: Work) -> list[dict]:
    return decided.to_pylist() if isinstance(decided, pa.Table) else as_one_table(decided, work.program, work.output, 0, 0).to_pylist()


@pytest.mark.parametrize("name", TEXTS)
def test_a_batch_is_one_pass(name):
    work = work_of(TEXTS[name])
    with patch.object(keyed_pass, "ROWS_AT_ONCE", 25):
        for keyed in (False, True):
            assert listed(passed(work, keyed, size=10)) == expected(TEXTS[name])


def test_a_set_is_one_pass():
    queries = rules()
    with patch.object(keyed_pass, "ROWS_AT_ONCE", 25):
        assert listed(passed(set_work(queries), False, size=10)) == expected_of(queries)


def test_a_row_without_a_time_is_told_by_its_values():
    work = work_of(TEXTS["a chain"])
    row = {"ts": None, "k": 77, "v": 3}
    schema = pa.schema([(STREAM, pa.int32()), (TIME, pa.int64()), (rows_column(0), pa.struct(list(TICKS)))])
    table = pa.Table.from_pylist([{STREAM: 0, TIME: None, rows_column(0): row}], schema)
    with pytest.raises(ost.OstinatoError, match=r"k=77"):
        list(graph_pass(work.program, False, table.to_batches()))


def test_how_rows_are_divided_is_told():
    assert streaming_text(work_of(TEXTS["a chain"])).splitlines()[1:] == ["  ticks: by k"]
    assert streaming_text(work_of(TEXTS["in one place"])).splitlines()[1:] == ["  ticks: one bucket: the pattern has no partition key"]


def test_what_one_stateful_operator_cannot_do():
    waiting = RISE.replace("WITHIN 20", "").replace("a.k,", "a.k, a.ts,")
    with pytest.raises(UnsupportedError, match=r"events `Rise` can be older .* by no known time"):
        check_streamable(work_of(f"{waiting}; {TWO}"))
    queries = ost.QuerySet({"ticks": TICKS, "events": pa.schema([("ts", pa.timestamp("us", "UTC")), ("v", pa.int64())])})
    queries.add("rise", RISE)
    queries.add("high", "PATTERN SEQ(events e) WHERE e.v > 3 RETURN e.v AS high")
    with pytest.raises(UnsupportedError, match="times of 'ticks' are numbers"):
        clock_of(set_work(queries))
