"""Sets of queries in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ostinato.hosts.embedded.inputs import sources_of
from ostinato.hosts.embedded.merged_source import MergedSource
from ostinato.hosts.embedded.run_query import RowSources, driven
from ostinato.hosts.embedded.source import RowSource, Source
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
    streams: Mapping[str, Any] | None = None,
    **named: Any,
) -> dict[str, pa.Table]:
    """The matches of every query of a set over streams, given by their names: `ticks=...`, or in the mapping `streams`. Queries without
    matches are not in the result. `lateness` and `budget` are as in `ost.match`, for all queries together."""
    sources = _Sources(sources_of(named_streams(unnamed, streams, named)))
    session = queries.open(budget=budget, ordered=True) if lateness is None else queries.open(budget=budget, lateness=lateness)
    if lateness is not None:
        session.take_row_by_row()
    tables: dict[str, list[pa.Table]] = {}
    for found in driven(session, sources, ordered=lateness is None):
        for query, table in session.collected(found).items():
            tables.setdefault(query, []).append(table)
    return {query: pa.concat_tables(tables[query]) for query in queries if query in tables}


@dataclass(frozen=True)
class _Sources(RowSources):
    sources: Mapping[str, Source]

    def of(self, reads: Input) -> RowSource:
        return MergedSource(reads, self.sources) if reads.sources else self.sources[reads.stream.lower()]
