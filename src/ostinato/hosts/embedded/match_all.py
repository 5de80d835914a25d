"""Sets of queries in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.base.user_warning import warn_user
from ostinato.hosts.embedded.inputs import sources_of
from ostinato.hosts.embedded.run_query import RowSources, driven, in_order
from ostinato.hosts.embedded.sources.merged_source import MergedSource
from ostinato.hosts.embedded.sources.source import RowSource, Source
from ostinato.hosts.given_streams import named_streams
from ostinato.program.input import Input
from ostinato.query_set import QuerySet
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.given_times import Lateness


def match_all(
    queries: QuerySet,
    /,
    *unnamed: object,
    lateness: Lateness | None = None,
    budget: Budget | None = None,
    on_error: str = "quarantine",
    streams: Mapping[str, Any] | None = None,
    **named: Any,
) -> SetResult:
    """The matches of every query of a set over streams, given by their names: `ticks=...`, or in the mapping `streams`. Queries without
    matches are not in the result. `lateness` and `budget` are as in `ost.match`, for all queries together. A query that fails has no
    result at all: a warning tells so, and its error is in `quarantined` of what is returned; with `on_error="raise"` it ends the call."""
    sources = _Sources(sources_of(named_streams(unnamed, streams, named)))
    told = in_order(queries.program) if lateness is None else {"lateness": lateness}
    session = queries.open(budget=budget, on_error=on_error, **told)
    if lateness is not None:
        session.take_row_by_row()
    tables: dict[str, list[pa.Table]] = {}
    for found in driven(session, sources, ordered=lateness is None):
        for query, table in session.collected(found).items():
            tables.setdefault(query, []).append(table)
    stopped = session.quarantined
    if stopped:
        warn_user(QuarantineWarning("".join(f"\nthe query {query!r} has failed: {error}" for query, error in stopped.items())))
    return SetResult({query: pa.concat_tables(tables[query]) for query in queries if query in tables and query not in stopped}, stopped)


class QuarantineWarning(UserWarning):
    """Queries of a set that have failed, and have no result."""


class SetResult(dict[str, pa.Table]):
    """The matches of queries by their names; `quarantined` are those that have failed, with their errors."""

    def __init__(self, matches: Mapping[str, pa.Table], quarantined: Mapping[str, OstinatoError]) -> None:
        super().__init__(matches)
        self.quarantined = dict(quarantined)


@dataclass(frozen=True)
class _Sources(RowSources):
    sources: Mapping[str, Source]

    def of(self, reads: Input) -> RowSource:
        return MergedSource(reads, self.sources) if reads.sources else self.sources[reads.stream.lower()]
