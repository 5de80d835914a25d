"""A Spark session on this machine, for the command line, the demonstration and the tests."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from ostinato.base.errors import UnsupportedError

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
JAVA_HINT = "Install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    # INT96, the default, has no minimum and maximum in the file: pruning by time would be lost without a word.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def local_session(name: str, cores: int | None = None, **settings: str) -> SparkSession:
    """`cores` None: as many as there are. Workers do not inherit a virtual environment unless they are told."""
    _require_java()
    for variable in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        os.environ[variable] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # a machine need not be able to resolve its own name
    count = cores or os.cpu_count() or 1
    builder = SparkSession.builder.master(f"local[{count}]").appName(name).config("spark.sql.shuffle.partitions", str(count))
    for key, value in {**SETTINGS, **settings}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise UnsupportedError("Spark did not start.", detail=str(error), hint=JAVA_HINT) from error


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return
    if shutil.which("java") is None:
        raise UnsupportedError("Spark needs Java, and there is none.", hint=JAVA_HINT)
