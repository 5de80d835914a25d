"""One task of a set: the matches of all queries that start in one time range, exactly as if the data had been read in one piece."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ostinato.runtime.rows.ingest import MissingTimeError
from ostinato.runtime.session.set_session import SetSession
from ostinato.tasks.keyed_pass import Failed, set_session
from ostinato.tasks.ranges.range_task import LEAST_AT_ONCE, own_matches
from ostinato.tasks.ranges.set_entry import first_time
from ostinato.tasks.ranges.set_job import SetJob
from ostinato.tasks.ranges.time_ranges import TimeRange
from ostinato.tasks.worker import without_time
from ostinato.tasks.worker_memory import task_budget


def run_set_range(job: SetJob, one: TimeRange, failed: Failed | None = None) -> Iterator[dict[str, pa.Table]]:
    """Of each query and shape; they may have more columns than are shown. `failed` as in `set_pass`."""
    begin = None if one.low is None else first_time(job, one.low, failed)
    stop = None if one.high is None else one.high + job.window
    session = set_session(job.marked, failed, budget=task_budget(job.budget), batches_apart=True)
    starts = job.starts()
    for table in job.rows.pieces(begin, stop, rows=lambda: LEAST_AT_ONCE):
        yield _own(_pushed(session, table), one, starts)
    yield _own(session.close(), one, starts)
    if failed is not None:
        failed.update(session.quarantined)


def _pushed(session: SetSession, table: pa.Table) -> dict[str, pa.Table]:
    try:
        return session.push_rows(table)
    except MissingTimeError:
        raise without_time(session.program.inputs[0], table) from None


def _own(found: dict[str, pa.Table], one: TimeRange, starts: dict[str, str]) -> dict[str, pa.Table]:
    own = {query: own_matches(table, one, starts[query]) for query, table in found.items()}
    return {query: table for query, table in own.items() if table.num_rows}
