"""Event patterns in this process."""

from __future__ import annotations

from typing import Any

from ostinato.base.errors import OstinatoError
from ostinato.compiler import compile, recognise
from ostinato.hosts.embedded.inputs import sources_of
from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.run_query import Lateness, run_query
from ostinato.hosts.embedded.sql import sql


def match(
    text: str,
    /,
    language: str | None = None,
    output: str | None = None,
    type_by: str | None = None,
    time: str | None = None,
    lateness: Lateness | None = None,
    ties: str | None = None,
    strategy: str | None = None,
    **streams: Any,
) -> Result:
    """Find a pattern in `streams`, given by the names that the query uses. The language is recognised unless `language` says it.

    `time` names the time column if it is not `ts`, `type_by` the column that holds the event type, `output` what is reported. All rows
    are put in order of time first, unless `lateness` says how late rows may come: then they are taken as they arrive.
    `strategy` forces a way to evaluate the pattern, for comparison.
    """
    try:
        if (language or recognise(text)) == "sql":
            _refuse_options(output=output, type_by=type_by, time=time, ties=ties, strategy=strategy, lateness=lateness)
            return sql(text, **streams)
        sources = sources_of(streams)
        schemas = {source.name: source.schema for source in sources.values()}
        query = compile(text, schemas, language=language, output=output, type_by=type_by, time=time, ties=ties, strategy=strategy)
        return Result(*run_query(query, sources[query.program.stream.lower()], lateness))
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


def _refuse_options(**options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise OstinatoError(f"{name}= is for event patterns; a SQL statement says it itself", hint="Use ORDER BY, WITHIN and DEFINE")
