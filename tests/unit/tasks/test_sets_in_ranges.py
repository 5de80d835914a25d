"""Time ranges of a set find exactly what one pass finds for every query, wherever the borders fall. No Spark is needed for that."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.archive.row_groups import list_row_groups
from ostinato.program.program import joined
from ostinato.tasks.keyed_pass import Failed
from ostinato.tasks.ranges.set_entry import first_time
from ostinato.tasks.ranges.set_job import SetJob
from ostinato.tasks.ranges.set_task import run_set_range
from ostinato.tasks.ranges.time_ranges import TimeRange
from ostinato.tasks.set_division import why_not_in_time, window_of
from ostinato.tasks.set_output import as_one_table

SHAPE = """SELECT * FROM ticks MATCH_RECOGNIZE ({by} ORDER BY ts MEASURES A.ts AS a, LAST(B.ts) AS b, COUNT(*) AS n {skip}
    PATTERN (A B+) WITHIN {within} DEFINE A AS v > {least}, B AS v < PREV(v))"""
PARITY = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a PATTERN (A B) WITHIN 5
    DEFINE A AS v >= {least}, B AS v >= {least})"""
PAIR = """PATTERN SEQ(ticks a, ticks b) WHERE skip_till_any_match(a, b) {{ [k] and a.v > {least} and b.v > a.v }} WITHIN {within}
    RETURN b.ts AS b"""
ONES = {
    "shown": "PATTERN SEQ(ticks x, ticks y) WHERE skip_till_next_match(x, y) { [k] and x.v < 1 and y.v > 4 } WITHIN 7",
    "nothing before": "PATTERN SEQ(~(ticks x), ticks a, ticks b) WHERE skip_till_any_match(x, a, b) "
    "{ [k] and x.v = 5 and b.v > a.v } WITHIN 6 RETURN a.ts AS a, b.ts AS b",
    "quiet": "PATTERN SEQ(ticks a, ~(ticks n)) WHERE skip_till_next_match(a, n) { [k] and a.v > 4 and n.v > 4 } WITHIN 10 RETURN a.ts AS a",
    "apart": "PATTERN SEQ(ticks a, ticks b, ticks c) WHERE skip_till_next_match(a, b, c) "
    "{ [k] and b.v > a.v and c.v < b.v } WITHIN 9 RETURN a.ts AS a, c.ts AS c OUTPUT nonoverlapping",
    "any key": "PATTERN SEQ(ticks a, ticks b) WHERE strict_contiguity(a, b) { b.v > a.v } WITHIN 9 RETURN a.ts AS a",
    "all rows": "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(*) AS n ALL ROWS PER MATCH "
    "PATTERN (A B+) WITHIN 8 DEFINE B AS v < PREV(v))",
}


def ticks(rows: int, seed: int) -> pa.Table:
    generator = np.random.default_rng(seed)
    keys = [None if n == 4 else f"k{n}" for n in generator.integers(0, 5, rows)]
    values = pa.array(generator.integers(0, 6, rows), mask=generator.random(rows) < 0.03)
    return pa.table({"ts": np.cumsum(generator.integers(0, 3, rows)), "k": pa.array(keys, pa.string()), "v": values})


def of_shapes() -> ost.QuerySet:
    """Many of one shape: these are evaluated as one."""
    made = ost.QuerySet({"ticks": ticks(1, 0).schema})
    for least in range(6):
        made.add(f"past {least}", SHAPE.format(by="PARTITION BY k", skip="", within=6, least=least))
        made.add(f"next {least}", SHAPE.format(by="", skip="AFTER MATCH SKIP TO NEXT ROW", within=4, least=least))
        made.add(f"pair {least}", PAIR.format(least=least, within=5))
        made.add(f"parity {least}", PARITY.format(least=least))
    return made


def of_others() -> ost.QuerySet:
    made = ost.QuerySet({"ticks": ticks(1, 0).schema})
    for name, text in ONES.items():
        made.add(name, text)
    made.add("past", SHAPE.format(by="PARTITION BY k", skip="", within=6, least=2))
    made.add("pair", PAIR.format(least=1, within=12))
    return made


def job(made: ost.QuerySet, table: pa.Table, folder: Path, borders: list[int], group: int) -> SetJob:
    path = folder / "ticks.parquet"
    pq.write_table(table, path, row_group_size=group)
    reads = reduce(joined, made.program.inputs)
    schema = pa.schema([table.schema.field(column.name) for column in reads.columns])
    edges = [None, *borders, None]
    ranges = tuple(TimeRange(low, high) for low, high in zip(edges[:-1], edges[1:], strict=True))
    groups = tuple(bounded for group in list_row_groups([str(path)], "ts") if (bounded := group.bounded) is not None)
    assert why_not_in_time(made.program) is None
    return SetJob(made.program, reads, schema, groups, ranges, window_of(made.program))


def shown(table: pa.Table) -> list[str]:
    """Without what counts from the beginning of what a session has seen."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return sorted((name, plain(item)) for name, item in value.items() if name not in ("match_id", "seq") and item is not None)
        return value

    return sorted(repr(plain(row)) for row in table.to_pylist())


def in_ranges(made: SetJob, output: pa.Schema, failed: Failed | None = None) -> list[str]:
    found = [
        as_one_table(decided, made.program, output, number, 0)
        for number, one in enumerate(made.ranges)
        for decided in run_set_range(made, one, failed)
    ]
    return shown(pa.concat_tables(found))


def whole(made: ost.QuerySet, table: pa.Table) -> list[str]:
    found = ost.match_all(made, ticks=table)
    return sorted(row for name, one in found.items() for row in shown(one.add_column(0, "query_id", pa.repeat(name, one.num_rows))))


@pytest.mark.parametrize("queries", [of_shapes, of_others])
def test_ranges_equal_whole(queries, tmp_path):
    made = queries()
    assert (len(made.program.operators) < len(made)) == (queries is of_shapes)
    for seed in range(4):
        table, generator = ticks(300, seed), np.random.default_rng(seed)
        borders = sorted({int(border) for border in generator.integers(1, 300, 4)})
        expected = whole(made, table)
        assert in_ranges(job(made, table, tmp_path, borders, int(generator.integers(7, 60))), made.output_schema) == expected
        assert len(expected) > 300


def test_chains_that_never_meet_are_followed_from_the_beginning(tmp_path):
    table = pa.table({"ts": np.arange(200), "k": pa.repeat("k", 200), "v": pa.array([5] * 200)})
    for count in (1, 6):  # by themselves, and as one shape
        made = ost.QuerySet({"ticks": table.schema})
        for number in range(count):
            made.add(f"parity {number}", PARITY.format(least=number))
        one = job(made, table, tmp_path, [121], 10)
        assert first_time(one, 121, None) is None
        assert in_ranges(one, made.output_schema) == whole(made, table)


def test_chains_that_meet_are_followed_from_near_by(tmp_path):
    made, table = of_shapes(), ticks(3000, 1)
    for least in range(6):
        made.remove(f"parity {least}")
    begin = first_time(job(made, table, tmp_path, [2000], 50), 2000, None)
    assert begin is not None and 1900 < begin < 2000


def test_a_query_that_fails_is_put_aside(tmp_path):
    made, table = of_others(), ticks(300, 1)
    made.add("fails", SHAPE.format(by="PARTITION BY k", skip="", within=6, least="v * 9000000000000000000"))
    expected = whole(of_others(), table)
    failed: Failed = {}
    assert in_ranges(job(made, table, tmp_path, [90, 170], 20), made.output_schema, failed) == expected
    assert set(failed) == {"fails"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PAIR.format(least=1, within=3) + " OUTPUT count", "count shows"),
        (SHAPE.format(by="", skip="", within=6, least="PREV(v)"), "look at rows before or behind"),
        (SHAPE.format(by="", skip="", within=6, least=1).replace("COUNT(*)", "MATCH_NUMBER()"), "MATCH_NUMBER"),
        (SHAPE.format(by="", skip="", within=6, least=1).replace("WITHIN 6", ""), "no WITHIN"),
        ("SELECT k, v FROM FILTER {DUR < 6} ((SELECT k, v FROM ticks) NEXT {$2.k = $1.k} ticks)", "that last"),
        ("FROM ticks PARTITION BY k DEFINE A AS v > 1, B AS v < 3 PATTERN A overlaps B WITHIN 6 RETURN count(A.*) AS n", "that last"),
    ],
)
def test_what_is_not_cut(text, reason):
    made = of_others()
    assert why_not_in_time(made.program) is None
    made.add("one", text)
    assert reason in str(why_not_in_time(made.program))
