"""The results of a set of queries as one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.base.errors import OstinatoError
from ostinato.program.constants_table import IDS, unpacked
from ostinato.program.expansion import QUERY
from ostinato.program.input import Input
from ostinato.program.program import Program
from ostinato.program.shapes.shape import is_shape
from ostinato.tasks.conform import conform
from ostinato.tasks.host_ids import identified

QUERY_ERROR = "query_error"  # the last column of a set's results where queries that fail are put in quarantine


def with_errors(output: pa.Schema) -> pa.Schema:
    """The columns of matches, and that of errors: a match has null there, an error null in all others but the first, which tells the
    query."""
    return pa.schema([*(field.with_nullable(True) for field in output), pa.field(QUERY_ERROR, pa.string())])


def errors_table(errors: Mapping[str, OstinatoError], output: pa.Schema) -> pa.Table:
    """A row for each query that was put in quarantine, in the columns of `with_errors`."""
    told = [pa.array(errors, pa.string()), pa.array(map(str, errors.values()), pa.string())]
    columns = [told[0], *(pa.nulls(len(errors), field.type) for field in list(output)[1:-1]), told[1]]
    return conform(pa.table(columns, names=output.names), output)


def merged_results(found: Iterable[Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """What several calls have returned."""
    tables: dict[str, list[pa.Table]] = {}
    for one in found:
        for query, table in one.items():
            tables.setdefault(query, []).append(table)
    return {query: pa.concat_tables(listed) for query, listed in tables.items()}


def as_one_table(found: Mapping[str, pa.Table], program: Program, output: pa.Schema, place: int, counted: int) -> pa.Table:
    """The first column of `output` tells the query; what it has no column for is null. `place` and `counted` as in `identified`. Where the
    queries of a shape are told apart by their numbers, a row is shown for every query that has its constants."""
    bodies = {result.query: program.operators[result.operator] for result in program.results}
    parts = []
    for query, table in found.items():
        operator = bodies[query]
        if is_shape(query):
            ids, table = _by_queries(table, query_names(program.inputs[operator.ports[0]]))
        else:
            ids = pa.repeat(pa.scalar(query, output.types[0]), len(table))
        named = identified(table, operator.body, place, counted + 1)
        counted += named.num_rows
        columns = [
            ids if number == 0 else (named.column(field.name) if field.name in named.column_names else pa.nulls(len(named), field.type))
            for number, field in enumerate(output)
        ]
        parts.append(conform(pa.table(columns, names=output.names), output))
    return pa.concat_tables(parts) if parts else output.empty_table()


def _by_queries(table: pa.Table, names: pa.Array) -> tuple[pa.Array, pa.Table]:
    """The names of queries, and a row of the table for each."""
    place = table.schema.get_field_index(QUERY)
    ids = names.take(table.column(place).combine_chunks())
    rows = pc.list_parent_indices(ids)
    return ids.flatten(), table.remove_column(place).take(rows)


@lru_cache(16)  # every micro-batch asks for the names of the same queries
def query_names(reads: Input) -> pa.Array:
    """Of each number of a shape."""
    return unpacked(reads.queries, reads.parameters).column(IDS).combine_chunks()
