"""Files appear whole or not at all, in the format that their name asks for."""

from __future__ import annotations

import json
import math
import re
import resource
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from ostinato.base.errors import SchemaError
from ostinato.cli.failure import Usage
from ostinato.cli.outputs import check_output, whole_file, write

MATCHES = pa.table(
    {
        "match_id": [1, 2],
        "start_ts": pa.array([datetime(2026, 3, 1, 9, tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
        "name": ['Zoë, "quoted"', None],
        "amount": pa.array([Decimal("1.50"), Decimal("2.25")], pa.decimal128(10, 2)),
        "a": [[{"seq": 0, "price": 1.5}, {"seq": 3, "price": 2.0}], []],
    }
)


def test_parquet_keeps_everything(tmp_path):
    write(MATCHES, tmp_path / "m.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "m.parquet").equals(MATCHES)


def test_csv_holds_nested_values_as_json(tmp_path):
    write(MATCHES, tmp_path / "m.csv")
    rows = pyarrow.csv.read_csv(tmp_path / "m.csv").to_pylist()
    assert json.loads(rows[0]["a"]) == [{"seq": 0, "price": 1.5}, {"seq": 3, "price": 2.0}]
    assert rows[0]["name"] == 'Zoë, "quoted"'


@pytest.mark.parametrize("name", ["m.json", "m.jsonl", "m.ndjson"])
def test_json(tmp_path, name):
    write(MATCHES, tmp_path / name)
    text = (tmp_path / name).read_text(encoding="utf-8")
    rows = json.loads(text) if name == "m.json" else [json.loads(line) for line in text.splitlines()]
    assert [row["match_id"] for row in rows] == [1, 2]
    assert rows[0]["start_ts"] == "2026-03-01T09:00:00+00:00"
    assert rows[0]["amount"] == "1.50"
    assert rows[1]["start_ts"] is None


@pytest.mark.parametrize("name", ["m.json", "m.jsonl"])
def test_json_does_not_lose_a_column(tmp_path, name):
    with pytest.raises(SchemaError, match="two columns called 'n'"):
        write(pa.table([[1], [2]], names=["n", "n"]), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_json_without_rows_is_an_empty_list(tmp_path):
    write(MATCHES.slice(0, 0), tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text()) == []


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, failure):
    path = tmp_path / "m.csv"
    path.write_text("old")
    with pytest.raises(failure), whole_file(path) as stream:
        stream.write(b"half of it")
        raise failure
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["m.parquet", "m.csv", "m.json", "m.jsonl"])
def test_no_room_for_the_file(tmp_path, name):
    """A limit on the size of files is met as a full disk is."""
    path = tmp_path / name
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, most))
    try:
        with pytest.raises(OSError, match=re.escape(str(path))):
            write(MATCHES, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert not list(tmp_path.iterdir())


def test_outputs_that_cannot_work_are_refused_first(tmp_path):
    with pytest.raises(Usage, match="format"):
        check_output(tmp_path / "matches.xlsx")
    with pytest.raises(Usage, match="does not exist"):
        check_output(tmp_path / "nowhere" / "m.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(Usage, match="directory"):
        check_output(tmp_path / "folder.csv")


def test_numbers_that_json_does_not_have_are_strings(tmp_path):
    write(pa.table({"x": [1.5, math.nan, -math.inf], "xs": [[math.inf], [], [1.0]]}), tmp_path / "m.json")
    rows = json.loads((tmp_path / "m.json").read_text(), parse_constant=pytest.fail)
    assert rows == [{"x": 1.5, "xs": ["Infinity"]}, {"x": "NaN", "xs": []}, {"x": "-Infinity", "xs": [1.0]}]


@pytest.mark.parametrize("name", ["m.csv", "m.json"])
def test_intervals_are_written_as_they_are_read(tmp_path, name):
    write(pa.table({"d": [timedelta(hours=26), -timedelta(seconds=5)]}), tmp_path / name)
    text = (tmp_path / name).read_text()
    assert '"1 day 02:00:00"' in text and '"-00:00:05"' in text
