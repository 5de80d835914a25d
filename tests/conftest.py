"""Fixtures that all tests share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One local Spark session for all tests that need one."""
    from ostinato.hosts.spark.local import local_session

    warehouse = tmp_path_factory.mktemp("warehouse")
    session = local_session("ostinato tests", cores=2, **{"spark.sql.warehouse.dir": str(warehouse)})
    yield session
    session.stop()
