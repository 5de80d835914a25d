"""What a TPStream text means, without any engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ostinato.algebra.situations import DETECTED, END, START, MatchIntervals
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.streams.known_streams import KnownStreams
from ostinato.lang.tpstream.language import TPSTREAM
from ostinato.reference.intervals import interval_rows
from ostinato.reference.situations import merged


def lowered(text: str, schemas: Mapping[str, pa.Schema], **options: Any) -> MatchIntervals:
    said = CompileOptions(**options)
    (parsed,) = TPSTREAM.parse(text, said)
    query = TPSTREAM.lower(parsed.tree, KnownStreams(schemas), said)
    assert isinstance(query, MatchIntervals)
    return query


def result_columns(query: MatchIntervals) -> tuple[str, ...]:
    return (*(measure.name for measure in query.measures), START, END, DETECTED)


def meaning(text: str, tables: Mapping[str, pa.Table], **options: Any) -> list[dict[str, Any]]:
    """The rows that it returns, in their order."""
    query = lowered(text, {name: table.schema for name, table in tables.items()}, **options)
    return interval_rows(query, merged(query.situations, {name: table.to_pylist() for name, table in tables.items()}))
