"""What a CEL text means, without any engine: its queries lowered one by one, and the reference's rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ostinato.algebra.event_streams import END, START, EventQuery, attributes_of, time_type_of
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.lang.cel.language import CEL
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.streams.known_streams import KnownStreams
from ostinato.lang.streams.text_streams import TextStreams
from ostinato.reference.event_streams import text_rows


def lowered(text: str, schemas: Mapping[str, pa.Schema], **options: Any) -> tuple[EventQuery, ...]:
    """The queries of a text up to the one whose rows are its result."""
    known, said, found = TextStreams(KnownStreams(schemas)), CompileOptions(**options), []
    for parsed in CEL.parse(text, said):
        query = CEL.lower(parsed.tree, known.read_by(parsed.reads), said)
        assert isinstance(query, EventQuery)
        found.append(query)
        if parsed.returned:
            break
        assert parsed.composite is not None
        known.add(parsed.composite.name, result_schema(query), END)
    return tuple(found)


def result_schema(query: EventQuery) -> pa.Schema:
    time = time_type_of(query.expression)
    return pa.schema([(name, to_arrow(kind)) for name, kind in (*attributes_of(query.expression), (START, time), (END, time))])


def meaning(text: str, schemas: Mapping[str, pa.Schema], rows: Mapping[str, list[dict[str, Any]]], **options: Any) -> list[dict[str, Any]]:
    return text_rows(lowered(text, schemas, **options), rows)


def bag(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr(list(row.values())) for row in rows)
