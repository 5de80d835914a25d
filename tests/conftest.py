"""Fixtures that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.combinations import leave_to_the_slow_run
from tests.examples import by_default, limit_examples

# Most of what short jobs cost is the JVM compiling code that runs a few times. Without its second compiler and without Spark's generated
# code a session starts in half the CPU time, and a stream of three micro-batches takes 5.9 s of it instead of 7.7 (measured on two cores).
# What a user's session is like, with nothing set, is for tests/conformance/test_plain_session.py.
QUICK_TO_START = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.daemon.module": "preloaded_daemon",
    "spark.executorEnv.PYTHONPATH": str(Path(__file__).parent / "spark_workers"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-examples", action="store_true", help="random tests try as many examples as stands at them, not a quarter")
    parser.addoption("--all-combinations", action="store_true", help="tests of every pair of parameters run all their combinations")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all-combinations"):
        leave_to_the_slow_run(items)
    if not config.getoption("--all-examples"):
        limit_examples((item for item in items if item.get_closest_marker("slow") is None), by_default)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests on Spark stand in few files: loading all the others takes each process ten seconds."""
    if collection_path.suffix == ".py" and config.option.markexpr.startswith("spark and"):
        return "mark.spark" not in collection_path.read_text(encoding="utf-8") or None
    return None


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One local Spark session for all tests of a process that need one."""
    from ostinato.hosts.spark import local

    session = local(cores=2, **QUICK_TO_START, **{"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))})
    yield session
    session.stop()
