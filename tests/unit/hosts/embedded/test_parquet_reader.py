"""Parquet files are read as the dataset says, and only a stretch of rows at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.hosts.embedded.sources import source
from ostinato.hosts.embedded.sources.parquet_reader import parquet_reader
from ostinato.runtime.session import idle_keys

PAIR = """SELECT k, first, last FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS first, B.ts AS last
    PATTERN (A B) WITHIN 3 DEFINE B AS v > PREV(v))"""


def read(dataset: ds.Dataset, *columns: str) -> pa.Table:
    assert isinstance(dataset, ds.FileSystemDataset)
    return parquet_reader(dataset, columns).read_all()


def test_files_of_several_forms_are_read_as_the_dataset_says(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([1, 2], pa.int64()), "b": ["x", None]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": ["y"], "a": pa.array([3], pa.int32())}), tmp_path / "2.parquet")
    pq.write_table(pa.table({"a": pa.array([4], pa.int64())}), tmp_path / "3.parquet")
    dataset = ds.dataset(sorted(str(path) for path in tmp_path.iterdir()), format="parquet")
    for columns in (["a", "b"], ["b", "a"], ["b"]):
        assert read(dataset, *columns).equals(dataset.to_table(columns=columns))
    assert read(dataset).num_rows == 4


def test_columns_that_are_directories(tmp_path: Path) -> None:
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(pa.table({"ts": [10 * day, 10 * day + 1]}), tmp_path / f"day={day}" / "rows.parquet")
    dataset = ds.dataset(tmp_path, format="parquet", partitioning="hive")
    assert read(dataset, "day", "ts").equals(dataset.to_table(columns=["day", "ts"]))


def test_a_value_that_does_not_fit_is_an_error_that_names_the_stream(tmp_path: Path) -> None:
    pq.write_table(pa.table({"ts": pa.array([1], pa.int32()), "k": [1], "v": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"ts": pa.array([2**40], pa.int64()), "k": [1], "v": [1]}), tmp_path / "2.parquet")
    with pytest.raises(ost.DataError, match="Stream `t` cannot be read"):
        ost.sql(PAIR, t=str(tmp_path / "*.parquet"))


def test_a_row_group_is_not_decoded_at_once(tmp_path: Path) -> None:
    rows = 1 << 21
    pq.write_table(pa.table({"a": np.random.default_rng(1).random(rows)}), tmp_path / "large.parquet", row_group_size=rows)
    dataset = ds.dataset(tmp_path / "large.parquet", format="parquet")
    assert isinstance(dataset, ds.FileSystemDataset)
    before = pa.total_allocated_bytes()
    reader = parquet_reader(dataset, ["a"])
    held = [reader.read_next_batch().num_rows, pa.total_allocated_bytes() - before]
    assert held[0] <= rows // 16 and held[1] < 8 * rows // 2


def test_keys_of_files_in_order_are_forgotten_when_their_window_has_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 4000
    times = np.arange(count)
    pq.write_table(pa.table({"ts": times, "k": times // 2, "v": times % 2}), tmp_path / "rows.parquet")
    expected = ost.sql(PAIR, t=str(tmp_path / "rows.parquet")).to_arrow()
    assert expected.num_rows == count // 2
    monkeypatch.setattr("ostinato.hosts.embedded.sources.parquet_reader.BATCH_ROWS", 100)
    monkeypatch.setattr(source, "BATCH_ROWS", 100)
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 16)
    found = ost.sql(PAIR, t=str(tmp_path / "rows.parquet"))
    assert found.metrics["keys"] < 300
    assert found.to_arrow().equals(expected)
