"""What runs inside Spark's Python workers: a program is loaded and driven, nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.program.input import Input
from ostinato.program.pattern import Pattern
from ostinato.program.program import alone
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.rows.ingest import MissingTimeError, missing_time
from ostinato.runtime.session.session import Session
from ostinato.tasks.worker_memory import task_budget

MOST_SHOWN = 200  # characters of a row in an error


def push(session: Session, table: pa.Table) -> Iterator[pa.Table]:
    """The matches that the rows of a table decide."""
    if table.num_rows:
        try:
            decided = session.push(table)
        except MissingTimeError:
            raise without_time(session.operator.pattern.reads, table) from None
        if decided.num_rows:
            yield decided


def without_time(reads: Input, table: pa.Table) -> MissingTimeError:
    """Rows of a DataFrame have no numbers: the row is told by its values."""
    time = reads.time_name
    row = table.filter(pc.is_null(table.column(time))).slice(0, 1).to_pylist()[0]
    shown = ", ".join(f"{name}={value!r}" for name, value in row.items() if name != time)
    return missing_time(time, reads.stream, f" (in the row {shown[:MOST_SHOWN]})" if shown else "")


def run(pattern: Pattern, tables: Iterable[pa.Table], *, ordered: bool = False, budget: Budget | None = None) -> Iterator[pa.Table]:
    """All matches over a finite sequence of tables that follow one another in time. `ordered`: they are in the program's order,
    which may begin anew with each key."""
    yield from run_session(Session(alone(pattern), budget=task_budget(budget), ordered=ordered), tables)


def run_session(session: Session, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    for table in tables:
        yield from push(session, table)
    last = session.close()
    if last.num_rows:
        yield last
