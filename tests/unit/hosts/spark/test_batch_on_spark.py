"""Batch queries through the public calls, on a real Spark."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException

import ostinato as ost
from ostinato.base.errors import DataError, QuerySyntaxError, SchemaError, UnknownNameError
from ostinato.compiler import compile
from ostinato.hosts.spark import on
from ostinato.hosts.spark.batch.match_batch import OnePartitionWarning
from ostinato.tasks.ranges import time_ranges

pytestmark = pytest.mark.spark

CLAUSE = """MATCH_RECOGNIZE ({partition} ORDER BY ts
  MEASURES FIRST(ts) AS first_ts, LAST(v) AS v_last, COUNT(*) AS n
  PATTERN (A B+ C) {within} DEFINE B AS v < PREV(v), C AS v > PREV(v))"""
KEYED = CLAUSE.format(partition="PARTITION BY k", within="WITHIN INTERVAL '20' SECOND")
UNBOUND = CLAUSE.format(partition="PARTITION BY k", within="")
PAIRS = "PATTERN SEQ(Ticks a, Ticks b) WHERE skip_till_next_match(a, b) { [k] AND a.v > 4 AND b.v < 1 } WITHIN 5 seconds"


@pytest.fixture(scope="module")
def ticks() -> pa.Table:
    rng = np.random.default_rng(5)
    rows = 600
    columns = {
        "ts": pa.array(np.cumsum(rng.integers(0, 3, rows)) * 1_000_000, pa.timestamp("us", "UTC")),
        "k": pa.array([f"k{n}" for n in rng.integers(0, 5, rows)]),
        "v": pa.array(rng.integers(0, 6, rows), pa.int32()),
        "unused": pa.array(rng.random(rows)),
    }
    return pa.table(columns)


@pytest.fixture(scope="module")
def folder(ticks, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("ticks")
    for number in range(3):
        pq.write_table(ticks.slice(number * 200, 200), folder / f"{number}.parquet", row_group_size=50)
    return str(folder)


@pytest.fixture(autouse=True)
def _small_ranges(monkeypatch) -> None:
    monkeypatch.setattr(time_ranges, "SMALLEST_RANGE", 100)
    monkeypatch.setattr(time_ranges, "ROWS_PER_RANGE", 150)


def expected(text: str, table: pa.Table, **options) -> list[tuple]:
    session = compile(text, {"ticks": table.schema}, **options).open()
    return bag(pa.concat_tables([session.push(table), session.close()]))


def bag(table: pa.Table) -> list[tuple]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


def test_paths_views_tables_and_other_frames_agree(spark, folder, ticks) -> None:
    text = f"SELECT * FROM ticks {KEYED}"
    want = expected(text, ticks)
    frame = spark.read.parquet(folder)
    assert "spark: time ranges" in on(spark).explain(text, ticks=folder + "/*.parquet")
    assert bag(on(spark).sql(text, ticks=folder + "/*.parquet").toArrow()) == want
    assert "not a plain scan" in on(spark).explain(text, ticks=frame.where("v >= 0"))
    assert bag(on(spark).sql(text, ticks=frame.where("v >= 0")).toArrow()) == want
    frame.createOrReplaceTempView("ticks")
    assert bag(on(spark).sql(text).toArrow()) == want
    spark.catalog.dropTempView("ticks")


@pytest.mark.parametrize(
    ("partition", "number"),
    [("", "MATCH_NUMBER() AS n"), ("PARTITION BY k", "MATCH_NUMBER() AS n, 10 * MATCH_NUMBER() + LAST(v) AS `both`, LAST(ts) AS t")],
)
def test_numbers_and_rows_behind_the_match_in_ranges(spark, folder, ticks, partition, number) -> None:
    text = f"""SELECT * FROM ticks MATCH_RECOGNIZE ({partition} ORDER BY ts MEASURES FIRST(ts) AS first_ts, {number}, NEXT(LAST(v)) AS soon
      AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+) WITHIN INTERVAL '20' SECOND DEFINE A AS v > PREV(v), B AS v > NEXT(v))"""
    plan = on(spark).explain(text, ticks=folder)
    assert "spark: time ranges\n  4 ranges" in plan and "numbered at the end" in plan and "for NEXT" in plan
    found = on(spark).sql(text, ticks=folder)
    embedded = ost.sql(text.replace("`", '"'), ticks=folder + "/*.parquet").to_arrow()
    assert found.columns == embedded.column_names
    assert bag(found.toArrow()) == bag(embedded)
    assert embedded.num_rows > 20


@pytest.mark.parametrize(
    ("rows", "within"),
    [
        ("ONE ROW PER MATCH", "WITHIN INTERVAL '20' SECOND"),
        ("ALL ROWS PER MATCH", "WITHIN INTERVAL '20' SECOND"),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", "WITHIN INTERVAL '20' SECOND"),
        ("ONE ROW PER MATCH", ""),
    ],
)
def test_arrays_and_all_rows(spark, folder, ticks, rows, within) -> None:
    text = f"""SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES ARRAY_AGG(v) AS vs, FINAL ARRAY_AGG(B.ts) AS falls,
      COUNT(*) AS n {rows} PATTERN (A B* C) {within} DEFINE B AS v < PREV(v), C AS v > PREV(v))"""
    found = on(spark).sql(text, ticks=folder)
    path = "time ranges" if within and "UNMATCHED" not in rows else "by key"
    assert f"spark: {path}" in on(spark).explain(text, ticks=folder)
    assert found.schema["vs"].dataType.simpleString() == "array<int>"
    assert bag(found.toArrow()) == expected(text, ticks)
    assert found.columns == (["k", "vs", "falls", "n"] if "ONE" in rows else ["k", "ts", "vs", "falls", "n", "v", "unused"])


def test_days_are_cut_too(spark, tmp_path, ticks) -> None:
    days = ticks.set_column(0, "ts", pa.array(np.arange(600, dtype=np.int32) // 5).cast(pa.date32()))
    pq.write_table(days, tmp_path / "a.parquet", row_group_size=30)
    text = f"SELECT * FROM ticks {KEYED.replace('20', '3').replace('SECOND', 'DAY')}"
    assert "spark: time ranges\n  4 ranges" in on(spark).explain(text, ticks=str(tmp_path))
    assert bag(on(spark).sql(text, ticks=str(tmp_path)).toArrow()) == expected(text, days)


def test_files_with_int96_times_are_cut_too(spark, tmp_path, ticks) -> None:
    pq.write_table(ticks, tmp_path / "a.parquet", row_group_size=100, use_deprecated_int96_timestamps=True)
    text = f"SELECT * FROM ticks {KEYED}"
    assert "spark: time ranges" in on(spark).explain(text, ticks=str(tmp_path))
    assert bag(on(spark).match(text, ticks=str(tmp_path)).toArrow()) == expected(text, ticks)


@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
def test_situations_are_cut_with_or_without_a_key(spark, folder, ticks, partition) -> None:
    text = f"""FROM ticks {partition} DEFINE High AS v > 2, Falling AS v < PREV(v)
        PATTERN High overlaps;contains;before Falling WITHIN 9 seconds RETURN avg(High.v) AS mean, count(Falling.*) AS n"""
    plan = on(spark).explain(text, ticks=folder, language="tpstream")
    assert "spark: time ranges" in plan and "2 rows per key read before each range" in plan
    found = on(spark).match(text, ticks=folder, language="tpstream").collect()
    table = compile(text, {"ticks": ticks.schema}, language="tpstream").open()
    wanted = pa.concat_tables([table.push(ticks), table.close()]).to_pylist()
    assert len(wanted) > 20 and sorted(tuple(row)[:2] for row in found) == sorted((row["mean"], row["n"]) for row in wanted)


def test_keyed_without_a_window_is_shuffled(spark, folder, ticks) -> None:
    text = f"SELECT * FROM ticks {UNBOUND}"
    assert "spark: by key" in on(spark).explain(text, ticks=folder)
    assert bag(on(spark).sql(text, ticks=folder).toArrow()) == expected(text, ticks)


def test_what_nothing_divides_is_done_by_one_task_and_said_so(spark, folder, ticks) -> None:
    text = f"SELECT * FROM ticks {CLAUSE.format(partition='', within='')}"
    with pytest.warns(OnePartitionWarning, match="no WITHIN"):
        found = on(spark).sql(text, ticks=folder)
    assert bag(found.toArrow()) == expected(text, ticks)


def test_files_that_all_cover_the_same_time_are_shuffled(spark, tmp_path, ticks) -> None:
    mixed = ticks.take(np.random.default_rng(1).permutation(ticks.num_rows))
    pq.write_table(mixed, tmp_path / "a.parquet", row_group_size=50)
    text = f"SELECT * FROM ticks {KEYED}"
    assert "overlap widely in time" in on(spark).explain(text, ticks=str(tmp_path))
    sequence = "SELECT k, count(*) AS n FROM (SELECT * FROM ticks " + KEYED + ") GROUP BY k"
    found = {row.k: row.n for row in on(spark).sql(sequence, ticks=str(tmp_path)).collect()}
    assert sum(found.values()) > 0


def test_sql_around_the_clause_is_sparks(spark, folder, ticks) -> None:
    names = spark.createDataFrame([("k1", "one"), ("k2", "two")], "k string, name string")
    text = f"""
      WITH m AS (SELECT * FROM ticks {KEYED} AS x)
      SELECT names.name, count(*) AS n, sum(n) AS total FROM m JOIN names ON m.k = names.k GROUP BY names.name"""
    found = {row.name: (row.n, row.total) for row in on(spark).sql(text, ticks=folder, names=names).collect()}
    want = [row for row in expected(f"SELECT * FROM ticks {KEYED}", ticks) if row[0] in ("k1", "k2")]
    counts = {name: sum(row[0] == key for row in want) for key, name in (("k1", "one"), ("k2", "two"))}
    assert {name: count for name, (count, _) in found.items()} == counts
    assert not spark.catalog.tableExists("names")


def test_events_of_the_default_output(spark, folder, ticks) -> None:
    found = on(spark).match(PAIRS, ticks=folder).toArrow()
    want = expected(PAIRS, ticks)
    assert found.num_rows == len(want) > 0
    assert len(set(found.column("match_id").to_pylist())) == found.num_rows
    pairs = sorted((row["a"]["ts"], row["b"]["ts"], row["a"]["k"]) for row in found.to_pylist())
    assert pairs == sorted((a["ts"], b["ts"], a["k"]) for _, _, _, a, b in want)
    counted = on(spark).match(PAIRS, output="count", ticks=folder).collect()
    assert [row["count"] for row in counted] == [found.num_rows]
    shuffled = on(spark).match(PAIRS, output="count", path="by key", ticks=spark.read.parquet(folder)).collect()
    assert [row["count"] for row in shuffled] == [found.num_rows]


def test_aggregates_over_all_matches_are_put_together(spark, folder, ticks) -> None:
    text = PAIRS + " RETURN count(*) AS n, sum(b.v) AS total, avg(a.v) AS mean, min(a.k) AS k, max(b.ts) AS late OUTPUT aggregates"
    assert "one puts the results together" in on(spark).explain(text, ticks=folder)
    found = on(spark).match(text, ticks=folder).toArrow()
    assert bag(found) == expected(text, ticks) and found.column("n").to_pylist()[0] > 10


@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
def test_anchors_see_whole_partitions(spark, folder, ticks, partition) -> None:
    clause = CLAUSE.format(partition=partition, within="WITHIN INTERVAL '20' SECOND")
    text = f"SELECT * FROM ticks {clause.replace('(A B+ C)', '(^ A* | A+ $ | B)').replace('C AS v > PREV(v)', 'A AS v >= 0')}"
    assert "(^ or $)" in on(spark).explain(text, ticks=folder)
    want = expected(text, ticks)
    assert len(want) > 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePartitionWarning)
        assert bag(on(spark).sql(text, ticks=folder).toArrow()) == want


def test_empty_input_gives_an_empty_result(spark, folder, ticks) -> None:
    none = spark.read.parquet(folder).where("v > 100")
    found = on(spark).sql(f"SELECT * FROM ticks {KEYED}", ticks=none)
    assert found.columns == ["k", "first_ts", "v_last", "n"] and found.count() == 0
    assert [row["count"] for row in on(spark).match(PAIRS, output="count", ticks=none).collect()] == [0]


def test_bad_input_is_named(spark, folder, tmp_path, ticks) -> None:
    with pytest.raises(UnknownNameError, match="There is no column w"):
        on(spark).sql(f"SELECT * FROM ticks {KEYED.replace('LAST(v)', 'LAST(w)')}", ticks=folder)
    with pytest.raises(QuerySyntaxError, match="Spark refuses"):
        on(spark).sql(f"SELECT nothing FROM ticks {KEYED}", ticks=folder)
    with pytest.raises(QuerySyntaxError, match="`nowhere` cannot be found") as unknown:
        on(spark).sql(f"SELECT * FROM nowhere {KEYED}")
    assert "createOrReplaceTempView" in unknown.value.hint
    with pytest.raises(QuerySyntaxError, match="Syntax error at or near 'n'") as caught:
        on(spark).sql(f"SELECT k, -- the key\n  v_last n n FROM ticks {KEYED}", ticks=folder)
    assert caught.value.position == (2, 12)
    with pytest.raises(DataError, match="cannot read"):
        on(spark).sql(f"SELECT * FROM ticks {KEYED}", ticks=str(tmp_path / "missing.parquet"))
    with pytest.raises(UnknownNameError, match="no table or view") as unknown:
        on(spark).sql(f"SELECT * FROM ticks {KEYED}", ticks="nowhere")
    assert "'./nowhere'" in unknown.value.hint
    with pytest.raises(SchemaError, match="is a int"):
        on(spark).match(PAIRS, ticks=3)


def test_a_null_time_stops_the_job_with_the_cause(spark, tmp_path, ticks) -> None:
    broken = ticks.set_column(0, "ts", pa.array([None, *ticks.column("ts").to_pylist()[1:]], ticks.schema.field("ts").type))
    pq.write_table(broken, tmp_path / "a.parquet")
    frame = spark.read.parquet(str(tmp_path)).where("v IS NOT NULL")  # no plain scan: found by the task that meets it
    first = ticks.slice(0, 1).to_pylist()[0]
    with pytest.raises(
        PythonException, match=rf'time column "ts" of stream "ticks" is null \(in the row k=\'{first["k"]}\', v={first["v"]}\)'
    ):
        on(spark).sql(f"SELECT * FROM ticks {KEYED}", ticks=frame).collect()
    pq.write_table(ticks.slice(0, 10), tmp_path / "a.parquet")
    pq.write_table(broken.take([3, 2, 0, 1]), tmp_path / "b.parquet", row_group_size=2)
    with pytest.raises(DataError, match=r'time column "ts" of stream "ticks" is null \(row 2 of file:.*b.parquet, counted from 0\)'):
        on(spark).match(PAIRS, ticks=str(tmp_path))


def test_files_of_different_types_are_named(spark, tmp_path, ticks) -> None:
    pq.write_table(ticks.slice(0, 10), tmp_path / "a.parquet")
    other = ticks.slice(10, 10)
    names = pa.array([str(value) for value in other.column("v").to_pylist()])
    pq.write_table(other.set_column(other.column_names.index("v"), "v", names), tmp_path / "b.parquet")
    with pytest.raises(SchemaError, match=r"the column 'v' of the file .*b.parquet has type string, that of the DataFrame has"):
        on(spark).match(PAIRS, ticks=spark.read.schema(spark.read.parquet(str(tmp_path / "a.parquet")).schema).parquet(str(tmp_path)))
