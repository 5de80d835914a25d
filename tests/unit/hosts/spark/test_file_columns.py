"""Files of one directory with other columns than their stream."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ostinato.archive.file_columns import check_columns, reads_as
from ostinato.base.errors import DataError

UTC = pa.timestamp("us", tz="UTC")


def check(tmp_path, table: pa.Table, wanted: pa.Schema) -> None:
    path = str(tmp_path / "x.parquet")
    pq.write_table(table, path)
    with pq.ParquetFile(path) as opened:
        check_columns(opened, path, wanted)


def test_a_column_that_is_missing_or_of_another_type_is_named_with_its_file(tmp_path) -> None:
    wanted = pa.schema([("ts", UTC), ("v", pa.int32())])
    table = pa.table({"ts": pa.array([1], UTC), "v": pa.array([1], pa.int32()), "more": ["x"]})
    check(tmp_path, table, wanted)
    with pytest.raises(DataError, match=r"x\.parquet has no column 'v'"):
        check(tmp_path, table.drop(["v"]), wanted)
    with pytest.raises(DataError, match=r"column 'v' of the file .*x\.parquet has type int64, the stream's has int32"):
        check(tmp_path, table.set_column(1, "v", pa.array([1])), wanted)
    with pytest.raises(DataError, match="has type string"):
        check(tmp_path, table.set_column(1, "v", pa.array(["1"])), wanted)


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        (pa.int32(), pa.int64()),
        (pa.int32(), pa.float64()),
        (pa.float32(), pa.float64()),
        (pa.decimal128(5, 2), pa.decimal128(9, 3)),
        (pa.dictionary(pa.int32(), pa.string()), pa.string()),
        (pa.large_string(), pa.string()),
        (pa.timestamp("ms", tz="UTC"), UTC),
        (pa.timestamp("us"), UTC),
        (pa.null(), pa.string()),
        (pa.list_(pa.field("item", pa.int32())), pa.list_(pa.field("element", pa.int64()))),
        (pa.struct([("id", pa.int32())]), pa.struct([("id", pa.int64())])),
        (pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.int64())),
    ],
    ids=str,
)
def test_safe_changes(stored: pa.DataType, wanted: pa.DataType) -> None:
    assert reads_as(stored, wanted)


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        (pa.int64(), pa.float64()),
        (pa.int32(), pa.float32()),
        (pa.int64(), UTC),
        (UTC, pa.timestamp("us")),
        (pa.string(), pa.int32()),
        (pa.bool_(), pa.int32()),
        (pa.date32(), UTC),
        (pa.decimal128(9, 2), pa.decimal128(9, 3)),
        (pa.struct([("id", pa.int32())]), pa.struct([("di", pa.int32())])),
        (pa.struct([("id", pa.int32()), ("x", pa.int32())]), pa.struct([("id", pa.int32())])),
    ],
    ids=str,
)
def test_changes_that_lose_or_change_values(stored: pa.DataType, wanted: pa.DataType) -> None:
    assert not reads_as(stored, wanted)
