"""One pass over the rows of several streams in order of time: a session that runs a whole graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.archive.row_groups import times_of
from ostinato.program.program import Program
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.session import Session
from ostinato.runtime.session.set_session import SetSession
from ostinato.tasks.carried_names import arrived
from ostinato.tasks.fed_session import Decided, FedSession
from ostinato.tasks.keyed_pass import Failed, concatenated, set_session
from ostinato.tasks.worker_memory import task_budget

STREAM, TIME = "stream", "time"  # of the rows of a pass: whose row it is, and when


def rows_column(stream: int) -> str:
    """The column of a pass that has the rows of a stream, as structs; those of other streams are null there."""
    return f"rows{stream}"


def graph_pass(
    program: Program, is_set: bool, batches: Iterable[pa.RecordBatch], budget: Budget | None = None, failed: Failed | None = None
) -> Iterator[Decided]:
    """The matches. Rows come in order of time; of one time each input puts them in its own order, so they wait until it has passed.
    `failed` as in `set_pass`."""
    session = _opened(program, is_set, budget, failed)
    for table in concatenated(batches):
        for stream in range(len(session.streams)):
            rows = _rows_of(table, stream)
            if rows.num_rows:
                yield session.push(stream, rows)
        latest = pc.max(times_of(table.column(TIME))).as_py()
        yield session.advance([latest] * len(session.streams))
    yield session.close()
    if failed is not None and isinstance(session.session, SetSession):
        failed.update(session.session.quarantined)


def _opened(program: Program, is_set: bool, budget: Budget | None, failed: Failed | None) -> FedSession:
    told: dict[str, Any] = {"budget": task_budget(budget), "lateness": None}
    return FedSession(set_session(program, failed, **told) if is_set else Session(program, **told))


def _rows_of(table: pa.Table, stream: int) -> pa.Table:
    """Those of one stream, in its own columns."""
    column = table.column(rows_column(stream))
    chosen = column if column.null_count == 0 else column.filter(pc.equal(table.column(STREAM), stream))
    return arrived(pa.Table.from_batches(map(pa.RecordBatch.from_struct_array, chosen.chunks), pa.schema(list(column.type))))
