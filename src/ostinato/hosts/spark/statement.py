"""SQL statements with MATCH_RECOGNIZE clauses: each clause becomes a view of its matches, the rest is Spark's own SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ostinato.base.errors import OstinatoError, QuerySyntaxError
from ostinato.base.span import Span
from ostinato.compiler import compile_query
from ostinato.hosts.spark.run_match import division_of, run_work
from ostinato.hosts.spark.run_options import RunOptions
from ostinato.hosts.spark.source import Source, is_batch, schema_of
from ostinato.hosts.spark.statement_check import check_reads, check_sandboxed
from ostinato.hosts.spark.temporary_views import temporary_views
from ostinato.hosts.spark.work import Work
from ostinato.lang import sql
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.sql.language import SQL, bound_clause
from ostinato.lang.sql.splice import Spliced
from ostinato.query import Query

DIALECT = "spark"
PLACE = re.compile(r"\(line (\d+), pos (\d+)\)")


@dataclass(frozen=True)
class Step:
    """A clause, its query, and what it reads."""

    number: int
    clause: sql.Clause
    query: Query
    source: Source


def run_statement(
    spark: SparkSession,
    text: str,
    given: Mapping[str, Source],
    options: RunOptions,
) -> DataFrame:
    """Names in `given` stand for their DataFrames in this statement only."""
    to_explain = sql.explained(text)
    if to_explain is not None:
        plan = explain_statement(spark, to_explain, given, "plan", options)
        return spark.createDataFrame([(line,) for line in plan.splitlines()], "plan string")
    try:
        statement = sql.split_statement(text, DIALECT)
        if not statement.bare:
            options.refuse_late("by SQL around a pattern", "write SELECT * FROM stream MATCH_RECOGNIZE (...) and go on with the DataFrame")
        views = {name: source for name, source in given.items() if isinstance(source, DataFrame)}
        batches = []
        for step in _steps(spark, statement, given, views, options):
            batches.append(is_batch(step.source))
            views[step.clause.placeholder] = _found(spark, step, options)
        options.check_used(streams=not all(batches), batches=any(batches))
        return views[statement.clauses[0].placeholder] if statement.bare else _delegated(spark, statement.outer, views, options)
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


def explain_statement(spark: SparkSession, text: str, given: Mapping[str, Source], stage: str, options: RunOptions) -> str:
    """A stage of every clause, and for the plan how Spark divides the work of each and what it executes around them."""
    try:
        statement = sql.split_statement(sql.explained(text) or text, DIALECT)
        if not statement.clauses:
            raise QuerySyntaxError(
                "the statement has no clause MATCH_RECOGNIZE or SITUATIONS OF", hint="Spark explains it: spark.sql(...).explain()"
            )
        views = {name: source for name, source in given.items() if isinstance(source, DataFrame)}
        shown = []
        for step in _steps(spark, statement, given, views, options):
            divided = f"\n{division_of(Work.of(step.query), [step.source])}" if stage == "plan" else ""
            shown.append(step.query.explain(stage) + divided)
            if not statement.bare:
                views[step.clause.placeholder] = _found(spark, step, options)
        if not statement.bare:
            _delegated(spark, statement.outer, views, options)
    except OstinatoError as error:
        raise error.within(text) from error.__cause__
    if len(shown) > 1:
        shown = [f"-- clause {number} of {len(shown)}\n{part}" for number, part in enumerate(shown, 1)]
    if stage == "plan" and not statement.bare:
        shown[-1] += f"\naround the clauses: {' '.join(statement.outer.text.split())}"
    return "\n\n".join(shown)


def _steps(
    spark: SparkSession, statement: sql.SplitStatement, given: Mapping[str, Source], views: Mapping[str, DataFrame], options: RunOptions
) -> Iterator[Step]:
    """The clauses in the order in which they feed each other; `views` has what the earlier ones found."""
    sources = {name.lower(): source for name, source in given.items()}
    for number, clause in enumerate(statement.clauses, 1):
        source = sources.get(clause.table.lower()) if clause.table is not None else None
        if source is None:
            source = _delegated(spark, clause.input, views, options)
        bound = bound_clause(statement, clause, clause.table, schema_of(source))
        query = compile_query(SQL, bound, statement.text, options=CompileOptions(sandboxed=options.sandbox is not None))
        yield Step(number, clause, query, source)


def _found(spark: SparkSession, step: Step, options: RunOptions) -> DataFrame:
    return run_work(spark, Work.of(step.query), [step.source], options)


def _delegated(spark: SparkSession, spliced: Spliced, views: Mapping[str, DataFrame], options: RunOptions) -> DataFrame:
    """Spark analyses a statement at once, so the views are needed only while it does."""
    if options.sandbox is not None:
        check_sandboxed(spark, spliced, frozenset(name.lower() for name in views))
    if not options.writes:
        check_reads(spark, spliced)
    with temporary_views(spark, views):
        try:
            return spark.sql(spliced.text)
        except PySparkException as error:
            place = _place(error, spliced)
            text = "Spark refuses the SQL around the pattern"
            raise QuerySyntaxError(text, detail=_first_line(error), hint=_hint(error), span=place) from error


def _first_line(error: PySparkException) -> str:
    return (error.getMessage() or str(error)).strip().splitlines()[0]


def _hint(error: PySparkException) -> str | None:
    if "[TABLE_OR_VIEW_NOT_FOUND]" not in str(error):
        return None
    return "Pass it by its name, as in sql(text, ticks=frame), or register it with df.createOrReplaceTempView(...)"


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
