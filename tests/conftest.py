"""Fixtures that all tests share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One local Spark session for all tests that need one."""
    from ostinato.hosts.spark import local

    warehouse = tmp_path_factory.mktemp("warehouse")
    session = local(cores=2, **{"spark.sql.warehouse.dir": str(warehouse), "spark.log.level": "ERROR"})
    yield session
    session.stop()
