"""The process of Spark that forks Python workers, with everything loaded that workers need: tests start dozens of them, and each takes two
seconds of a processor until it has imported what it runs. What a worker loads by itself is for tests/conformance/test_plain_session.py."""

import sys
from importlib import import_module
from importlib.util import find_spec

from pyspark.daemon import manager

NEEDED = (
    "pyarrow.dataset",
    "pyarrow.parquet",
    "pyspark.sql.streaming.stateful_processor_util",
    "pyspark.worker",
    "ostinato.hosts.spark.batch.read_ranges",
    "ostinato.hosts.spark.batch.sorted_partitions",
    "ostinato.hosts.spark.streaming.bucket_processor",
    "ostinato.hosts.spark.streaming.match_source",
)


def load_kernels() -> None:
    """Those that lie compiled in the cache; nothing is compiled."""
    _jit = import_module("ostinato.kernels._jit")
    _jit._import_kernels()
    for dispatcher, signature in [*_jit._registered, *_jit._seldom]:
        if dispatcher.is_stored(signature):
            dispatcher.compile(signature)


if __name__ == "__main__":
    if find_spec("pandas") is not None:  # a test has workers without any package
        for name in NEEDED:
            import_module(name)
        if sys.argv[1:] == ["pyspark.worker"]:  # others plan
            load_kernels()
    manager()
