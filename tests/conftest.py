"""Fixtures that all tests share."""

from __future__ import annotations

import pytest

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
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One local Spark session for all tests of a process that need one."""
    from ostinato.hosts.spark import local

    session = local(cores=2, **QUICK_TO_START, **{"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))})
    yield session
    session.stop()
