"""What the tasks of a divided query do, one after the other in this process: as on Spark, without Spark."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.conformance.case import Case, Outcome
from tests.conformance.compiled_case import compiled
from tests.conformance.engines import attempt, table_found

from ostinato.archive.row_groups import list_row_groups
from ostinato.program import serde
from ostinato.program.input import Input
from ostinato.program.pattern import Pattern
from ostinato.query import Query
from ostinato.tasks import keyed_pass
from ostinato.tasks.conform import conform, reported
from ostinato.tasks.division import division_of
from ostinato.tasks.key_codes import key_codes
from ostinato.tasks.ranges.deferred_numbers import NUMBER, OWN, DeferredNumbers, numbers_matches
from ostinato.tasks.ranges.match_places import PLACE
from ostinato.tasks.ranges.merged_totals import TASK_OUTPUT, merged, task_program
from ostinato.tasks.ranges.range_job import RangeJob
from ostinato.tasks.ranges.range_task import read_range
from ostinato.tasks.ranges.static_filter import StaticFilter
from ostinato.tasks.ranges.time_ranges import TimeRange
from ostinato.tasks.worker import run

PASSES, KEYS_TOGETHER = 2, 2  # a pass has several keys, a case often no more than two
MOST_BORDERS = 4
ROWS = 2  # of a batch, and of a row group: borders are many


class KeyedPassEngine:
    """Rows shuffled by key into a few passes, each sorted; all rows in one pass where nothing divides them."""

    name = "keyed pass"

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        with patch.object(keyed_pass, "ROWS_AT_ONCE", ROWS):
            return [attempt(self._answer, case) for case in cases]

    def _answer(self, case: Case) -> Any:
        query = compiled(case)
        return table_found(case, together(query, in_passes(query, case.table, division_of(query.pattern).keys)))


class TimeRangesEngine(KeyedPassEngine):
    """Rows in a Parquet file, cut in time where row groups begin; where they cannot be cut, all in one pass, whatever their keys."""

    name = "time ranges"

    def _answer(self, case: Case) -> Any:
        query = compiled(case)
        found = in_ranges(query, case.table) if cuts_in_time(query, case.table) else in_passes(query, case.table, ())
        return table_found(case, together(query, found))


def cuts_in_time(query: Query, table: pa.Table) -> bool:
    return table.num_rows > 0 and division_of(query.pattern).not_in_time is None


def together(query: Query, found: pa.Table) -> pa.Table:
    """A count of all matches is the sum of those that tasks give."""
    return pa.table({"count": [sum(found.column("count").to_pylist())]}) if query.pattern.output == "count" else found


def in_passes(query: Query, table: pa.Table, keys: Sequence[str]) -> pa.Table:
    pattern = serde.loads(serde.dumps(query.program)).body
    rows = StaticFilter(pattern).apply(table.select([column.name for column in pattern.reads.columns]))
    shuffled = key_codes(rows, keys) // KEYS_TOGETHER % PASSES
    places = range(PASSES) if keys else range(1)
    passes = [_pass(pattern, keys, sorted_rows(rows.take(np.flatnonzero(shuffled == place)), keys, pattern.reads)) for place in places]
    batches = [batch for place, found in enumerate(passes) for batch in reported(found, pattern, query.output_schema, place)]
    return pa.Table.from_batches(batches, query.output_schema)


def _pass(pattern: Pattern, keys: Sequence[str], rows: pa.Table) -> Iterator[pa.Table]:
    batches = rows.to_batches(max_chunksize=ROWS)
    if keys:
        return keyed_pass.keyed_pass(pattern, batches)
    in_time = pattern.within >= 0 and pattern.within_unit == "time"
    return run(pattern, keyed_pass.concatenated(batches), ordered=not in_time)


def sorted_rows(rows: pa.Table, keys: Sequence[str], reads: Input) -> pa.Table:
    """By key, and by the order of the pattern; equal ones stay as they came."""
    order = [(key, False, True) for key in keys]
    order += [(reads.columns[number].name, descending, nulls_first) for number, descending, nulls_first in reads.order]
    places = list(range(rows.num_rows))
    for column, descending, nulls_first in reversed(order):
        values = rows.column(column).to_pylist()
        known = sorted((place for place in places if values[place] is not None), key=values.__getitem__, reverse=descending)
        nulls = [place for place in places if values[place] is None]
        places = nulls + known if nulls_first else known + nulls
    return rows.take(pa.array(places, pa.int64()))


def in_ranges(query: Query, table: pa.Table) -> pa.Table:
    pattern = query.pattern
    with tempfile.TemporaryDirectory() as folder:
        whole = range_job(query, table, Path(folder) / "rows.parquet")
        if pattern.output == "aggregates":
            return merged(_of_tasks(replace(whole, pattern=task_program(pattern), output=TASK_OUTPUT)), pattern)
        if not numbers_matches(pattern):
            return _of_tasks(whole)
        parts = DeferredNumbers(pattern)
        found = _of_tasks(replace(whole, pattern=parts.task_program, output=parts.task_output))
        return conform(numbered(found, parts), query.output_schema)


def range_job(query: Query, table: pa.Table, path: Path) -> RangeJob:
    pq.write_table(table, path, row_group_size=ROWS)
    reads = query.pattern.reads
    listed = list_row_groups([str(path)], reads.columns[reads.time].name)
    assert listed is not None
    groups = tuple(group.bounded for group in listed if group.bounded is not None)
    lows = sorted({group.low for group in groups})[1:]
    borders = lows[:: 1 + len(lows) // MOST_BORDERS]
    ranges = tuple(TimeRange(low, high) for low, high in zip([None, *borders], [*borders, None], strict=True))
    schema = pa.schema([table.schema.field(column.name) for column in reads.columns])
    return RangeJob(query.pattern, schema, query.output_schema, groups, ranges)


def _of_tasks(job: RangeJob) -> pa.Table:
    text = job.dumps()
    return pa.Table.from_batches([batch for number in range(len(job.ranges)) for batch in read_range(text, number)], job.output)


def numbered(matches: pa.Table, parts: DeferredNumbers) -> pa.Table:
    """The matches of all ranges with their numbers, which count those of their key."""
    matches = matches.sort_by(PLACE)
    counts: Counter[tuple[Any, ...]] = Counter()
    numbers = []
    for row in matches.select(parts.keys).to_pylist() if parts.keys else [{}] * matches.num_rows:
        counts[tuple(row.values())] += 1
        numbers.append(counts[tuple(row.values())])
    return parts.completed(matches.append_column(OWN + NUMBER, pa.array(numbers, pa.int64())))
