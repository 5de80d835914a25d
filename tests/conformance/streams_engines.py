"""Who can run a case over several streams."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from tests.conformance.case import Outcome, Rows
from tests.conformance.engines import attempt
from tests.conformance.streams_case import StreamsCase
from tests.conformance.streams_task_engines import StreamPasses
from tests.property import tpstream_meaning
from tests.property.cel_meaning import lowered, result_schema

from ostinato.compiler import compile
from ostinato.hosts import embedded
from ostinato.query import Query
from ostinato.reference.event_streams import text_rows


class StreamsEngine(Protocol):
    name: str

    def run(self, cases: Sequence[StreamsCase]) -> list[Outcome]: ...


class ReferenceStreams:
    """The meaning itself: text, algebra, definition."""

    name = "reference"

    def run(self, cases: Sequence[StreamsCase]) -> list[Outcome]:
        return [attempt(self._answer, case) for case in cases]

    def _answer(self, case: StreamsCase) -> Any:
        if case.language == "tpstream":
            query, found = tpstream_meaning.text_rows(case.text, case.tables, **case.options)
            return Rows(tpstream_meaning.result_columns(query), tuple(tuple(row.values()) for row in found))
        queries = lowered(case.text, case.schemas, **case.options)
        found = text_rows(queries, {name: table.to_pylist() for name, table in case.tables.items()})
        return Rows(tuple(result_schema(queries[-1]).names), tuple(tuple(row.values()) for row in found))


class SessionStreams:
    """The compiled program in a session: the rows of all streams by their times, a few at a time."""

    name = "session"
    batch = 3

    def run(self, cases: Sequence[StreamsCase]) -> list[Outcome]:
        return [attempt(self._answer, case) for case in cases]

    def _answer(self, case: StreamsCase) -> Any:
        query = _compiled(case)
        session = query.open(lateness=0)
        read = {reads.stream for reads in query.program.inputs} | {s.stream for reads in query.program.inputs for s in reads.sources}
        outputs = [session.push(name, part) for name, part in pieces(case, self.batch) if name in read] + [session.close()]
        return _found(pa.concat_tables(outputs))


class EmbeddedStreams:
    """The host in this process, over Arrow tables."""

    name = "embedded"

    def run(self, cases: Sequence[StreamsCase]) -> list[Outcome]:
        return [attempt(self._answer, case) for case in cases]

    def _answer(self, case: StreamsCase) -> Any:
        found = embedded.match(case.text, language=case.language, streams=case.tables, **case.options)
        return _found(found.to_arrow())


def _compiled(case: StreamsCase) -> Query:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(case.text, case.schemas, language=case.language, **case.options)


def pieces(case: StreamsCase, size: int) -> Iterator[tuple[str, pa.Table]]:
    """All rows in the order of their times, streams in turn, at most `size` of them together."""
    ordered = {name: table.sort_by(_time(case, table)) for name, table in case.tables.items()}
    times = sorted({time for name, table in ordered.items() for time in table.column(_time(case, table)).to_pylist()})
    for time in times:
        for name, table in ordered.items():
            own = table.filter(pc.equal(table.column(_time(case, table)), pa.scalar(time, table.schema.field(_time(case, table)).type)))
            yield from ((name, own.slice(start, size)) for start in range(0, own.num_rows, size))


def _time(case: StreamsCase, table: pa.Table) -> str:
    """Of rows that last, their end."""
    return next(name for name in (case.options.get("time", "ts"), "end_ts", "ended") if name in table.column_names)


def _found(table: pa.Table) -> Rows:
    return Rows(tuple(table.column_names), tuple(tuple(row.values()) for row in table.to_pylist()))


STREAMS_ENGINES: dict[str, Callable[[], StreamsEngine]] = {
    engine.name: engine for engine in (ReferenceStreams, SessionStreams, EmbeddedStreams, StreamPasses)
}
ENGINES_OF = {"cel": tuple(STREAMS_ENGINES), "tpstream": tuple(STREAMS_ENGINES)}  # by language
