"""Python loads this whenever it starts with this directory on its path. Spark's own daemons fork a process for every step in which a stream
is planned; what these need is loaded before."""

import sys

if sys.orig_argv[1:3] == ["-m", "pyspark.daemon"]:
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import pyspark.worker  # noqa: F401

    import ostinato.hosts.spark.streaming.parquet_stream  # noqa: F401
