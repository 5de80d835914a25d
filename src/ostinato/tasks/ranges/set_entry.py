"""Where a task begins with the rows of a set of queries: so early that every chain of non-overlapping matches is the true one when it
comes to the range, whatever came before. See `chain_entry`; here rows are not left out, since other queries may need them: a chain that is
followed from where all chains meet stands where they stand, and so does one from further back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.archive.ordered_rows import OrderedRows
from ostinato.archive.row_groups import times_of
from ostinato.base.errors import OstinatoError
from ostinato.program.expansion import QUERY
from ostinato.program.program import Body, Operator, Program, Result
from ostinato.runtime.session.set_session import SetSession
from ostinato.tasks.key_codes import key_codes
from ostinato.tasks.keyed_pass import Failed
from ostinato.tasks.ranges.chain_entry import LOOK_BACK, unchained
from ostinato.tasks.ranges.chain_positions import overtaken_left_out, positions_at_border
from ostinato.tasks.ranges.range_task import is_chained
from ostinato.tasks.ranges.set_job import SetJob
from ostinato.tasks.ranges.start_marks import END_ROW, ROW, START_ROW, only_rows, with_row_numbers


def first_time(job: SetJob, border: int, failed: Failed | None) -> int | None:
    """From where on rows are read for a range that begins at `border`; None: from the first. `failed` is told of queries that fail here."""
    rows, begin = job.rows, border
    for number, operator in enumerate(job.program.operators):
        if operator.body.leads:
            begin = min(begin, border - operator.body.within)
        if is_chained(operator.body):
            try:
                met = _met(_followed(job.program, number), rows, border)
            except OstinatoError as error:
                if failed is None:
                    raise
                failed[operator.name] = error
                continue
            if met is None:
                return None
            begin = min(begin, met)
    return begin


def _followed(program: Program, number: int) -> Program:
    """One of the operators alone, which shows the first and last row of every match, whatever came before it."""
    operator = program.operators[number]
    body = only_rows(unchained(operator.body))
    assert isinstance(body, Body)
    reads = with_row_numbers(program.inputs[operator.ports[0]])
    return Program((reads,), (Operator(operator.name, (0,), body),), (Result(operator.name, 0),))


def _met(followed: Program, rows: OrderedRows, border: int) -> int | None:
    """Where to begin, so that all chains have met at the border."""
    first = min(group.low for group in rows.groups)
    window = followed.operators[0].body.within
    for windows in LOOK_BACK:
        begin = border - max(1, windows * window)
        if begin <= first:
            return None
        if not _apart(followed, rows, begin, border):
            return begin
    return None


def _apart(followed: Program, rows: OrderedRows, begin: int, border: int) -> bool:
    """Whether chains that begin at different rows behind `begin` stand at different rows at the border, in some partition."""
    pattern = followed.operators[0].body
    tables = list(rows.between(begin, border + pattern.within, again=True))
    if not tables:
        return False
    table = pa.concat_tables(tables)
    times = times_of(table.column(rows.time)).to_numpy()
    found = _matches(followed, table.append_column(ROW, pa.array(np.arange(len(times)))))
    if found is None:
        return False
    start, end = (found.column(name).to_numpy() for name in (START_ROW, END_ROW))
    keys = key_codes(table, list(pattern.reads.key_names))
    partition = keys[start]
    if QUERY in found.column_names:
        partition = found.column(QUERY).to_numpy() * (int(keys.max()) + 1) + partition
    if pattern.output == "nonoverlapping":
        partition, start, end = overtaken_left_out(partition, start, end)
    before = times[start] < border
    partition, start, end = partition[before], start[before], end[before]
    early = times[start] <= begin + pattern.within
    at_border = int(np.searchsorted(times, border))
    return len(positions_at_border(partition, start, end, early, at_border).apart) > 0


def _matches(followed: Program, table: pa.Table) -> pa.Table | None:
    session = SetSession(followed, on_error="raise", splits=False, batches_apart=True)
    found = [*session.push_rows(table).values(), *session.close().values()]
    return pa.concat_tables(found) if found else None
