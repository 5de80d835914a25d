"""Spark Structured Streaming in the conformance suite, through the calls of a user. Rows come in two files, a micro-batch each, and
nothing is late: matches are decided as time goes on. Cases with the same rows are the queries of one set.

What only the end of a stream decides comes with the end where the source has one (`ends=True`). Spark's source has none; there, what the
last watermark leaves undecided is left to a session in this process that has seen the same rows and the same watermark."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from tests.conformance.case import Case, Outcome
from tests.conformance.compiled_case import compiled
from tests.conformance.engines import table_found
from tests.conformance.selection import rows_of
from tests.conformance.spark_engines import cause_of, spark_session

from ostinato.base.errors import OstinatoError, SchemaError
from ostinato.hosts.spark import on
from ostinato.hosts.spark.types import to_spark_schema
from ostinato.query_set import QUERY_ID, QuerySet

OWN, SPARKS = "own source", "Spark's source"
BUCKETS = 3


@dataclass
class Together:
    """Cases that read the same rows, by number."""

    cases: dict[str, Case]
    queries: QuerySet

    def add(self, number: str, case: Case) -> bool:
        """Whether it has a place here: in one table a name has one type."""
        try:
            self.queries.add(number, case.text, language=case.language, **case.options)
        except SchemaError:
            return False
        self.cases[number] = case
        return True


class SparkStreamEngine:
    def __init__(self, source: str) -> None:
        self.name = self.source = source

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        outcomes: dict[str, Outcome] = {}
        groups: dict[Hashable, list[Together]] = {}
        for number, case in enumerate(cases):
            try:
                key = rows_of(case, compiled(case))
                self._check(case)
            except OstinatoError as error:
                outcomes[str(number)] = Outcome(error=error)
                continue
            if not any(group.add(str(number), case) for group in groups.setdefault(key, [])):
                groups[key].append(Together({}, QuerySet({case.stream: case.table.schema})))
                assert groups[key][-1].add(str(number), case)
        for group in (group for found in groups.values() for group in found):
            outcomes |= self._outcomes(group)
        return [outcomes[str(number)] for number in range(len(cases))]

    def _check(self, case: Case) -> None:
        """Raises what a user sees if the case is nothing for a stream."""
        session = spark_session()
        with tempfile.TemporaryDirectory() as folder:
            stream = session.readStream.schema(to_spark_schema(case.table.schema)).parquet(folder)
            on(session).match(case.text, language=case.language, lateness=0, **case.options, **{case.stream: stream})

    def _outcomes(self, group: Together) -> dict[str, Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = self._found(group, Path(folder))
            except PySparkException as error:
                return dict.fromkeys(group.cases, Outcome(error=cause_of(error)))
        return {number: Outcome(found=table_found(case, found[number])) for number, case in group.cases.items()}

    def _found(self, group: Together, folder: Path) -> dict[str, pa.Table]:
        session = spark_session()
        rows = in_order(group)
        write(rows, folder / "in")
        frame = self._matches(session, group, folder / "in", rows.schema)
        name = f"conformance_{id(group)}"
        writer = frame.writeStream.format("memory").queryName(name).option("checkpointLocation", str(folder / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        streamed = session.table(name).toArrow()
        session.catalog.dropTempView(name)
        found = apart(streamed, group)
        return found if self.source == OWN else with_the_rest(found, group, rows)

    def _matches(self, session: SparkSession, group: Together, folder: Path, schema: pa.Schema) -> DataFrame:
        engine = on(session)
        if self.source == OWN:
            stream: Any = engine.read_stream(str(folder), rows_per_batch=1, ends=True)
        else:
            stream = session.readStream.schema(to_spark_schema(schema)).option("maxFilesPerTrigger", 1).parquet(str(folder))
        if len(group.cases) > 1:
            return engine.match_all(group.queries, lateness=0, buckets=BUCKETS, **dict.fromkeys(group.queries.schemas, stream))
        (case,) = group.cases.values()
        return engine.match(case.text, language=case.language, lateness=0, buckets=BUCKETS, **case.options, **{case.stream: stream})


def in_order(group: Together) -> pa.Table:
    """By time: no row is late."""
    number, case = next(iter(group.cases.items()))
    time = group.queries[number].pattern.reads.time_name
    table = case.table
    places = pa.array(range(table.num_rows), pa.int64())
    return table.append_column("__place", places).sort_by([(time, "ascending"), ("__place", "ascending")]).drop_columns(["__place"])


def write(rows: pa.Table, folder: Path) -> None:
    folder.mkdir()
    half = (rows.num_rows + 1) // 2
    for number, part in enumerate((rows.slice(0, half), rows.slice(half))):
        file = folder / f"{number}.parquet"
        pq.write_table(part, file)
        os.utime(file, (1_000_000 + number, 1_000_000 + number))  # a stream takes files in the order of their age


def apart(streamed: pa.Table, group: Together) -> dict[str, pa.Table]:
    """The rows of each case, in the columns of its query."""
    if len(group.cases) == 1:
        return dict.fromkeys(group.cases, streamed)
    owners = streamed.column(QUERY_ID).to_pylist()
    found = {}
    for number in group.cases:
        own = streamed.take(pa.array([place for place, owner in enumerate(owners) if owner == number], pa.int64()))
        found[number] = own.select(group.queries[number].output_schema.names)
    return found


def with_the_rest(found: dict[str, pa.Table], group: Together, rows: pa.Table) -> dict[str, pa.Table]:
    session = group.queries.open(lateness=0)
    for stream in group.queries.schemas:
        session.push(stream, rows)
    rest = session.close()
    return {number: pa.concat_tables([table, _numbered_apart(rest[number], table.schema)]) if number in rest else table
            for number, table in found.items()}  # fmt: skip


def _numbered_apart(rest: pa.Table, schema: pa.Schema) -> pa.Table:
    """Numbers of matches are those of a host: here they are none that Spark has given."""
    if "match_id" in rest.column_names:
        rest = rest.set_column(0, "match_id", pa.array([-1 - number for number in range(rest.num_rows)], pa.int64()))
    return rest.cast(schema)
