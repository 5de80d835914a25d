"""What a query reads of its stream, or of the streams that are read as one."""

from __future__ import annotations

from ostinato.algebra.policies import Output, RowsPerMatch
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import Situations
from ostinato.program.input import Column, Input, Source


def emit_input(query: MatchQuery | Situations, used: set[str], prefilter: str | None) -> Input:
    """`used` are the columns that code reads; `prefilter` as `plan.pushdown` says it."""
    columns = _columns(query, used)
    number = {column.name: i for i, column in enumerate(columns)}
    return Input(
        stream=query.stream,
        columns=columns,
        sources=tuple(Source(part.stream, part.columns, tuple(query.constants(part).items())) for part in query.parts),
        time=-1 if query.time is None else number[query.time],
        order=tuple((number[o.column], o.descending, o.nulls_first) for o in query.order),
        stream_number=-1 if query.stream_number is None else number[query.stream_number],
        keys=tuple(number[name] for name in query.partition),
        null_keys=query.null_keys.value,
        prefilter=prefilter or "",
    )


def _columns(query: MatchQuery | Situations, used: set[str]) -> tuple[Column, ...]:
    """What is read of the stream, in its own order; all of it where whole events or rows are shown."""
    used = used | {key.column for key in query.order} | set(query.partition) | ({query.time} if query.time is not None else set())
    if isinstance(query, MatchQuery) and _shows_rows(query):
        used |= set(query.schema.names)
    if not used:  # rows are counted by a column
        used = set(query.schema.names[:1])
    own = tuple(Column(name, type_) for name, type_ in query.schema.columns if name in used)
    fields = sorted(used - set(query.schema.names))
    return own + tuple(Column(name, query.schema.type_of(name), query.schema.root_of(name)) for name in fields)


def _shows_rows(query: MatchQuery) -> bool:
    return (query.measures is None and query.output is not Output.COUNT) or query.rows_per_match is not RowsPerMatch.ONE
