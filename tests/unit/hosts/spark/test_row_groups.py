from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ostinato.archive.ordered_rows import OrderedRows
from ostinato.archive.row_groups import list_row_groups, measure_bounds
from ostinato.base.errors import DataError, SchemaError
from ostinato.expr.types import INT, TIMESTAMP_TZ
from ostinato.program.input import Column, Input

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("n", pa.int64())])


def reads(*order: tuple[int, bool, bool]) -> Input:
    return Input("t", (Column("ts", TIMESTAMP_TZ), Column("n", INT)), time=0, order=order or ((0, False, False),))


def write(path, times: list[int], numbers: list[int | None], size: int = 2, **options) -> str:
    table = pa.table([pa.array(times, SCHEMA.field("ts").type), pa.array(numbers, pa.int64())], schema=SCHEMA)
    pq.write_table(table, path, row_group_size=size, **options)
    return str(path)


def test_bounds_come_from_the_footer(tmp_path) -> None:
    groups = list_row_groups([write(tmp_path / "a.parquet", [-3, 5, 7, 9], [1, 2, 3, 4])], "ts")
    assert [(group.low, group.high, group.rows) for group in groups] == [(-3, 5, 2), (7, 9, 2)]


def test_bounds_of_int96_are_measured(tmp_path) -> None:
    file = write(tmp_path / "a.parquet", [10, 5, 7], [1, 2, 3], use_deprecated_int96_timestamps=True)
    groups = list_row_groups([file], "ts")
    assert groups[0].low is None
    assert [(group.low, group.high) for group in measure_bounds(groups, "ts")] == [(5, 10), (7, 7)]
    rows = OrderedRows(tuple(measure_bounds(groups, "ts")), reads(), SCHEMA)
    assert pa.concat_tables(rows.between(None, None)).column("n").to_pylist() == [2, 3, 1]


def test_a_file_that_is_no_parquet_is_named(tmp_path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("no")
    with pytest.raises(DataError, match=r"a\.parquet"):
        list_row_groups([str(path)], "ts")
    with pytest.raises(SchemaError, match="no column 'when'"):
        list_row_groups([write(tmp_path / "b.parquet", [1], [1])], "when")


def test_overlapping_row_groups_come_in_order_and_ties_by_file_and_row(tmp_path) -> None:
    files = [write(tmp_path / "a.parquet", [1, 4, 6, 9], [1, 2, 3, 4]), write(tmp_path / "b.parquet", [4, 5, 9, 12], [5, 6, 7, 8])]
    rows = OrderedRows(tuple(list_row_groups(files, "ts")), reads(), SCHEMA)
    tables = list(rows.between(None, None))
    assert pa.concat_tables(tables).column("n").to_pylist() == [1, 2, 5, 6, 3, 4, 7, 8]
    assert len(tables) > 1
    assert pa.concat_tables(rows.between(4, 9)).column("n").to_pylist() == [2, 5, 6, 3]


def test_further_order_columns_decide_ties(tmp_path) -> None:
    file = write(tmp_path / "a.parquet", [1, 1, 1, 2], [3, None, 5, 0], size=10)
    groups = tuple(list_row_groups([file], "ts"))
    found = OrderedRows(groups, reads((0, False, False), (1, True, False)), SCHEMA).between(None, None)
    assert pa.concat_tables(found).column("n").to_pylist() == [5, 3, None, 0]
    found = OrderedRows(groups, reads((0, False, False), (1, False, True)), SCHEMA).between(None, None)
    assert pa.concat_tables(found).column("n").to_pylist() == [None, 3, 5, 0]


def test_a_row_without_time_is_refused(tmp_path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table([pa.array([1, None], SCHEMA.field("ts").type), pa.array([1, 2])], schema=SCHEMA), path)
    rows = OrderedRows(tuple(list_row_groups([path], "ts")), reads(), SCHEMA)
    with pytest.raises(DataError, match=r'time column "ts" of stream ".*" is null in .*a.parquet'):
        list(rows.between(None, None))
