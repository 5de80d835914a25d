"""Event patterns in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.compiler import compile, recognise
from ostinato.hosts.embedded.inputs import sources_of
from ostinato.hosts.embedded.lazy_result import LazyResult
from ostinato.hosts.embedded.merged_source import MergedSource
from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.run_query import Lateness, add_counts, run_in_parts, run_query
from ostinato.hosts.embedded.source import RowSource, Source
from ostinato.hosts.embedded.sql import sql
from ostinato.hosts.embedded.table_source import TableSource
from ostinato.hosts.embedded.timed_rows import TimedRows
from ostinato.hosts.given_streams import check_options, named_streams, refuse_for_sql
from ostinato.hosts.sandbox import Sandbox, Watch, sandbox_of
from ostinato.query import Query
from ostinato.runtime.budget import Budget


def match(
    text: str,
    /,
    *unnamed: object,
    language: str | None = None,
    output: str | None = None,
    type_by: str | None = None,
    time: str | Mapping[str, str] | None = None,
    lateness: Lateness | None = None,
    ties: str | None = None,
    strategy: str | None = None,
    budget: Budget | None = None,
    lazy: bool = False,
    sandbox: bool | Sandbox = False,
    streams: Mapping[str, Any] | None = None,
    **named: Any,
) -> Result:
    """Find a pattern in streams, given by the names that the query uses: `ticks=...`, or in the mapping `streams`.
    The language is recognised unless `language` says it.

    `time` names the time column if it is not `ts` (for several streams also as a mapping from streams to columns), `type_by` the column
    that holds the event type, `output` what is reported. All rows are put in order of time first, unless `lateness` says how late rows may
    come: then they are taken as they arrive. What one query returns may be a stream of another.
    `budget` is how much state the query may hold, and what happens beyond; `strategy` forces a way to evaluate it, for comparison.
    `lazy`: nothing is evaluated before the result is read; its `batches()` come one by one, so that there may be more matches than fit
    into memory.
    `sandbox=True` is for texts of others: time and memory are limited (`ost.Sandbox`), and SQL reads no more than the named streams.
    """
    options: dict[str, Any] = {"output": output, "type_by": type_by, "time": time, "ties": ties, "strategy": strategy}
    check_options(language=language, lateness=lateness, budget=budget, lazy=lazy, **options)
    given = named_streams(unnamed, streams, named)
    closed = sandbox_of(sandbox)
    try:
        if (language or recognise(text)) == "sql":
            refuse_for_sql(lateness=lateness, budget=budget, lazy=lazy or None, **options)
            return sql(text, streams=given, sandbox=closed or False)
        watch = None if closed is None else Watch(closed)
        budget = budget if closed is None else closed.budget(budget)
        sources = sources_of(given)
        schemas = {source.name: source.schema for source in sources.values()}
        query = compile(text, schemas, language=language, **options)
        return _lazily(query, sources, lateness, budget, watch) if lazy else _run(query, sources, lateness, budget, watch)
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


def _run(query: Query, sources: dict[str, Source], lateness: Lateness | None, budget: Budget | None, watch: Watch | None) -> Result:
    metrics = _run_feeds(query, sources, lateness, budget, watch)
    found, counted = run_query(replace(query, feeds=()), _rows(query, sources, watch), lateness, budget)
    add_counts(metrics, counted)
    return Result(found, metrics)


def _run_feeds(
    query: Query, sources: dict[str, Source], lateness: Lateness | None, budget: Budget | None, watch: Watch | None
) -> dict[str, int]:
    """Queries of the same text first, whose events are further streams."""
    metrics: dict[str, int] = {}
    for step in query.feeds:
        found, counted = run_query(replace(step, feeds=()), _rows(step, sources, watch), lateness, budget)
        add_counts(metrics, counted)
        sources[str(step.composite).lower()] = TableSource(str(step.composite), found)
    return metrics


def _rows(query: Query, sources: dict[str, Source], watch: Watch | None) -> RowSource:
    rows = MergedSource(query.algebra, sources) if query.algebra.parts else sources[query.program.stream.lower()]
    return rows if watch is None else TimedRows(rows, watch)


def _lazily(query: Query, sources: dict[str, Source], lateness: Lateness | None, budget: Budget | None, watch: Watch | None) -> LazyResult:
    def whole() -> tuple[pa.Table, dict[str, int]]:
        try:
            found = _run(query, sources, lateness, budget, watch)
        except OstinatoError as error:
            raise error.within(query.text) from error.__cause__
        return found.to_arrow(), found.metrics

    def parts(metrics: dict[str, int]) -> Iterator[pa.Table]:
        try:
            metrics |= _run_feeds(query, sources, lateness, budget, watch)
            for table in run_in_parts(replace(query, feeds=()), _rows(query, sources, watch), metrics, lateness, budget):
                if watch is not None:
                    watch.check()
                yield table
        except OstinatoError as error:
            raise error.within(query.text) from error.__cause__

    return LazyResult(query.output_schema, whole, parts)
