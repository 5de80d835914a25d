"""Event patterns in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ostinato.base.errors import OstinatoError
from ostinato.compiler import compile, recognise
from ostinato.hosts.embedded.inputs import sources_of
from ostinato.hosts.embedded.merged_source import MergedSource
from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.run_query import Lateness, add_counts, run_query
from ostinato.hosts.embedded.source import Source
from ostinato.hosts.embedded.sql import sql
from ostinato.hosts.embedded.table_source import TableSource
from ostinato.hosts.given_streams import check_options, named_streams, refuse_for_sql
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
    streams: Mapping[str, Any] | None = None,
    **named: Any,
) -> Result:
    """Find a pattern in streams, given by the names that the query uses: `ticks=...`, or in the mapping `streams`.
    The language is recognised unless `language` says it.

    `time` names the time column if it is not `ts` (for several streams also as a mapping from streams to columns), `type_by` the column
    that holds the event type, `output` what is reported. All rows are put in order of time first, unless `lateness` says how late rows may
    come: then they are taken as they arrive. What one query returns may be a stream of another.
    `budget` is how much state the query may hold, and what happens beyond; `strategy` forces a way to evaluate it, for comparison.
    """
    options: dict[str, Any] = {"output": output, "type_by": type_by, "time": time, "ties": ties, "strategy": strategy}
    check_options(language=language, lateness=lateness, budget=budget, **options)
    given = named_streams(unnamed, streams, named)
    try:
        if (language or recognise(text)) == "sql":
            refuse_for_sql(lateness=lateness, budget=budget, **options)
            return sql(text, streams=given)
        sources = sources_of(given)
        schemas = {source.name: source.schema for source in sources.values()}
        query = compile(text, schemas, language=language, **options)
        return _run(query, sources, lateness, budget)
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


def _run(query: Query, sources: dict[str, Source], lateness: Lateness | None, budget: Budget | None) -> Result:
    """Queries of the same text first, whose events are further streams."""
    metrics: dict[str, int] = {}
    for step in (*query.feeds, query):
        rows = MergedSource(step.algebra, sources) if step.algebra.parts else sources[step.program.stream.lower()]
        found, counted = run_query(replace(step, feeds=()), rows, lateness, budget)
        add_counts(metrics, counted)
        if step is not query:
            sources[str(step.composite).lower()] = TableSource(str(step.composite), found)
    return Result(found, metrics)
