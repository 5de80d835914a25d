"""The Spark session of the benchmarks, and the places where their data lies."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from ostinato.hosts.spark import local


@contextmanager
def spark_and_folder(cores: int = 2) -> Iterator[tuple[SparkSession, Path]]:
    folder = Path(tempfile.mkdtemp(prefix="ostinato-bench-"))
    quiet = {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}
    session = local(cores, **quiet, **{"spark.sql.warehouse.dir": str(folder / "warehouse")})
    try:
        yield session, folder
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


def consume(frame: DataFrame) -> None:
    """Compute every row and keep none."""
    frame.write.format("noop").mode("overwrite").save()
