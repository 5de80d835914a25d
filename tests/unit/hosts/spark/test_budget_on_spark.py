"""State budgets on a real Spark: of a task in batch, of a bucket on streams."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

import ostinato as ost
from ostinato.hosts.spark import on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore")]
TEXT = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { b.v > a.v } WITHIN 1 hour"


def events(folder: Path) -> str:
    """Twenty partial matches, of which each is a match with the last event; then the end of all windows."""
    times = pa.array([*range(0, 21_000_000, 1_000_000), 20_000_000_000], pa.timestamp("us", "UTC"))
    table = pa.table({"ts": times, "kind": ["A"] * 20 + ["B", "C"], "v": [*range(20), 99, 0]})
    folder.mkdir()
    pq.write_table(table, folder / "0.parquet")
    return str(folder)


@pytest.mark.parametrize("path", [None, "one partition"])
def test_batch(spark, tmp_path: Path, path: str | None) -> None:
    frame = spark.read.parquet(events(tmp_path / "in"))
    assert on(spark).match(TEXT, events=frame, type_by="kind", path=path, budget=ost.Budget(runs=20)).count() == 20
    with pytest.raises(PySparkException, match="BudgetError"):
        on(spark).match(TEXT, events=frame, type_by="kind", path=path, budget=ost.Budget(runs=5)).count()


@pytest.mark.parametrize("path", [None, "one partition"])
def test_matches_that_cannot_be_listed(spark, tmp_path: Path, path: str | None) -> None:
    """Without any budget: a task has its share of the memory there is."""
    frame = spark.read.parquet(events(tmp_path / "in"))
    text = "PATTERN SEQ(A+ a[ ], A b, B c) WHERE skip_till_any_match(a[ ], b, c) { c.v > 0 } WITHIN 1 hour"
    assert on(spark).match(text, events=frame, type_by="kind", path=path, output="count").collect()[0][0] == 2**20 - 21
    with pytest.raises(PySparkException, match=r"BudgetError: listing .* matches with"):
        on(spark).match(text, events=frame, type_by="kind", path=path, budget=ost.Budget(bytes=10_000_000)).count()


@pytest.mark.slow  # batches do by default, and sessions are tested for it by themselves (tests/unit/runtime)
def test_a_stream_that_cannot_list_its_matches(spark, tmp_path: Path) -> None:
    stream = on(spark).read_stream(events(tmp_path / "in"))
    text = "PATTERN SEQ(A+ a[ ], A b, B c) WHERE skip_till_any_match(a[ ], b, c) { c.v > 0 } WITHIN 1 hour"
    found = on(spark).match(text, events=stream, type_by="kind", lateness="1 second", budget=ost.Budget(bytes=10_000_000))
    writer = found.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    with pytest.raises(PySparkException, match="BudgetError: listing"):
        query.awaitTermination()


def test_refused(spark, tmp_path: Path) -> None:
    frame = spark.read.parquet(events(tmp_path / "in"))
    with pytest.raises(ost.UnsupportedError, match="would leave out matches unseen"):
        on(spark).match(TEXT, events=frame, type_by="kind", budget=ost.Budget(runs=5, overflow="shed oldest"))
    with pytest.raises(ost.OstinatoError, match="for event patterns"):
        rows = "SELECT * FROM e MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A B) DEFINE B AS v > 1)"
        on(spark).match(rows, e=frame, budget=ost.Budget(runs=5))


@pytest.mark.slow
def test_a_stream_counts_what_it_sheds(spark, tmp_path: Path) -> None:
    stream = on(spark).read_stream(events(tmp_path / "in"))
    budget = ost.Budget(runs=8, overflow="shed oldest")
    found = on(spark).match(TEXT, events=stream, type_by="kind", lateness="1 second", budget=budget)
    writer = found.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    kept = spark.read.parquet(str(tmp_path / "out")).count()
    shed = sum(seen.shed for progress in query.recentProgress for seen in progress.observedMetrics.values())
    assert 0 < kept < 20 and kept + shed == 20
