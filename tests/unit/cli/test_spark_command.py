"""The command on Spark, in a process of its own: it stops the session that it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pyarrow.parquet
import pytest

from ostinato.cli.demo.feed import market_feed
from ostinato.cli.demo.queries import BURST, V_SHAPE

COMMAND = [sys.executable, "-m", "ostinato.cli.main"]


QUICK_TO_START = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}  # as in conftest


def ostinato(folder, *arguments):
    environment = {**os.environ, **QUICK_TO_START}
    return subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=280, env=environment)


@pytest.mark.spark
def test_spark_gives_what_the_embedded_engine_gives(tmp_path):
    pyarrow.parquet.write_table(market_feed(1_000).ticks, tmp_path / "ticks.parquet")
    (tmp_path / "v.sql").write_text(V_SHAPE)
    found = {}
    for engine in ("embedded", "spark"):
        finished = ostinato(tmp_path, "run", "v.sql", "-i", "ticks=ticks.parquet", "--engine", engine, "-o", f"{engine}.jsonl")
        assert finished.returncode == 0, finished.stderr
        rows = [json.loads(line) for line in (tmp_path / f"{engine}.jsonl").read_text().splitlines()]
        found[engine] = sorted((row["symbol"], row["start_ts"], row["bottom_price"], row["ticks"]) for row in rows)
    assert len(found["embedded"]) > 5
    assert found["spark"] == found["embedded"]


@pytest.mark.slow  # a session of its own; what the command says about errors is tested without one, what Spark says in hosts/spark
@pytest.mark.spark
def test_an_error_is_shown_in_the_text(tmp_path):
    pyarrow.parquet.write_table(market_feed(1_000).ticks, tmp_path / "ticks.parquet")
    (tmp_path / "broken.sql").write_text(V_SHAPE.replace("PEAK.price", "PEAK.prize"))
    finished = ostinato(tmp_path, "run", "broken.sql", "-i", "ticks=ticks.parquet", "--engine", "spark", "-o", "out.csv")
    assert finished.returncode == 1
    assert "prize" in finished.stderr and "^" in finished.stderr
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.slow
@pytest.mark.spark
def test_the_demonstration(tmp_path):
    finished = ostinato(tmp_path, "demo", "-o", "shown", "--ticks", "600")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.count("the same matches") == 2
    assert (tmp_path / "shown" / "matches.png").stat().st_size > 10_000
    page = (tmp_path / "shown" / "index.html").read_text()
    assert "MATCH_RECOGNIZE" in page and BURST.splitlines()[0] in page
    assert list((tmp_path / "shown" / "archive").glob("*.parquet"))
