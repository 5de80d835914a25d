"""The way in: `on(spark)` gives the same calls as the embedded engine, `local()` a Spark session that is set up well."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ostinato.base.errors import OstinatoError, SchemaError, UnsupportedError
from ostinato.compiler import compile_text
from ostinato.hosts.given_streams import check_options, chosen_language, named_streams
from ostinato.hosts.sandbox import Sandbox, sandbox_of
from ostinato.hosts.spark.collations import is_collated
from ostinato.hosts.spark.match_all import match_all
from ostinato.hosts.spark.parallelism import is_connect
from ostinato.hosts.spark.python_workers import use_this_python, with_package
from ostinato.hosts.spark.run_match import division, run_match
from ostinato.hosts.spark.run_options import Lateness, RunOptions
from ostinato.hosts.spark.sandbox_time import in_time
from ostinato.hosts.spark.source import Source, read_path, resolve, schema_of
from ostinato.hosts.spark.statement import DIALECT, explain_statement, run_statement
from ostinato.hosts.spark.streaming.parquet_stream import ParquetStream
from ostinato.hosts.spark.streaming.stream_settings import PARTITIONS, PROVIDER, ROCKSDB
from ostinato.hosts.spark.types import left_out, to_arrow_schema
from ostinato.lang.compile_options import CompileOptions
from ostinato.query import Query
from ostinato.query_set import QuerySet
from ostinato.runtime.limits.budget import Budget


def on(spark: SparkSession, *, sandbox: bool | Sandbox = False) -> SparkEngine:
    """The engine on a session, also on a client of Spark Connect. `sandbox=True`: all texts are those of others."""
    _check_session(spark)
    return SparkEngine(spark, sandbox_of(sandbox))


def _check_session(given: object) -> None:
    if not isinstance(given, SparkSession) and not is_connect(given):
        raise OstinatoError(f"on() needs a Spark session, this is a {type(given).__name__}", hint="pass SparkSession.builder.getOrCreate()")


class SparkEngine:
    """Batch DataFrames give batch DataFrames, streaming ones give streaming ones."""

    def __init__(self, spark: SparkSession, sandbox: Sandbox | None = None) -> None:
        self.spark = spark
        self.sandbox = sandbox
        use_this_python(spark)

    def sql(
        self,
        text: str,
        /,
        *unnamed: object,
        lateness: Lateness | None = None,
        late: str | None = None,
        buckets: int | None = None,
        path: str | None = None,
        tail_of: str | None = None,
        writes: bool = False,
        sandbox: bool | Sandbox = False,
        streams: Mapping[str, object] | None = None,
        **named: object,
    ) -> DataFrame:
        """A SQL statement with MATCH_RECOGNIZE clauses in it. Tables are Spark's own; `ticks=...`, or the mapping `streams`, adds names
        for this statement. `lateness`, `late` and `buckets` are for streaming tables; `late="keep"` puts rows that come too late into the
        result, in a column `late` with the reason. A statement that writes is refused unless it is asked for with `writes=True`;
        `sandbox=True` is for texts of others: they read the named streams alone, and call no code.
        `tail_of` is the checkpoint of a stream of this text that has ended: what it left undecided comes back as a batch, decided as if
        nothing came any more."""
        check_options(lateness=lateness, late=late, buckets=buckets, path=path, writes=writes, tail_of=tail_of)
        closed = self._sandbox(sandbox, text)
        if closed is not None and writes:
            raise OstinatoError("writes=True in the sandbox", hint="The sandbox never writes: leave one of them out")
        given = self._resolved(unnamed, streams, named)
        budget = None if closed is None else closed.budget(None)
        with in_time(self.spark, closed):
            return run_statement(self.spark, text, given, RunOptions(lateness, buckets, path, budget, late, writes, closed, tail_of))

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """For what is done with the DataFrame of a sandboxed text: jobs that this thread starts inside (`with engine.in_time():
        frame.toArrow()`) are cancelled after the seconds of the engine's sandbox."""
        with in_time(self.spark, self.sandbox):
            yield

    def _sandbox(self, given: bool | Sandbox, text: str) -> Sandbox | None:
        """That of the engine is not left by a call."""
        return sandbox_of(given, text) or sandbox_of(self.sandbox, text)

    def match(
        self,
        text: str,
        /,
        *unnamed: object,
        language: str | None = None,
        output: str | None = None,
        type_by: str | None = None,
        time: str | Mapping[str, str] | None = None,
        ties: str | None = None,
        latency: str | None = None,
        strategy: str | None = None,
        budget: Budget | None = None,
        lateness: Lateness | None = None,
        late: str | None = None,
        buckets: int | None = None,
        path: str | None = None,
        tail_of: str | None = None,
        sandbox: bool | Sandbox = False,
        streams: Mapping[str, object] | None = None,
        **named: object,
    ) -> DataFrame:
        """A query in any language over streams by name (`ticks=...`, or in the mapping `streams`); several are merged by time.
        `budget` is how much state a task may hold, on streams a bucket of keys, and what happens beyond. `path` forces a
        way to divide the work ("time ranges", "by key", "one partition"), `strategy` one to evaluate it, both for comparison.
        `late="keep"`, on streams, puts rows that come too late into the result, in a column `late` with the reason.
        `sandbox=True` is for texts of others; `tail_of` is as in `sql`."""
        closed = self._sandbox(sandbox, text)
        options: dict[str, Any] = {"output": output, "type_by": type_by, "time": time, "ties": ties}
        options |= {"latency": latency, "strategy": strategy}
        hosted: dict[str, Any] = {"lateness": lateness, "late": late, "buckets": buckets, "path": path, "tail_of": tail_of}
        check_options(language=language, budget=budget, **hosted, **options)
        chosen = chosen_language(text, language, budget=budget, **options)
        if chosen.is_statement:
            return self.sql(text, sandbox=closed or False, streams=named_streams(unnamed, streams, named), **hosted)
        given = self._resolved(unnamed, streams, named)
        query = self._compiled(text, given, CompileOptions(chosen.name, dialect=DIALECT, sandboxed=closed is not None, **options))
        allowed = budget if closed is None else closed.budget(budget)
        with in_time(self.spark, closed):
            return run_match(self.spark, query, given, RunOptions(lateness, buckets, path, allowed, late, tail_of=tail_of))

    def match_all(
        self,
        queries: QuerySet,
        /,
        *unnamed: object,
        budget: Budget | None = None,
        lateness: Lateness | None = None,
        buckets: int | None = None,
        on_error: str = "quarantine",
        rule_log: str | os.PathLike[str] | None = None,
        keys: str | Sequence[str] | None = None,
        tail_of: str | None = None,
        streams: Mapping[str, object] | None = None,
        **named: object,
    ) -> DataFrame:
        """All queries of a set over streams by name: one DataFrame with a column `query_id` and the columns of all results, null where a
        query has none. Batches are read once for all queries that read the same streams in the same order; a stream has one stateful
        operator. `lateness`, `buckets` and `budget` are as in `match`. `on_error`: a query that fails is put aside in the task or bucket
        where it does, and its error is a row of the result, in the last column, `query_error`, which matches have null; with "raise"
        there is no such column, and an error ends the job.
        `rule_log`, on streams: a directory of its own, which is kept beside the checkpoint. What the set is told from then on (`sync`,
        `add`, `remove`, `restart`) is written there, and a stream that runs takes it in with its next micro-batch; one that is started
        again with another set goes on with what has not changed. `keys`: the columns by which all queries, also later ones, are keyed;
        those that the queries have in common, unless you say so. `tail_of` is as in `sql`, for a set that does not change."""
        check_options(lateness=lateness, buckets=buckets, budget=budget, on_error=on_error, rule_log=rule_log, keys=keys, tail_of=tail_of)
        given = self._resolved(unnamed, streams, named)
        own = None if keys is None else (keys,) if isinstance(keys, str) else tuple(keys)
        log = None if rule_log is None else os.fspath(rule_log)
        if log is not None and "://" not in log:
            log = os.path.abspath(log)  # workers are at home elsewhere
        told = RunOptions(lateness, buckets, None, budget, tail_of=tail_of, on_error=on_error, rule_log=log, keys=own)
        return match_all(self.spark, queries, given, told)

    def explain(
        self,
        text: str,
        /,
        *unnamed: object,
        stage: str = "plan",
        language: str | None = None,
        output: str | None = None,
        type_by: str | None = None,
        time: str | Mapping[str, str] | None = None,
        ties: str | None = None,
        latency: str | None = None,
        strategy: str | None = None,
        sandbox: bool | Sandbox = False,
        streams: Mapping[str, object] | None = None,
        **named: object,
    ) -> str:
        """A stage of the query, of a statement that of every clause; and for the plan how Spark will divide the work."""
        options: dict[str, Any] = {"output": output, "type_by": type_by, "time": time, "ties": ties}
        options |= {"latency": latency, "strategy": strategy}
        check_options(stage=stage, language=language, **options)
        given = self._resolved(unnamed, streams, named)
        chosen = chosen_language(text, language, **options)
        if chosen.is_statement:
            return explain_statement(self.spark, text, given, stage, RunOptions(sandbox=self._sandbox(sandbox, text)))
        closed = self._sandbox(sandbox, text)
        query = self._compiled(text, given, CompileOptions(chosen.name, dialect=DIALECT, sandboxed=closed is not None, **options))
        shown = query.explain(stage)
        return shown if stage != "plan" else f"{shown}\n{division(query, given)}"

    def _resolved(
        self, unnamed: tuple[object, ...], streams: Mapping[str, object] | None, named: Mapping[str, object]
    ) -> dict[str, Source]:
        return {name: resolve(self.spark, name, value) for name, value in named_streams(unnamed, streams, named).items()}

    def read_stream(
        self,
        path: str,
        *,
        schema: StructType | str | None = None,
        rows_per_batch: int | None = None,
        repaired: bool = False,
        ends: bool = False,
    ) -> ParquetStream:
        """A directory of Parquet files as a stream whose tasks read the files themselves. Pass it in place of a streaming
        DataFrame. `schema` is needed while the directory is empty; `rows_per_batch` limits a micro-batch (whole files are taken).
        A file is read once, by its name; one that changes or vanishes after it was planned stops the stream, unless it was `repaired`.
        `ends`: the files are all that there will ever be. Run by `trigger(availableNow=True)`, the stream then decides its last matches
        too, as a batch would."""
        if any(sign in path for sign in "*?["):
            raise UnsupportedError("a stream reads a whole directory", hint="pass the directory without a pattern")
        known = read_path(self.spark, path) if schema is None else self.spark.createDataFrame([], schema)
        for field in left_out(known.schema):
            text = f"the column {field.name!r} of {path} has the type {field.dataType.simpleString()}, which no stream of files can carry"
            raise SchemaError(text, hint="pass a schema= without it, or read the files with spark.readStream")
        for field in known.schema.fields:
            if is_collated(field.dataType):
                text = f"the column {field.name!r} of {path} has the type {field.dataType.simpleString()}: files are read by its bytes"
                raise UnsupportedError(text, hint=f"pass a schema= in which {field.name} is a plain string, or read with spark.readStream")
        return ParquetStream(path, to_arrow_schema(known.schema), rows_per_batch, repaired, ends)

    def _compiled(self, text: str, streams: Mapping[str, Source], options: CompileOptions) -> Query:
        return compile_text(text, {name: schema_of(source) for name, source in streams.items()}, options)


def local(cores: int | None = None, **settings: str) -> SparkSession:
    """A local Spark session with what Ostinato needs: this Python for the workers, few shuffle partitions, the RocksDB state store,
    Arrow, timestamps that Parquet can order, no web page."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = with_package(os.environ.get("PYTHONPATH", ""))
    count = cores or os.cpu_count() or 2
    builder = SparkSession.builder.master(f"local[{count}]").appName("ostinato")
    chosen = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        PARTITIONS: str(count),
        PROVIDER: ROCKSDB,
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.session.timeZone": "UTC",
    } | settings
    for name, value in chosen.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
