"""What a TPStream text means, without any engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ostinato.algebra.situations import DETECTED, END, SITUATION, START, MatchIntervals, SituationStream
from ostinato.expr.nodes import type_of
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.streams.known_streams import KnownStreams
from ostinato.lang.streams.text_streams import TextStreams
from ostinato.lang.tpstream.lower import lower
from ostinato.lang.tpstream.parse import parse_queries
from ostinato.lang.tpstream.syntax import streams_of
from ostinato.reference.intervals import interval_rows
from ostinato.reference.situations import merged, situation_rows

Rows = list[dict[str, Any]]


def lowered(text: str, schemas: Mapping[str, pa.Schema], **options: Any) -> MatchIntervals:
    """A pattern of situations, which is all that the text has."""
    (query,) = queries_of(text, schemas, **options)
    assert isinstance(query, MatchIntervals)
    return query


def queries_of(text: str, schemas: Mapping[str, pa.Schema], **options: Any) -> list[MatchIntervals | SituationStream]:
    """The queries of a text, in their order."""
    said = CompileOptions(**options)
    known, found = TextStreams(KnownStreams(dict(schemas))), []
    for tree in parse_queries(text):
        streams = known.read_by([stream.name for stream in streams_of(tree)])
        query = lower(tree, streams.schemas, said.time, said.latency, streams.composites)
        found.append(query)
        if tree.published is not None:
            known.add(tree.published.name, result_schema(query), query.time)
    return found


def result_schema(query: MatchIntervals | SituationStream) -> pa.Schema:
    situations = query.situations
    time = situations.schema.type_of(situations.time)
    measures = [(measure.name, type_of(measure.expr)) for measure in query.measures]
    if isinstance(query, MatchIntervals):
        return pa.schema([(name, to_arrow(kind)) for name, kind in (*measures, (START, time), (END, time), (DETECTED, time))])
    keys = [(key, situations.schema.type_of(key)) for key in situations.partition]
    columns = [(name, to_arrow(kind)) for name, kind in (*keys, (START, time), (END, time), *measures)]
    return pa.schema([(SITUATION, pa.string()), *columns])


def result_columns(query: MatchIntervals | SituationStream) -> tuple[str, ...]:
    return tuple(result_schema(query).names)


def rows_of(query: MatchIntervals | SituationStream, streams: Mapping[str, Rows]) -> Rows:
    rows = merged(query.situations, streams)
    return interval_rows(query, rows) if isinstance(query, MatchIntervals) else situation_rows(query, rows)


def text_rows(text: str, tables: Mapping[str, pa.Table], **options: Any) -> tuple[MatchIntervals | SituationStream, Rows]:
    """The last query of a text, and the rows that it returns, in their order."""
    queries = queries_of(text, {name: table.schema for name, table in tables.items()}, **options)
    streams = {name: table.to_pylist() for name, table in tables.items()}
    names = ["" if tree.published is None else tree.published.name for tree in parse_queries(text)]
    for name, query in zip(names, queries, strict=True):
        streams[name] = rows_of(query, streams)
    return queries[-1], streams[names[-1]]


def meaning(text: str, tables: Mapping[str, pa.Table], **options: Any) -> Rows:
    """The rows that a text returns, in their order."""
    return text_rows(text, tables, **options)[1]
