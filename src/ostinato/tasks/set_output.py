"""The results of a set of queries as one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.program.program import Program
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
    """The first column of `output` tells the query; what it has no column for is null. `place` and `counted` as in `identified`."""
    bodies = {result.query: program.operators[result.operator].body for result in program.results}
    parts = []
    for query, table in found.items():
        named = identified(table, bodies[query], place, counted + 1)
        counted += table.num_rows
        columns = [
            pa.repeat(pa.scalar(query, field.type), len(named))
            if number == 0
            else (named.column(field.name) if field.name in named.column_names else pa.nulls(len(named), field.type))
            for number, field in enumerate(output)
        ]
        parts.append(conform(pa.table(columns, names=output.names), output))
    return pa.concat_tables(parts) if parts else output.empty_table()
