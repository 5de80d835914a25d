"""One task: the matches that start in one time range, exactly as if the data had been read in one piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.archive.row_groups import times_of
from ostinato.program.column_code import ColumnCode
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.measure_code import MeasureCode
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.program import alone
from ostinato.program.tree import TreePattern
from ostinato.runtime.session.session import Session
from ostinato.tasks.conform import reported
from ostinato.tasks.ranges.chain_entry import Entry, at_time, chain_entry
from ostinato.tasks.ranges.left_context import left_context
from ostinato.tasks.ranges.match_places import placed
from ostinato.tasks.ranges.merged_totals import totals_part
from ostinato.tasks.ranges.own_starts import beginning_in, can_limit_starts, starting_in
from ostinato.tasks.ranges.range_job import RangeJob
from ostinato.tasks.ranges.right_context import rows_behind
from ostinato.tasks.ranges.start_marks import start_column, with_start
from ostinato.tasks.ranges.static_filter import StaticFilter
from ostinato.tasks.ranges.time_ranges import TimeRange
from ostinato.tasks.ranges.window import window_of
from ostinato.tasks.shipped_program import NO_FUNCTIONS, ShippedFunctions
from ostinato.tasks.worker import run, run_session
from ostinato.tasks.worker_memory import keep_freed_memory, task_budget

ROWS_PER_KEY = 64
LEAST_AT_ONCE = 1 << 19
MOST_AT_ONCE = 1 << 20


def read_range(job_text: str, number: int, functions: ShippedFunctions = NO_FUNCTIONS) -> Iterator[pa.RecordBatch]:
    """What the task for range `number` gives to Spark."""
    keep_freed_memory()
    job = RangeJob.loads(job_text, functions.unpacked())
    matches = run_range(job, job.ranges[number])
    yield from reported(placed(matches, number) if job.is_placed else matches, job.pattern, job.output, number)


def run_range(job: RangeJob, one: TimeRange) -> Iterator[pa.Table]:
    """Tables of matches; they may hold more columns than the query's output."""
    if isinstance(job.pattern, InstanceAutomaton):
        session = Session(alone(beginning_in(job.pattern, one)), budget=task_budget(job.budget), batches_apart=True)
        yield from run_session(session, _tables(job, at_time(one.low), _stop(job, one)))
    elif can_limit_starts(job.pattern) and job.pattern.output in ("count", "compressed", "aggregates"):
        yield from _at_once(job, one)
    elif job.pattern.output == "count" and job.pattern.selects_events:
        yield _count(job, one)
    else:
        yield from _matches(job, one, with_start(job.pattern))


def _at_once(job: RangeJob, one: TimeRange) -> Iterator[pa.Table]:
    """What is reported about all matches of the range together."""
    assert isinstance(job.pattern, EventPattern)
    session = Session(alone(starting_in(job.pattern, one)), budget=task_budget(job.budget), batches_apart=True)
    found = run_session(session, _tables(job, _entry(job, one), _stop(job, one)))
    if job.pattern.output != "aggregates":
        yield from found
        return
    assert not list(found)
    yield totals_part(session.operator.report.totals_of(session.operator.matcher))


def _matches(job: RangeJob, one: TimeRange, marked: Pattern) -> Iterator[pa.Table]:
    session = Session(alone(marked), budget=task_budget(job.budget), batches_apart=True)
    entry = _entry(job, one)
    stop = _stop(job, one)
    tables = _tables(job, entry, stop, lambda: rows_at_once(session))
    for matches in run_session(session, chain(tables, rows_behind(session, job.rows, stop, one.high))):
        yield own_matches(matches, one, start_column(marked))


def rows_at_once(session: Session) -> int:
    """Every batch costs something, and something for each key, so many keys are worth longer ones."""
    return min(MOST_AT_ONCE, max(LEAST_AT_ONCE, ROWS_PER_KEY * session.key_count))


def _entry(job: RangeJob, one: TimeRange) -> Entry:
    if one.low is None:
        return at_time(None)
    if is_chained(job.pattern):
        return chain_entry(job.pattern, job.rows, one.low, job.back)
    return at_time(one.low - job.pattern.within if job.pattern.leads else one.low)


def is_chained(pattern: Pattern) -> bool:
    """Whether a match decides where the next one may start."""
    return pattern.skip == "past last row" if isinstance(pattern, RowPattern) else pattern.output == "nonoverlapping"


def _stop(job: RangeJob, one: TimeRange) -> int | None:
    return None if one.high is None else one.high + window_of(job.pattern)


def _tables(job: RangeJob, entry: Entry, stop: int | None, at_once: Callable[[], int] = lambda: 0) -> Iterator[pa.Table]:
    entered = entry.enter(job.rows.pieces(entry.begin, stop, rows=at_once), job.pattern.reads)
    rows = StaticFilter(job.pattern).applied(entered)
    return rows if entry.begin is None or not job.back else chain([left_context(job.rows, entry.begin, stop, job.back)], rows)


def own_matches(matches: pa.Table, one: TimeRange, column: str) -> pa.Table:
    """Those that start in the range; `column` tells where."""
    if not matches.num_rows:
        return matches
    times = times_of(matches.column(column))
    span = pc.min_max(times)
    if (one.low is None or span["min"].as_py() >= one.low) and (one.high is None or span["max"].as_py() < one.high):
        return matches  # all but those at the borders
    inside = pc.greater_equal(times, span["min"].as_py() if one.low is None else one.low)
    return matches.filter(inside if one.high is None else pc.and_(inside, pc.less(times, one.high)))


def _count(job: RangeJob, one: TimeRange) -> pa.Table:
    """Matches that start before the range's end: those over all rows, less those that start behind it. Runs never look back; with
    negation, and in nested patterns, matches are found one by one anyway, and those of the range are counted."""
    stop = _stop(job, one)
    if isinstance(job.pattern, EventPattern | TreePattern) and (isinstance(job.pattern, TreePattern) or job.pattern.negations):
        marked = with_start(replace(job.pattern, output="all", measures=MeasureCode((), ColumnCode())))
        return pa.table({"count": pa.array([sum(table.num_rows for table in _matches(job, one, marked))], pa.int64())})
    total = _counted(job, _tables(job, at_time(one.low), stop))
    behind = 0 if one.high is None else _counted(job, _tables(job, at_time(one.high), stop))
    return pa.table({"count": pa.array([total - behind], pa.int64())})


def _counted(job: RangeJob, tables: Iterator[pa.Table]) -> int:
    return sum(pc.sum(table.column("count")).as_py() or 0 for table in run(job.pattern, tables, budget=job.budget))
