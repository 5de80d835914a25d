"""A stream of Spark follows its set: rules come and go while it runs, and while it is stopped."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.hosts.spark.test_live_rules import PAIR, SCHEMA, expected, lines, rows, some

import ostinato as ost
from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark import on

pytestmark = pytest.mark.spark


def test_rules_change_while_a_stream_runs_and_while_it_is_stopped(spark, tmp_path):
    (tmp_path / "in").mkdir()
    queries = some("one", "two")
    session = queries.open()
    wanted = []

    def bring(number: int) -> None:
        table = rows(200, 7, 200 * number)
        pq.write_table(table, tmp_path / "in" / f"{number}.parquet")
        wanted.extend(expected(session.push("t", table)))

    def started():
        stream = on(spark).read_stream(str(tmp_path / "in"), schema="ts bigint, k string, p double, n bigint")
        frame = on(spark).match_all(queries, t=stream, lateness=0, buckets=3, rule_log=tmp_path / "rules")
        writer = frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
        return writer.option("checkpointLocation", str(tmp_path / "state")).start()

    running = started()
    bring(0)
    running.processAllAvailable()
    changes = queries.sync([{"id": "one", "text": PAIR.format(7, 3)}, {"id": "two", "text": PAIR.format(5, 5)}])
    assert changes.changed == ("two",) and changes.unchanged == ("one",)
    for limit in range(6):
        queries.add(f"q{limit}", PAIR.format(limit, 8 - limit))
    bring(1)
    running.processAllAvailable()
    ends = [json.loads(source.endOffset) for source in running.lastProgress.sources]
    assert [end["change"] for end in ends if "change" in end] == [8]
    running.stop()
    queries.remove("q3")
    queries.add("new", PAIR.format(4, 2))
    bring(2)
    running = started()
    running.processAllAvailable()
    running.stop()
    assert lines(_found(spark, tmp_path)) == sorted(wanted)
    assert "evaluated as one" in queries.explain()


def _found(spark, folder) -> list[dict]:
    return spark.read.parquet(str(folder / "out")).toArrow().to_pylist()


def test_what_is_for_streams_alone(spark, tmp_path):
    frame = spark.createDataFrame(rows(20, 1).to_pandas())
    with pytest.raises(UnsupportedError, match="rule_log= is for streams"):
        on(spark).match_all(some("one"), t=frame, rule_log=str(tmp_path / "rules"))
    with pytest.raises(UnsupportedError, match="keys= is for sets"):
        on(spark).match_all(some("one"), t=frame, keys="k")


def test_a_stream_with_a_watermark_of_its_own(spark, tmp_path):
    """Timestamps, a prefilter that is not applied, a column that no query reads at first."""
    micros = [("ts", pa.timestamp("us", "UTC")), *list(SCHEMA)[1:]]
    schema = pa.schema(micros)
    (tmp_path / "in").mkdir()
    table = rows(300, 3).set_column(0, "ts", pa.array([n * 1_000_000 for n in range(300)], schema.field("ts").type))
    pq.write_table(table.slice(0, 150), tmp_path / "in" / "0.parquet")
    text = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and a.p > 7 and b.p > 7 } WITHIN 40 seconds RETURN b.ts AS b"
    queries = ost.QuerySet({"t": schema})
    queries.add("one", text)
    session = queries.open()
    stream = spark.readStream.schema("ts timestamp, k string, p double, n bigint").parquet(str(tmp_path / "in"))
    frame = on(spark).match_all(queries, t=stream.withWatermark("ts", "0 seconds"), buckets=2, rule_log=str(tmp_path / "rules"))
    writer = frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    running = writer.option("checkpointLocation", str(tmp_path / "state")).start()
    running.processAllAvailable()
    wanted = expected(session.push("t", table.slice(0, 150)))
    queries.add("two", text.replace("b.p > 7", "b.p < 3 and b.n = 1"))
    pq.write_table(table.slice(150), tmp_path / "in" / "1.parquet")
    running.processAllAvailable()
    wanted += expected(session.push("t", table.slice(150)))
    running.stop()
    found = _found(spark, tmp_path)
    ends = {row["b"] for row in found}
    assert lines(found) == sorted(wanted) and len(ends) > 10 and {row["query_id"] for row in found} == {"one", "two"}
