"""A language that is registered runs everywhere: nothing outside of its entry knows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.unit.lang.toy_language import TOY, known

import ostinato as ost
from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnknownNameError
from ostinato.cli import main as command_line
from ostinato.lang import registry

ROOT = Path(__file__).parents[3]
TEXT = "TOY a THEN b WITHIN 10"
SECONDS = "TOY a THEN b WITHIN 10 seconds"
EVENTS = pa.table({"ts": [1, 5, 20, 35, 40], "kind": ["a", "b", "a", "b", "c"], "x": [1, 2, 3, 4, 5]})
TIMED = EVENTS.set_column(0, "ts", pa.array([n * 1_000_000 for n in (1, 5, 20, 35, 40)], pa.timestamp("us", "UTC")))


@pytest.fixture(autouse=True)
def toy():
    with known():
        yield


def ends(table: pa.Table) -> list[tuple[int, int]]:
    return [(row["v1"]["x"], row["v2"]["x"]) for row in table.to_pylist()]


def test_match_recognises_it():
    for options in ({}, {"language": "toy"}):
        assert ends(ost.match(TEXT, events=EVENTS, type_by="kind", **options).to_arrow()) == [(1, 2)]
    assert len(ost.match("TOY a THEN b", events=EVENTS, type_by="kind")) == 2


def test_several_streams_are_merged():
    split = {kind: EVENTS.filter(pc.equal(EVENTS["kind"], kind)) for kind in ("a", "b")}
    assert ends(ost.match(TEXT, **split).to_arrow()) == [(1, 2)]
    with pytest.raises(UnknownNameError, match="no stream for the event type `b`") as caught:
        ost.match(TEXT, a=split["a"])
    assert caught.value.position == (1, 12)


def test_queries_of_a_text_read_each_other():
    text = "TOY a THEN b AS Pair; TOY Pair THEN c WITHIN 6"
    assert len(ost.match(text, events=EVENTS, type_by="kind")) == 1
    with pytest.raises(QuerySyntaxError, match="has no name by which a later one") as caught:
        ost.match("TOY a THEN b; TOY c", events=EVENTS, type_by="kind")
    assert caught.value.hint == "Name them: AS Name" and caught.value.position == (1, 5)


def test_a_session():
    query = ost.compile(TEXT, {"events": EVENTS.schema}, type_by="kind")
    assert query.language == "toy" and query.output_schema.names == ["match_id", "start_ts", "end_ts", "v1", "v2"]
    session = query.open()
    found = [session.push("events", EVENTS.slice(0, 1)), session.push("events", EVENTS.slice(1))]
    assert [ends(table) for table in (*found, session.close())] == [[], [(1, 2)], []]


def test_every_stage_is_explained():
    query = ost.compile(TEXT, {"events": EVENTS.schema}, type_by="kind")
    assert query.explain("syntax") == TEXT
    for stage, said in (("algebra", "v1"), ("automaton", "v2"), ("plan", "strategy: "), ("program", "events")):
        assert said in query.explain(stage), stage
    assert query.explain("automaton", "svg").startswith("<svg ")


def test_options_that_it_does_not_offer():
    for call in (
        lambda: ost.match(TEXT, events=EVENTS, type_by="kind", output="count"),
        lambda: ost.compile(TEXT, {"events": EVENTS.schema}, type_by="kind", output="count"),
    ):
        with pytest.raises(OstinatoError, match="output= is not offered by Toy"):
            call()
    with pytest.raises(OstinatoError, match="lazy= is not offered by Toy"):
        ost.match(TEXT, events=EVENTS, type_by="kind", lazy=True)


def test_errors_point_into_the_text():
    with pytest.raises(QuerySyntaxError) as caught:
        ost.match("TOY a THEN b AS P; FIND c", events=EVENTS, type_by="kind")
    assert caught.value.position == (1, 19)


def ostinato(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        command_line.app(args=[str(argument) for argument in arguments])
    return ended.value.code or 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(EVENTS, tmp_path / "events.parquet")
    pq.write_table(TIMED, tmp_path / "timed.parquet")
    for name in ("pairs.toy", "pairs.txt"):
        (tmp_path / name).write_text(TEXT)
    (tmp_path / "seconds.toy").write_text(SECONDS)
    return tmp_path


@pytest.mark.parametrize("said", [("pairs.toy",), ("pairs.txt",), ("pairs.txt", "--language", "toy")])
def test_the_command_runs_it(folder, capfdbinary, said):
    given = ("-i", "events=events.parquet", "--type-by", "kind")
    assert ostinato("run", *said, *given, "--format", "jsonl") == 0
    (match,) = map(json.loads, capfdbinary.readouterr().out.splitlines())
    assert (match["v1"]["x"], match["v2"]["x"]) == (1, 2)
    assert ostinato("explain", *said, *given, "--stage", "syntax") == 0
    assert capfdbinary.readouterr().out.decode().strip() == TEXT


def test_the_command_refuses_what_it_does_not_offer(folder, capsys):
    given = ("pairs.toy", "-i", "events=events.parquet", "--type-by", "kind")
    assert ostinato("run", *given, "--output", "count") == 2
    assert "--output is not offered by Toy" in capsys.readouterr().err
    assert ostinato("run", *given, "--lazy", "-o", "out.parquet") == 2
    assert ostinato("run", "pairs.txt", "-i", "events=events.parquet", "--language", "klingon") == 2
    assert "choose sql or neel or sase or tpstream or cel or toy" in capsys.readouterr().err
    assert ostinato("run", TEXT, "-i", "events=events.parquet") == 1
    assert "This is a query" in capsys.readouterr().err


def test_texts_of_no_language_are_told_about_it():
    with pytest.raises(QuerySyntaxError) as caught:
        ost.match("FIND something", events=EVENTS)
    assert "Toy begins with TOY" in caught.value.hint and '"toy"' in caught.value.hint
    with pytest.raises(OstinatoError) as named:
        ost.match(TEXT, language="klingon", events=EVENTS)
    assert named.value.hint == "the languages are sql, neel, sase, tpstream, cel, toy"


def test_it_can_be_forgotten():
    registry.unregister(TOY.name)
    try:
        with pytest.raises(QuerySyntaxError, match="no query of a language"):
            ost.match(TEXT, events=EVENTS, type_by="kind")
    finally:
        registry.register(TOY)


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_spark_runs_it(spark, folder):
    engine = ost.on(spark)
    frame = spark.read.parquet(str(folder / "timed.parquet"))
    for options in ({}, {"language": "toy"}):
        assert ends(engine.match(SECONDS, events=frame, type_by="kind", **options).toArrow()) == [(1, 2)]
    assert "strategy: " in engine.explain(SECONDS, events=frame, type_by="kind")
    with pytest.raises(OstinatoError, match="output= is not offered by Toy"):
        engine.match(SECONDS, events=frame, type_by="kind", output="count")


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_spark_streams_it(spark, folder):
    engine = ost.on(spark)
    (folder / "in").mkdir()
    pq.write_table(TIMED, folder / "in" / "0.parquet")
    frame = engine.match(SECONDS, events=engine.read_stream(str(folder / "in"), ends=True), type_by="kind", lateness="1 second")
    writer = frame.writeStream.format("parquet").option("path", str(folder / "out"))
    running = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    running.awaitTermination()
    assert ends(spark.read.parquet(str(folder / "out")).toArrow()) == [(1, 2)]


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.slow
def test_the_command_runs_it_on_spark(folder):
    """In a process of its own: the command stops its Spark."""
    code = "from ostinato.lang.registry import register; from tests.unit.lang.toy_language import TOY; register(TOY)"
    given = ("seconds.toy", "-i", "events=timed.parquet", "--type-by", "kind", "--engine", "spark", "--format", "jsonl")
    finished = subprocess.run(
        [sys.executable, "-c", f"{code}; from ostinato.cli.main import app; app()", "run", *given],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    (match,) = map(json.loads, finished.stdout.splitlines())
    assert (match["v1"]["x"], match["v2"]["x"]) == (1, 2)
