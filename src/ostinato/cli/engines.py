"""Where `ostinato run` evaluates: in this process, or on a local Spark. Both are imported when asked for: they are heavy."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import pyarrow as pa
from rich.console import Console

from ostinato.base.errors import UnsupportedError
from ostinato.cli.inputs import Input
from ostinato.cli.progress import progress
from ostinato.cli.query_file import QueryFile
from ostinato.cli.settings import MatchSettings
from ostinato.cli.spark_session import spark_session


class EngineName(StrEnum):
    embedded = "embedded"
    spark = "spark"


def evaluate(engine: EngineName, query: QueryFile, streams: Sequence[Input], settings: MatchSettings, errors: Console) -> pa.Table:
    run = _on_spark if engine is EngineName.spark else _embedded
    return run(query, streams, settings, errors)


def _embedded(query: QueryFile, streams: Sequence[Input], settings: MatchSettings, errors: Console) -> pa.Table:
    from ostinato.hosts import embedded

    paths = {stream.name: stream.path for stream in streams}
    with progress("Matching", errors):
        if query.language == "sql":
            return embedded.sql(query.text, **paths).to_arrow()
        return embedded.match(query.text, language=query.language, **settings.given, **paths).to_arrow()


def _on_spark(query: QueryFile, streams: Sequence[Input], settings: MatchSettings, errors: Console) -> pa.Table:
    from ostinato.hosts.spark import on

    with progress("Starting Spark", errors) as meter, spark_session() as session:
        meter.says("Matching on Spark")
        frames = {stream.name: _frame(session, stream) for stream in streams}
        if query.language == "sql":
            return on(session).sql(query.text, **frames).toArrow()
        return on(session).match(query.text, language=query.language, **settings.given, **frames).toArrow()


def _frame(session, stream: Input):
    suffixes = {file.suffix.lower() for file in stream.files if file.is_file()}
    if suffixes == {".csv"}:
        return session.read.csv(stream.path, header=True, inferSchema=True)
    if suffixes <= {".parquet", ".pq"}:
        return session.read.parquet(stream.path)
    raise UnsupportedError(
        f"The input {stream.name} is neither Parquet nor CSV: {stream.path}", hint="Name files that end in .parquet or .csv."
    )
