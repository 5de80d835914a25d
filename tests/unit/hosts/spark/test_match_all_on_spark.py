"""Sets of queries on Spark give what they give in this process, in batches and in streams."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.hosts.spark import on

pytestmark = pytest.mark.spark

TEXTS = {
    "fall": "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a, LAST(B.ts) AS b PATTERN (A B+) WITHIN 50 "
    "DEFINE A AS p > 7, B AS p < PREV(p))",
    "pair": "PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b) { [k] and a.p > 8 and b.p > 8 } WITHIN 30 "
    "RETURN a.ts AS a, b.ts AS b",
    "shown": "PATTERN SEQ(ticks x, ticks y) WHERE skip_till_next_match(x, y) { [k] and x.p < 1 and y.p > 8 } WITHIN 20",
    "quiet": "PATTERN SEQ(ticks a, ~(ticks n)) WHERE skip_till_next_match(a, n) { [k] and a.p > 8 and n.p > 8 } WITHIN 10 RETURN a.ts AS a",
    "composed": "PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b) { [k] and a.p > 7 and b.p > 7 } WITHIN 20 "
    "RETURN Pair(a.k AS k, b.p AS p); PATTERN SEQ(Pair v, Pair w) WHERE skip_till_next_match(v, w) { [k] } WITHIN 40 RETURN w.p AS last",
}


def rows(count: int = 600) -> pa.Table:
    generator = np.random.default_rng(3)
    keys = [f"k{n}" if n < 5 else None for n in generator.integers(0, 6, count)]
    return pa.table({"ts": np.arange(count), "k": keys, "p": generator.integers(0, 10, count).astype(float)})


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


def expected(queries: ost.QuerySet, table: pa.Table) -> list[str]:
    found = ost.match_all(queries, ticks=table)
    assert set(found) == set(queries)
    return sorted(row for name, one in found.items() for row in shown(one.add_column(0, "query_id", pa.repeat(name, one.num_rows))))


def test_a_batch(spark):
    queries = rules()
    frame = on(spark).match_all(queries, ticks=spark.createDataFrame(rows().to_pandas()))
    assert frame.columns == queries.output_schema.names
    assert shown(frame.toArrow()) == expected(queries, rows())


def test_a_batch_without_a_common_key(spark):
    queries = rules(("fall", "pair"))
    queries.add("all", TEXTS["pair"].replace("[k] and ", ""))
    frame = on(spark).match_all(queries, ticks=spark.createDataFrame(rows().to_pandas()))
    assert shown(frame.toArrow()) == expected(queries, rows())


def streamed(spark, queries, folder, checkpoint, name):
    frame = on(spark).match_all(queries, ticks=on(spark).read_stream(str(folder), rows_per_batch=1, ends=True), lateness=0, buckets=3)
    writer = frame.writeStream.format("memory").queryName(name).outputMode("append").option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()
    return spark.table(name).toArrow()


def test_a_stream(spark, tmp_path):
    table, folder = rows(), tmp_path / "rows"
    folder.mkdir()
    for number in range(3):
        pq.write_table(table.slice(200 * number, 200), folder / f"{number}.parquet")
    queries = rules()
    assert shown(streamed(spark, queries, folder, tmp_path / "state", "set_of_rules")) == expected(queries, table)


def test_what_is_not_offered_is_refused(spark, tmp_path):
    frame = spark.createDataFrame(rows(5).to_pandas())
    with pytest.raises(ost.OstinatoError, match="no queries"):
        on(spark).match_all(ost.QuerySet({"ticks": rows(1).schema}), ticks=frame)
    with pytest.raises(ost.UnknownNameError, match="'ticks'"):
        on(spark).match_all(rules(("pair",)), other=frame)
    queries = ost.QuerySet({"ticks": rows(1).schema, "other": rows(1).schema})
    queries.add("pair", TEXTS["pair"])
    queries.add("other", TEXTS["pair"].replace("ticks", "other"))
    streams = {name: spark.readStream.schema(frame.schema).parquet(str(tmp_path)) for name in ("ticks", "other")}
    with pytest.raises(ost.UnsupportedError, match="different streams"):
        on(spark).match_all(queries, lateness=0, streams=streams)
    assert set(on(spark).match_all(queries, ticks=frame, other=frame).columns) == {"query_id", "a", "b"}


def test_numbers_of_matches_are_told_apart_where_one_task_computes_several_partitions(spark):
    ticks = spark.createDataFrame(rows().to_pandas())
    alone = on(spark).match(TEXTS["shown"], ticks=ticks)
    together = on(spark).match_all(rules(("shown", "pair")), ticks=ticks)
    for found in (alone, together.where("query_id = 'shown'")):
        for frame in (found, found.coalesce(1)):
            numbers = frame.toArrow().column("match_id").to_pylist()
            assert len(set(numbers)) == len(numbers) > 10
    assert together.where("query_id = 'pair' and match_id is not null").count() == 0
