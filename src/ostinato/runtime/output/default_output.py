"""The row of a match whose query has no output clause: its number, its times, and the events of every variable."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.expr.typing.arrow_types import to_arrow as arrow_type
from ostinato.kernels.vectors.vector import Vector, to_arrow
from ostinato.program.input import POSITION
from ostinato.program.pattern import Pattern
from ostinato.runtime.output.measures import MatchView


def default_schema(pattern: Pattern) -> pa.Schema:
    position = [(POSITION, pa.int64())] if pattern.reads.shows_position else []
    event = pa.struct([*((c.name, arrow_type(c.type)) for c in pattern.reads.event_columns), *position])
    time = arrow_type(pattern.reads.columns[pattern.reads.time].type) if pattern.reads.time >= 0 else pa.int64()
    fields = [pa.field("match_id", pa.int64()), pa.field("start_ts", time), pa.field("end_ts", time)]
    for number in pattern.shown_variables:
        fields.append(pa.field(pattern.variables[number], pa.list_(event) if pattern.kleene[number] else event))
    return pa.schema(fields)


def default_output(view: MatchView, schema: pa.Schema, first_id: int) -> pa.Table:
    matches = view.matches
    index = view.event_rows()
    ids = pa.array(np.arange(first_id, first_id + len(matches)), pa.int64())
    first, last = index[matches.offsets[:-1]], index[matches.offsets[1:] - 1]
    columns = [ids, _times(view, first, schema.field("start_ts").type), _times(view, last, schema.field("end_ts").type)]
    for number, field in zip(view.pattern.shown_variables, list(schema)[3:], strict=True):
        kleene = view.pattern.kleene[number]
        chosen = np.flatnonzero(matches.variables == number)
        owner = np.searchsorted(matches.offsets, chosen, side="right") - 1
        columns.append(_lists(view, index[chosen], owner, field.type) if kleene else _single(view, index[chosen], owner, field.type))
    return pa.table(columns, schema=schema)


def _times(view: MatchView, index: np.ndarray, type_: pa.DataType) -> pa.Array:
    pattern = view.pattern
    if pattern.reads.time < 0:
        return pa.array(view.rows.positions[index], pa.int64())
    column = pattern.reads.columns[pattern.reads.time]
    return to_arrow(Vector(column.type, view.rows.times[index], None, None)).cast(type_)


def event_structs(view: MatchView, index: np.ndarray, type_: pa.StructType, mask: pa.Array | None = None) -> pa.StructArray:
    arrays = []
    for i, column in enumerate(view.pattern.reads.event_columns):
        array = to_arrow(view.stored(column.name, index))
        wanted = type_.field(i).type
        arrays.append(array if array.type == wanted else array.cast(wanted))
    if view.pattern.reads.shows_position:
        seq = view.rows.positions[np.where(index < 0, 0, index)] if len(view.rows.positions) else np.zeros(len(index), np.int64)
        arrays.append(pa.array(seq, pa.int64()))
    return pa.StructArray.from_arrays(arrays, fields=list(type_), mask=mask)


def _single(view: MatchView, index: np.ndarray, owner: np.ndarray, type_: pa.StructType) -> pa.Array:
    """One event per match, null where the variable is an optional element left empty."""
    row = np.full(len(view.matches), -1, np.int64)
    row[owner] = index
    return event_structs(view, row, type_, mask=pa.array(row < 0))


def _lists(view: MatchView, index: np.ndarray, owner: np.ndarray, type_: pa.ListType) -> pa.Array:
    counts = np.bincount(owner, minlength=len(view.matches))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), event_structs(view, index, type_.value_type), type=type_)
