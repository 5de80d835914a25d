"""The process of Spark that forks Python workers, with everything loaded that workers need: tests start dozens of them, and each takes two
seconds of a processor until it has imported what it runs. What a worker loads by itself is for tests/conformance/test_plain_session.py."""

import sys

import pandas  # noqa: F401
import pyarrow.dataset
import pyarrow.parquet  # noqa: F401
import pyspark.sql.streaming.stateful_processor_util
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import ostinato.hosts.spark.batch.read_ranges
import ostinato.hosts.spark.batch.sorted_partitions
import ostinato.hosts.spark.streaming.bucket_processor
import ostinato.hosts.spark.streaming.match_source  # noqa: F401
from ostinato.kernels import _jit


def load_kernels() -> None:
    """Those that lie compiled in the cache; nothing is compiled."""
    _jit._import_kernels()
    for dispatcher, signature in [*_jit._registered, *_jit._seldom]:
        if dispatcher.is_stored(signature):
            dispatcher.compile(signature)


if __name__ == "__main__":
    if sys.argv[1:] == ["pyspark.worker"]:  # others plan
        load_kernels()
    manager()
