"""One pass over rows sorted by key and order: a session per stretch of keys, in which the last key of the one before may go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.program.pattern import Pattern
from ostinato.program.program import Program, alone
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.session import Session
from ostinato.runtime.session.set_session import SetSession
from ostinato.tasks.carried_names import arrived
from ostinato.tasks.key_codes import key_codes
from ostinato.tasks.worker import push
from ostinato.tasks.worker_memory import task_budget

Failed = dict[str, OstinatoError]  # queries of a set, and what has stopped them
ROWS_AT_ONCE = 1 << 17  # Spark hands out 10,000 rows at a time; the kernels like more


def keyed_pass(pattern: Pattern, batches: Iterable[pa.RecordBatch], budget: Budget | None = None) -> Iterator[pa.Table]:
    """Matches of all keys. A key's rows come together and in order; a finished key is closed and forgotten, and a key that does
    not fit into a batch goes on in the next, so that neither many keys nor long ones fill the memory."""
    keys = list(pattern.reads.key_names)
    program = alone(pattern)
    going_on: Session | None = None
    carried: pa.Table | None = None  # the last row of the key that goes on
    for table in concatenated(batches):
        borders = _borders(table, keys, carried)
        if going_on is None:
            going_on = Session(program, budget=task_budget(budget), ordered=True)
        if len(borders):
            yield from push(going_on, table.slice(0, borders[-1]))
            yield from _closed(going_on)
            going_on = Session(program, budget=task_budget(budget), ordered=True)
        yield from push(going_on, table.slice(borders[-1] if len(borders) else 0))
        carried = table.slice(table.num_rows - 1)
    if going_on is not None:
        yield from _closed(going_on)


def set_pass(
    program: Program, keys: Sequence[str], tables: Iterable[pa.Table], budget: Budget | None = None, failed: Failed | None = None
) -> Iterator[dict[str, pa.Table]]:
    """The same for a set of queries: the matches of each. `keys` are those that all of them have; without any, all rows are one key.
    `failed` is told of queries that fail, which go no further then; without it an error ends the pass."""

    def opened() -> SetSession:
        return set_session(program, failed, budget=task_budget(budget), ordered=True)

    going_on = None if keys else opened()  # counts are shown of no rows, too
    carried: pa.Table | None = None
    for table in tables:
        borders = _borders(table, keys, carried) if keys else np.zeros(0, np.int64)
        if going_on is None:
            going_on = opened()
        if len(borders):
            yield from _of_set(going_on, table.slice(0, borders[-1]), in_time=False)
            yield _last_of_set(going_on, failed)
            going_on = opened()
        yield from _of_set(going_on, table.slice(borders[-1] if len(borders) else 0), in_time=not keys)
        carried = table.slice(table.num_rows - 1)
    if going_on is not None:
        yield _last_of_set(going_on, failed)


def set_session(program: Program, failed: Failed | None, **told: Any) -> SetSession:
    """One that goes on without the queries that have failed; without such a list an error ends it."""
    if failed is None:
        return SetSession(program, on_error="raise", splits=False, **told)
    return SetSession(program, quarantined=failed, splits=False, **told)


def _last_of_set(session: SetSession, failed: Failed | None) -> dict[str, pa.Table]:
    found = session.close()
    if failed is not None:
        failed.update(session.quarantined)
    return found


def _of_set(session: SetSession, table: pa.Table, in_time: bool) -> Iterator[dict[str, pa.Table]]:
    """`in_time`: rows are in order of time; else time begins anew with every key, and decides nothing."""
    if table.num_rows:
        if in_time:
            yield session.collected(session.let_time_pass(in_parts=False))
        yield session.push_rows(table)


def concatenated(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The same rows in larger tables, under the names that their columns have."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if rows >= ROWS_AT_ONCE:
            yield arrived(pa.Table.from_batches(waiting))
            waiting, rows = [], 0
    if waiting:
        yield arrived(pa.Table.from_batches(waiting))


def _borders(table: pa.Table, keys: Sequence[str], carried: pa.Table | None) -> np.ndarray:
    """Rows at which another key begins."""
    whole = table if carried is None else pa.concat_tables([carried, table])
    codes = key_codes(whole, keys)
    return np.flatnonzero(codes[1:] != codes[:-1]) + (carried is None)


def _closed(session: Session) -> Iterator[pa.Table]:
    last = session.close()
    if last.num_rows:
        yield last
