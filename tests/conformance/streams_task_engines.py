"""What the tasks of Spark's batches do with several streams, one after the other in this process."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from tests.conformance.case import Outcome, Rows
from tests.conformance.engines import attempt
from tests.conformance.streams_case import StreamsCase
from tests.conformance.task_engines import KEYS_TOGETHER, PASSES, ROWS, sorted_rows

from ostinato.compiler import compile
from ostinato.program import serde
from ostinato.program.program import Program
from ostinato.runtime.rows.stream_form import in_form
from ostinato.runtime.rows.struct_fields import flattened
from ostinato.tasks import keyed_pass
from ostinato.tasks.division import division_of
from ostinato.tasks.graph_division import GraphDivision, Part
from ostinato.tasks.graph_pass import STREAM, TIME, graph_pass, rows_column
from ostinato.tasks.key_codes import key_codes
from ostinato.tasks.worker import run


class StreamPasses:
    """Rows in passes by key where one goes through all queries, else in one: sorted by key where a query is alone, else by time."""

    name = "passes"

    def run(self, cases: Sequence[StreamsCase]) -> list[Outcome]:
        with patch.object(keyed_pass, "ROWS_AT_ONCE", ROWS):
            return [attempt(self._answer, case) for case in cases]

    def _answer(self, case: StreamsCase) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            query = compile(case.text, case.schemas, language=case.language, **case.options)
        program = serde.loads(serde.dumps(query.program))
        composed = len(program.operators) > 1
        found = _of_graph(program, case.tables) if composed else _of_one(program, case.tables)
        table = pa.concat_tables([query.output_schema.empty_table(), *found])
        return Rows(tuple(table.column_names), tuple(tuple(row.values()) for row in table.to_pylist()))


def _of_one(program: Program, tables: dict[str, pa.Table]) -> Iterator[pa.Table]:
    pattern, keys = program.body, division_of(program.body).keys
    reads = pattern.reads
    if reads.sources:
        rows = pa.concat_tables([in_form(tables[source.stream], source, reads.columns) for source in reads.sources])
    else:
        rows = flattened(tables[reads.stream], reads.columns)
    shuffled = key_codes(rows, keys) // KEYS_TOGETHER % PASSES
    for place in range(PASSES) if keys else range(1):
        batches = sorted_rows(rows.take(np.flatnonzero(shuffled == place)), keys, reads).to_batches(max_chunksize=ROWS)
        yield from keyed_pass.keyed_pass(pattern, batches) if keys else run(pattern, keyed_pass.concatenated(batches))


def _of_graph(program: Program, tables: dict[str, pa.Table]) -> Iterator[pa.Table]:
    division = GraphDivision(program)
    (part,) = division.parts
    for place in range(PASSES) if part.not_by_key is None else range(1):
        rows = pa.concat_tables([_pass_rows(division, part, number, place, tables) for number in range(len(division.streams))])
        ordered = rows.sort_by([(TIME, "ascending"), (STREAM, "ascending")])
        yield from (table for table in graph_pass(program, False, ordered.to_batches(max_chunksize=ROWS)) if isinstance(table, pa.Table))


def _pass_rows(division: GraphDivision, part: Part, number: int, place: int, tables: dict[str, pa.Table]) -> pa.Table:
    """The rows of a stream that belong to a pass, as `graph_pass` takes them."""
    kinds = [pa.struct(list(flattened(tables[stream.name], stream.reads.columns).schema)) for stream in division.streams]
    stream = division.streams[number]
    rows = flattened(tables[stream.name], stream.reads.columns)
    if part.not_by_key is None:
        values = zip(*(rows.column(key.column).to_pylist() for key in part.keys[part.streams.index(number)]), strict=True)
        rows = rows.take(pa.array([at for at, key in enumerate(values) if sum(map(ord, repr(key))) % PASSES == place], pa.int64()))
    structs = pa.StructArray.from_arrays([rows.column(field.name).combine_chunks() for field in kinds[number]], fields=list(kinds[number]))
    columns = [structs if own == number else pa.nulls(rows.num_rows, kind) for own, kind in enumerate(kinds)]
    named = {rows_column(own): column for own, column in enumerate(columns)}
    return pa.table({STREAM: pa.array([number] * rows.num_rows, pa.int64()), TIME: rows.column(stream.time)} | named)
