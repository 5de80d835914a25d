"""Sets of queries on Spark give what they give in this process, in batches and in streams."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.hosts.spark import on
from ostinato.program import serde
from ostinato.tasks.ranges import time_ranges

pytestmark = pytest.mark.spark

TEXTS = {
    "fall": "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a, LAST(B.ts) AS b PATTERN (A B+) WITHIN 50 "
    "DEFINE A AS p > 7, B AS p < PREV(p))",
    "pair": "PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b) { [k] and a.p > 8 and b.p > 8 } WITHIN 30 "
    "RETURN a.ts AS a, b.ts AS b",
    "shown": "PATTERN SEQ(ticks x, ticks y) WHERE skip_till_next_match(x, y) { [k] and x.p < 1 and y.p > 8 } WITHIN 40",
    "quiet": "PATTERN SEQ(ticks a, ~(ticks n)) WHERE skip_till_next_match(a, n) { [k] and a.p > 8 and n.p > 8 } WITHIN 10 RETURN a.ts AS a",
    "composed": "PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b) { [k] and a.p > 7 and b.p > 7 } WITHIN 20 "
    "RETURN Pair(a.k AS k, b.p AS p); PATTERN SEQ(Pair v, Pair w) WHERE skip_till_next_match(v, w) { [k] } WITHIN 40 RETURN w.p AS last",
}
OTHERS = {
    "other": TEXTS["fall"].replace("ticks", "quotes"),
    "beside": TEXTS["composed"].partition(";")[0]
    + "; PATTERN SEQ(Pair v, quotes q) WHERE skip_till_next_match(v, q) { [k] and q.p > v.p } WITHIN 30 RETURN v.p AS p, q.ts AS at",
}


def rows(count: int = 600, seed: int = 3) -> pa.Table:
    generator = np.random.default_rng(seed)
    keys = [f"k{n}" if n < 5 else None for n in generator.integers(0, 6, count)]
    return pa.table({"ts": 2 * np.arange(count) + seed % 2, "k": keys, "p": generator.integers(0, 10, count).astype(float)})


def rules(names=tuple(TEXTS)) -> ost.QuerySet:
    queries = ost.QuerySet({"ticks": rows(1).schema})
    for name in names:
        queries.add(name, TEXTS[name])
    return queries


def shown(table: pa.Table) -> list[str]:
    """Without what numbers things, which differs between hosts, and without columns of other queries."""

    def plain(value):
        if isinstance(value, dict):
            return {name: plain(item) for name, item in value.items() if name not in ("match_id", "seq") and item is not None}
        return value

    return sorted(repr(plain(row)) for row in table.to_pylist())


def rules_of_two() -> ost.QuerySet:
    queries = ost.QuerySet({"ticks": rows(1).schema, "quotes": rows(1).schema})
    for name, text in (TEXTS | OTHERS).items():
        queries.add(name, text)
    return queries


def given() -> dict[str, pa.Table]:
    return {"ticks": rows(), "quotes": rows(seed=4)}


def expected(queries: ost.QuerySet, table: pa.Table | None = None) -> list[str]:
    found = ost.match_all(queries, streams=given() if table is None else {"ticks": table})
    assert set(found) == set(queries)
    return sorted(row for name, one in found.items() for row in shown(one.add_column(0, "query_id", pa.repeat(name, one.num_rows))))


def test_a_batch(spark):
    queries = rules_of_two()
    frame = on(spark).match_all(queries, streams={name: spark.createDataFrame(table.to_pandas()) for name, table in given().items()})
    assert frame.columns == [*queries.output_schema.names, "query_error"]
    assert shown(frame.toArrow()) == expected(queries)


def test_a_batch_without_a_common_key(spark):
    queries = rules(("fall", "pair"))
    queries.add("all", TEXTS["pair"].replace("[k] and ", ""))
    queries.add("number", TEXTS["pair"].partition(" RETURN")[0] + " OUTPUT count")
    with pytest.warns(UserWarning, match="not by key: all: the pattern has no partition key"):
        frame = on(spark).match_all(queries, ticks=spark.createDataFrame(rows().to_pandas()))
    assert shown(frame.toArrow()) == expected(queries, rows())


def test_streams(spark, tmp_path):
    """One stateful operator, restarted once."""
    for name, table in given().items():
        (tmp_path / name).mkdir()
        pq.write_table(table.slice(0, 200), tmp_path / name / "0.parquet")
    queries = rules_of_two()

    def run(ends: bool) -> None:
        streams = {name: on(spark).read_stream(str(tmp_path / name), rows_per_batch=200, ends=ends) for name in ("ticks", "quotes")}
        frame = on(spark).match_all(queries, streams=streams, lateness=0, buckets=3)
        writer = frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start().awaitTermination()

    run(ends=False)
    for name, table in given().items():
        pq.write_table(table.slice(200), tmp_path / name / "1.parquet")
    run(ends=True)
    assert shown(spark.read.parquet(str(tmp_path / "out")).toArrow()) == expected(queries)
    operators = spark.read.format("state-metadata").load(str(tmp_path / "state")).select("operatorId").distinct().count()
    assert operators == 1


def many() -> ost.QuerySet:
    """Of shapes that are evaluated as one: equal ones among them, and one whose numbers of matches keep it apart."""
    queries = ost.QuerySet({"ticks": rows(1).schema})
    for number in range(9):
        for name in ("fall", "pair", "quiet", "shown"):
            queries.add(f"{name} {number}", TEXTS[name].replace("> 8", f"> {3 + number % 6}").replace("> 7", f"> {2 + number % 5}"))
    assert queries.explain().count("evaluated as one") == 4
    return queries


def test_shapes_in_a_batch(spark):
    queries = many()
    frame = on(spark).match_all(queries, ticks=spark.createDataFrame(rows().to_pandas()))
    assert shown(frame.toArrow()) == expected(queries, rows())


def test_parquet_in_order_of_time_is_not_shuffled(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(time_ranges, "SMALLEST_RANGE", 100)
    pq.write_table(rows(), tmp_path / "ticks.parquet", row_group_size=50)
    queries = many()
    frame = on(spark).match_all(queries, ticks=spark.read.parquet(str(tmp_path / "ticks.parquet")))
    found = frame.toArrow()
    assert frame.rdd.getNumPartitions() > 1
    assert "Exchange" not in frame._jdf.queryExecution().toString()
    assert shown(found) == expected(queries, rows())
    ids = [row["match_id"] for row in found.to_pylist() if row["match_id"] is not None]
    assert len(set(ids)) == len(ids) > 0


def test_shapes_in_a_stream(spark, tmp_path):
    """Over a restart."""
    (tmp_path / "ticks").mkdir()
    queries = many()
    for number, ends in enumerate((False, True)):
        pq.write_table(rows().slice(300 * number, 300), tmp_path / "ticks" / f"{number}.parquet")
        stream = on(spark).read_stream(str(tmp_path / "ticks"), rows_per_batch=100, ends=ends)
        writer = on(spark).match_all(queries, ticks=stream, lateness=0, buckets=2).writeStream.format("parquet")
        writer = writer.option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "state"))
        writer.trigger(availableNow=True).start().awaitTermination()
    assert shown(spark.read.parquet(str(tmp_path / "out")).toArrow()) == expected(queries, rows())


FAILING = (
    "PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b) { [k] and a.n * 4611686018427387904 > 0 } WITHIN 30 RETURN a.ts AS a"
)


def with_numbers(table: pa.Table) -> pa.Table:
    """Late in time, one number is too large for the failing query, in one partition."""
    numbers = np.ones(table.num_rows, np.int64)
    numbers[[row for row, k in enumerate(table["k"].to_pylist()) if k == "k2"][-1]] = 3
    return table.append_column("n", pa.array(numbers))


def set_with_a_failing_query() -> ost.QuerySet:
    queries = ost.QuerySet({"ticks": with_numbers(rows(60)).schema})
    for name in ("fall", "pair", "composed"):
        queries.add(name, TEXTS[name])
    queries.add("failing", FAILING)
    return queries


@pytest.mark.slow
def test_a_set_that_is_larger_than_what_spark_sends_as_it_is(spark, tmp_path):
    """More than a million bytes: Spark would make a broadcast of it, which the driver does not load before a stream begins."""
    generator = np.random.default_rng(5)
    names = [generator.bytes(40).hex() for _ in range(30_000)]
    limits = pa.table({"id": [f"rule {n}" for n in range(len(names))], "name": names})
    queries = ost.QuerySet({"ticks": rows(1).schema})
    queries.add_all("PATTERN SEQ(ticks a) WHERE skip_till_next_match(a) { a.k = ${name} } RETURN a.ts AS a", limits)
    assert len(serde.dumps(queries.program)) > 1 << 20
    (tmp_path / "ticks").mkdir()
    table = pa.table({"ts": [1, 2, 3], "k": [names[7], "k", names[29_999]], "p": [0.0, 0.0, 0.0]})
    pq.write_table(table, tmp_path / "ticks" / "0.parquet")
    frame = on(spark).match_all(queries, ticks=on(spark).read_stream(str(tmp_path / "ticks"), ends=True), lateness=0, buckets=1)
    writer = frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start().awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted((row.query_id, row.a) for row in found) == [("rule 29999", 3), ("rule 7", 1)]


def test_a_query_that_fails_is_put_in_quarantine(spark, tmp_path):
    queries, table = set_with_a_failing_query(), with_numbers(rows())
    with pytest.warns(ost.QuarantineWarning, match="'failing' has failed: An integer calculation went beyond 64 bits"):
        found = ost.match_all(queries, ticks=table)
    assert set(found) == {"fall", "pair", "composed"} and isinstance(found.quarantined["failing"], ost.DataError)
    wanted = sorted(row for name, one in found.items() for row in shown(one.add_column(0, "query_id", pa.repeat(name, one.num_rows))))

    pq.write_table(table, tmp_path / "0.parquet")
    batch = on(spark).match_all(queries, ticks=spark.createDataFrame(table.to_pandas()))
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "0.parquet")
    stream = on(spark).match_all(queries, ticks=on(spark).read_stream(str(tmp_path / "in"), ends=True), lateness=0, buckets=3)
    writer = (
        stream.writeStream.format("parquet").option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "state"))
    )
    running = writer.trigger(availableNow=True).start()
    running.awaitTermination()
    assert sum(seen.quarantined for progress in running.recentProgress for seen in progress.observedMetrics.values()) == 1
    for result in (batch, spark.read.parquet(str(tmp_path / "out"))):
        (error,) = result.where("query_error is not null").collect()
        assert error.query_id == "failing" and error.a is None and "64 bits" in error.query_error
        others = result.where("query_error is null and query_id <> 'failing'").drop("query_error")
        assert shown(others.toArrow()) == wanted
    with pytest.raises(Exception, match="64 bits"):
        on(spark).match_all(queries, ticks=spark.createDataFrame(table.to_pandas()), on_error="raise").collect()


def test_what_is_not_offered_is_refused(spark, tmp_path):
    frame = spark.createDataFrame(rows(5).to_pandas())
    with pytest.raises(ost.OstinatoError, match="no queries"):
        on(spark).match_all(ost.QuerySet({"ticks": rows(1).schema}), ticks=frame)
    with pytest.raises(ost.UnknownNameError, match="'ticks'"):
        on(spark).match_all(rules(("pair",)), other=frame)
    stream = spark.readStream.schema(frame.schema).parquet(str(tmp_path))
    with pytest.raises(ost.UnsupportedError, match="'quotes' is a table"):
        on(spark).match_all(rules_of_two(), lateness=0, ticks=stream, quotes=frame)


def test_numbers_of_matches_are_told_apart_where_one_task_computes_several_partitions(spark):
    ticks = spark.createDataFrame(rows().to_pandas())
    alone = on(spark).match(TEXTS["shown"], ticks=ticks)
    together = on(spark).match_all(rules(("shown", "pair")), ticks=ticks)
    for found in (alone, together.where("query_id = 'shown'")):
        for frame in (found, found.coalesce(1)):
            numbers = frame.toArrow().column("match_id").to_pylist()
            assert len(set(numbers)) == len(numbers) > 10
    assert together.where("query_id = 'pair' and match_id is not null").count() == 0
