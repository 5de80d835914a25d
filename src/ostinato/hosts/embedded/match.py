"""Event patterns in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.compiler import compile_text
from ostinato.hosts.embedded.arrival import Arrival
from ostinato.hosts.embedded.inputs import sources_of
from ostinato.hosts.embedded.lazy_result import LazyResult
from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.run_query import Told, run_in_parts, run_query
from ostinato.hosts.embedded.sources.merged_source import MergedSource
from ostinato.hosts.embedded.sources.source import RowSource, Source
from ostinato.hosts.embedded.sources.timed_rows import TimedRows
from ostinato.hosts.embedded.sql import sql
from ostinato.hosts.given_streams import check_options, chosen_language, named_streams
from ostinato.hosts.sandbox import Sandbox, Watch, sandbox_of
from ostinato.lang.compile_options import CompileOptions
from ostinato.program.input import Input
from ostinato.query import Query
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.given_times import Lateness


def match(
    text: str,
    /,
    *unnamed: object,
    language: str | None = None,
    output: str | None = None,
    type_by: str | None = None,
    time: str | Mapping[str, str] | None = None,
    lateness: Lateness | None = None,
    late: str | None = None,
    ties: str | None = None,
    latency: str | None = None,
    strategy: str | None = None,
    budget: Budget | None = None,
    lazy: bool = False,
    threads: int | None = None,
    sandbox: bool | Sandbox = False,
    streams: Mapping[str, Any] | None = None,
    **named: Any,
) -> Result:
    """Find a pattern in streams, given by the names that the query uses: `ticks=...`, or in the mapping `streams`. The language is
    recognised unless `language` says it. What one query returns may be a stream of another.

    `time` names the time column if it is not `ts` (for several streams also as a mapping from streams to columns), `type_by` the column
    that holds the event type, `output` what is reported, `latency` when patterns of situations are: "earliest" or "final".
    All rows are put in order of time first, unless `lateness` says how late rows may come: then they are taken as they arrive, one by
    one, and later ones are left out and counted (`late="keep"`: `late` of the result has them, with the reason).
    `budget` is how much state the query may hold, and what happens beyond; `strategy` forces a way to evaluate it, for comparison;
    `threads` is how many may derive and match situations at a time, None: as many as are worth it. `lazy`: nothing is evaluated before
    the result is read; its `batches()` come one by one, so that there may be more matches than fit into memory.
    `sandbox=True` is for texts of others: time and memory are limited (`ost.Sandbox`), and SQL reads no more than the named streams."""
    options: dict[str, Any] = {"output": output, "type_by": type_by, "time": time, "ties": ties, "latency": latency, "strategy": strategy}
    check_options(language=language, lateness=lateness, late=late, budget=budget, lazy=lazy, threads=threads, **options)
    arrival = Arrival(lateness, late)
    given = named_streams(unnamed, streams, named)
    closed = sandbox_of(sandbox, text)
    try:
        chosen = chosen_language(text, language, budget=budget, lazy=lazy or None, threads=threads, **options)
        if chosen.is_statement:
            return sql(text, lateness=lateness, late=late, streams=given, sandbox=closed or False)
        watch, budget = (None, budget) if closed is None else (Watch(closed), closed.budget(budget))
        sources = sources_of(given)
        schemas = {source.name: source.schema for source in sources.values()}
        query = compile_text(text, schemas, CompileOptions(chosen.name, sandboxed=closed is not None, **options))
        if query.upstream:
            arrival.refuse_kept("by several queries in one text", "run them one by one, each with late= of its own")
        run = _Run(query, sources, arrival, budget, watch, threads)
        return LazyResult(query.output_schema, run.whole, run.parts) if lazy else run.result()
    except OstinatoError as error:
        raise error.within(text) from error.__cause__


@dataclass(frozen=True)
class _Run:
    """The queries of a text over their streams; `watch` is that of the sandbox, if the text runs in one."""

    query: Query
    sources: dict[str, Source]
    arrival: Arrival
    budget: Budget | None
    watch: Watch | None
    threads: int | None

    def result(self) -> Result:
        table = self.whole(told := Told())
        return Result(table, told.metrics, told.late)

    def whole(self, told: Told) -> pa.Table:
        with self._named():
            return run_query(self.query, self, told, self.arrival, self.budget, self.threads)

    def parts(self, told: Told) -> Iterator[pa.Table]:
        with self._named():
            for table in run_in_parts(self.query, self, told, self.arrival, self.budget, self.threads):
                if self.watch is not None:
                    self.watch.check()
                yield table

    def of(self, reads: Input) -> RowSource:
        rows = MergedSource(reads, self.sources) if reads.sources else self.sources[reads.stream.lower()]
        return rows if self.watch is None else TimedRows(rows, self.watch)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Errors of a lazy result, too, are about the text."""
        try:
            yield
        except OstinatoError as error:
            raise error.within(self.query.text) from error.__cause__
