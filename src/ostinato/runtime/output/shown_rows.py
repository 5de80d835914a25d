"""The output that shows rows: partition columns, order columns, measures, the other columns of the stream."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ostinato.expr.typing.arrow_types import to_arrow as arrow_type
from ostinato.kernels.vectors.vector import to_arrow
from ostinato.program.pattern import Pattern
from ostinato.runtime.output.measures import MatchView, measured_schema
from ostinato.runtime.output.row_measures import RowView, lines_of


def shown_schema(pattern: Pattern) -> pa.Schema:
    types = {column.name: arrow_type(column.type) for column in pattern.reads.columns}
    leading = dict.fromkeys(
        pattern.reads.columns[number].name for number in (*pattern.reads.keys, *(order[0] for order in pattern.reads.order))
    )
    others = [column.name for column in pattern.reads.event_columns if column.name not in leading]
    fields = [pa.field(name, types[name]) for name in leading], list(measured_schema(pattern)), [pa.field(n, types[n]) for n in others]
    return pa.schema([field for part in fields for field in part])


def rows_of_matches(view: MatchView, schema: pa.Schema) -> pa.Table:
    """A row for every row of every match that is not hidden, with the measures as they stand there; for a match without rows, if those
    are shown, the row at which it starts."""
    pattern = view.pattern
    hidden = np.zeros(len(pattern.variables), np.bool_)
    hidden[len(hidden) - pattern.hidden_variables :] = True
    lines = lines_of(view.matches, hidden, empty=pattern.rows_per_match != "all, omit empty matches")
    shown = RowView(view, lines)
    measures = zip(pattern.measures.names, (to_arrow(vector) for vector in shown.measure_columns()), strict=True)
    return _table(view, shown.rows(), dict(measures), schema)


def rows_without_match(view: MatchView, index: np.ndarray, schema: pa.Schema) -> pa.Table:
    """These arena rows, with null measures."""
    nulls = {name: pa.nulls(len(index), schema.field(name).type) for name in view.pattern.measures.names}
    return _table(view, index, nulls, schema)


def _table(view: MatchView, index: np.ndarray, measures: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    columns: Iterable[pa.Array] = (
        measures[field.name] if field.name in measures else to_arrow(view.stored(field.name, index)) for field in schema
    )
    return pa.table([c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)
