"""What a session needs and does not have: chosen, or refused with the line to add. Stand-ins, and one Spark."""

from __future__ import annotations

import logging
import os
import sys
from types import SimpleNamespace

import pytest

from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.hosts.spark import on
from ostinato.hosts.spark.parallelism import is_connect
from ostinato.hosts.spark.python_workers import _answer, _check_release, _reason, check_workers, use_this_python
from ostinato.hosts.spark.streaming.stream_settings import PARTITIONS, PARTITIONS_OF_BATCHES, PROVIDER, ROCKSDB, ready_for_streams

DEFAULTS = {
    PROVIDER: "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    PARTITIONS: "200",
    PARTITIONS_OF_BATCHES: None,
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
}


class Conf:
    """Settings as Spark's: a value that nobody set is the default, or what the caller wants instead."""

    def __init__(self, chosen: dict[str, str]) -> None:
        self.chosen = dict(chosen)

    def get(self, name: str, *instead: str | None) -> str | None:
        return self.chosen.get(name, instead[0] if instead else DEFAULTS[name])

    def set(self, name: str, value: str) -> None:
        self.chosen[name] = value


def session(chosen: dict[str, str] | None = None, master: str = "local[4]") -> SimpleNamespace:
    context = SimpleNamespace(master=master, defaultParallelism=4, pythonExec="python3", environment={})
    return SimpleNamespace(conf=Conf(chosen or {}), sparkContext=context)


def test_what_nobody_chose_is_chosen_and_said_once(caplog) -> None:
    plain = session()
    with caplog.at_level(logging.INFO, "ostinato"):
        ready_for_streams(plain, 8)
        ready_for_streams(plain, 8)
    assert plain.conf.chosen == {PROVIDER: ROCKSDB, PARTITIONS: "4", PARTITIONS_OF_BATCHES: "200"}
    assert len(caplog.messages) == 3 and f'spark.conf.set("{PROVIDER}", "{ROCKSDB}")' in caplog.messages[0]


def test_on_a_cluster_there_are_as_many_partitions_as_buckets() -> None:
    cluster = session(master="spark://host:7077")
    ready_for_streams(cluster, 1)  # later streams of the session may have keys
    assert cluster.conf.chosen[PARTITIONS] == "8"
    wide = session(master="yarn")
    ready_for_streams(wide, 64)
    assert wide.conf.chosen[PARTITIONS] == "64"


def test_a_choice_that_works_is_left_alone(caplog) -> None:
    chosen = {PROVIDER: "com.example.AnotherProvider", PARTITIONS: "12"}
    own = session(chosen)
    ready_for_streams(own, 8)
    assert own.conf.chosen == chosen and not caplog.messages
    many = session({PROVIDER: ROCKSDB, PARTITIONS: "200"})
    ready_for_streams(many, 8)
    assert many.conf.chosen[PARTITIONS] == "200" and "streams are faster with" in caplog.messages[0]
    ready_for_streams(session({PROVIDER: ROCKSDB, PARTITIONS: "auto"}), 8)
    kept = session({PARTITIONS_OF_BATCHES: "64"})
    ready_for_streams(kept, 8)
    assert kept.conf.chosen[PARTITIONS_OF_BATCHES] == "64"


def test_what_cannot_work_is_refused_with_the_line_to_add() -> None:
    with pytest.raises(UnsupportedError, match="state store") as refused:
        ready_for_streams(session({PROVIDER: DEFAULTS[PROVIDER]}), 8)
    assert refused.value.hint == f'spark.conf.set("{PROVIDER}", "{ROCKSDB}")'
    with pytest.raises(UnsupportedError, match="200 tasks") as refused:
        ready_for_streams(session({"spark.sql.adaptive.enabled": "false"}), 8)
    assert refused.value.hint == f'spark.conf.set("{PARTITIONS}", "4")'


def test_workers_of_a_local_session_are_this_python(monkeypatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    plain = session()
    use_this_python(plain)
    assert plain.sparkContext.pythonExec == sys.executable
    check_workers(plain)  # asks nobody
    for untouched in (session(master="yarn"), session(master="spark://host:7077")):
        use_this_python(untouched)
        assert untouched.sparkContext.pythonExec == "python3" and not untouched.sparkContext.environment
    monkeypatch.setenv("PYSPARK_PYTHON", "python3.99")
    own = session()
    use_this_python(own)
    assert own.sparkContext.pythonExec == "python3"


def test_another_release_on_the_workers_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="workers have Ostinato 7,"):
        _check_release("7")


def test_the_reason_is_the_one_of_the_worker() -> None:
    text = "[PYTHON_EXCEPTION] An exception\nTraceback:\n  x\nModuleNotFoundError: No module named 'ostinato'\n SQLSTATE: 38000\n\n at org"
    assert _reason(text) == "ModuleNotFoundError: No module named 'ostinato'"
    assert _reason("Cannot run program") == "Cannot run program"


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(OstinatoError, match="needs a Spark session, this is a int"):
        on(5)


def test_a_client_of_spark_connect_is_known_by_its_type() -> None:
    client = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    assert is_connect(client) and not is_connect(session())
    assert on(client).spark is client  # without a context to ask


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_workers_that_cannot_run_the_engine_are_found_before_a_query_starts(spark, tmp_path, monkeypatch) -> None:
    bare = tmp_path / "python"  # a Python without packages
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    os.chmod(bare, 0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))
    with pytest.raises(UnsupportedError, match="workers cannot run Ostinato") as refused:
        _answer(spark)
    assert "No module named" in refused.value.detail and "PYSPARK_PYTHON" in refused.value.hint
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    _check_release(_answer(spark))
