"""The two columns of the default output that number things, where no single process sees them all.

`match_id` stays unique in the result but is not consecutive: the number of the partition, range or bucket in the upper bits. `seq`, the
place of an event in its stream, is null on Spark: what the place is would depend on how Spark divided the rows. A column of the stream that
is called so is not touched."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.program.input import POSITION
from ostinato.program.pattern import Pattern

BITS_BELOW = 40
MATCH_ID = "match_id"
COMPRESSED = "matches"


def identified(matches: pa.Table, pattern: Pattern, place: int, counted: int) -> pa.Table:
    """`place` is the number of the range or bucket (0 where Spark adds that of the partition), `counted` how many matches it has reported
    before."""
    shows = pattern.reads.shows_position
    if pattern.output == "compressed":
        return pa.table([_events_without_seq(matches.column(COMPRESSED))], names=[COMPRESSED]) if shows else matches
    if not has_ids(pattern):
        return matches
    first = (place << BITS_BELOW) + counted
    ids = pa.array(range(first, first + matches.num_rows), pa.int64())
    columns = [_without_seq(column) if shows else column for column in matches.columns[1:]]
    return pa.table([ids, *columns], names=matches.schema.names)


def has_ids(pattern: Pattern) -> bool:
    return pattern.measures.code is None and pattern.output not in ("count", "compressed")


def _events_without_seq(column: pa.ChunkedArray) -> pa.Array:
    values = column.combine_chunks()
    fields = list(values.type)
    arrays = [values.field(i) for i in range(len(fields))]
    place = [field.name for field in fields].index("events")
    arrays[place] = pa.ListArray.from_arrays(arrays[place].offsets, _null_seq(arrays[place].values))
    return pa.StructArray.from_arrays(arrays, fields=[field.with_type(array.type) for field, array in zip(fields, arrays, strict=True)])


def _without_seq(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    kind = column.type
    if pa.types.is_struct(kind):
        return _null_seq(column.combine_chunks())
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        whole = column.combine_chunks()
        return pa.ListArray.from_arrays(whole.offsets, _null_seq(whole.values), mask=whole.is_null() if whole.null_count else None)
    return column


def _null_seq(events: pa.StructArray) -> pa.StructArray:
    fields = [events.type.field(i) for i in range(events.type.num_fields)]
    arrays = [pa.nulls(len(events), f.type) if f.name == POSITION else events.field(i) for i, f in enumerate(fields)]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=pc.is_null(events))
