"""What runs inside Spark's Python workers: a program is loaded and driven, nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from ostinato.hosts.spark.worker_memory import task_budget
from ostinato.program.program import Program
from ostinato.runtime.budget import Budget
from ostinato.runtime.session import Session


def push(session: Session, table: pa.Table) -> Iterator[pa.Table]:
    """The matches that the rows of a table decide."""
    if table.num_rows:
        decided = session.push(table)
        if decided.num_rows:
            yield decided


def run(program: Program, tables: Iterable[pa.Table], *, ordered: bool = False, budget: Budget | None = None) -> Iterator[pa.Table]:
    """All matches over a finite sequence of tables that follow one another in time. `ordered`: they are in the program's order,
    which may begin anew with each key."""
    yield from run_session(Session(program, budget=task_budget(budget), ordered=ordered), tables)


def run_session(session: Session, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    for table in tables:
        yield from push(session, table)
    last = session.close()
    if last.num_rows:
        yield last
