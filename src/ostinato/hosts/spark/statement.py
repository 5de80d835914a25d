"""SQL statements with MATCH_RECOGNIZE clauses: each clause becomes a view of its matches, the rest is Spark's own SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import OstinatoError, QuerySyntaxError
from ostinato.base.span import Span
from ostinato.compiler import compile_clause
from ostinato.hosts.spark.batch.match_batch import match_batch
from ostinato.hosts.spark.run_options import RunOptions
from ostinato.hosts.spark.source import Source, is_batch, schema_of
from ostinato.hosts.spark.streaming.match_source import match_source
from ostinato.hosts.spark.streaming.match_stream import METRICS
from ostinato.hosts.spark.temporary_views import temporary_views
from ostinato.lang import sql
from ostinato.lang.sql.splice import Spliced

PLACE = re.compile(r"\(line (\d+), pos (\d+)\)")


def run_statement(
    spark: SparkSession,
    text: str,
    given: Mapping[str, Source],
    options: RunOptions,
) -> DataFrame:
    """Names in `given` stand for their DataFrames in this statement only."""
    sources = {name.lower(): source for name, source in given.items()}
    views = {name: source for name, source in given.items() if isinstance(source, DataFrame)}
    try:
        cut = sql.cut(text, "spark")
        for number, clause in enumerate(cut.clauses, 1):
            source = sources.get(clause.table.lower()) if clause.table is not None else None
            if source is None:
                source = _delegated(spark, clause.input, views)
            query = compile_clause(clause, text, schema_of(source), clause.table or f"input {number}")
            if is_batch(source):
                views[clause.placeholder] = match_batch(source, query, options)
            else:
                name = METRICS if number == 1 else f"{METRICS}_{number}"
                views[clause.placeholder] = match_source(spark, source, query, options, name=name)
        return views[cut.clauses[0].placeholder] if cut.bare else _delegated(spark, cut.outer, views)
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


def _delegated(spark: SparkSession, spliced: Spliced, views: Mapping[str, DataFrame]) -> DataFrame:
    """Spark analyses a statement at once, so the views are needed only while it does."""
    with temporary_views(spark, views):
        try:
            return spark.sql(spliced.text)
        except PySparkException as error:
            place = _place(error, spliced)
            raise QuerySyntaxError("Spark refuses the SQL around the pattern", detail=_first_line(error), span=place) from error


def _first_line(error: PySparkException) -> str:
    return (error.getMessage() or str(error)).strip().splitlines()[0]


def _place(error: PySparkException, spliced: Spliced) -> Span | None:
    contexts = error.getQueryContext() or []
    for context in contexts:
        if str(context.contextType()).endswith("SQL"):
            return spliced.origin(context.startIndex()).to(spliced.origin(context.stopIndex()))
    return _parsed_place(str(error), spliced)


def _parsed_place(message: str, spliced: Spliced) -> Span | None:
    """What Spark cannot parse has no context: its place stands in the message alone."""
    said = PLACE.search(message)
    if said is None:
        return None
    line, column = int(said[1]), int(said[2])
    return spliced.origin(sum(len(above) + 1 for above in spliced.text.split("\n")[: line - 1]) + column)
