"""The own file source: which files a micro-batch reads, whatever happens to the directory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ostinato.base.errors import DataError, StateError
from ostinato.hosts.spark.streaming.file_list import FileList
from ostinato.hosts.spark.streaming.planned_files import FilePlanner, Footer, Plan


def add(folder: Path, name: str, rows: int = 1, age: int | None = None) -> None:
    pq.write_table(pa.table({"n": list(range(rows))}), folder / ("_" + name))
    os.rename(folder / ("_" + name), folder / name)
    if age is not None:
        os.utime(folder / name, ns=(10**18 + age, 10**18 + age))


def footer(path: str) -> Footer:
    with pq.ParquetFile(path) as opened:
        return Footer(opened.metadata.num_rows, opened.metadata.num_row_groups)


def planner(folder: Path, repaired: bool = False) -> FilePlanner:
    return FilePlanner(FileList(str(folder)), footer, repaired)


def durable(plan: Plan) -> Plan:
    """As Spark gives it back, also after a restart."""
    return Plan.of(json.loads(json.dumps(plan.offset())))


def names(folder: Path, start: Plan, rows: int | None = None) -> tuple[list[str], Plan]:
    end = durable(planner(folder).next(start, rows))
    return [file.name for file in planner(folder).between(start, end)], end


def test_files_are_taken_once_in_the_order_in_which_they_were_written(tmp_path) -> None:
    assert names(tmp_path, Plan()) == ([], Plan())
    for age, name in enumerate(("z.parquet", "b.parquet", "a.parquet")):
        add(tmp_path, name, 10, age)
    add(tmp_path, "notes.txt")
    first, reached = names(tmp_path, Plan(), 15)
    rest, end = names(tmp_path, reached, 20)
    assert (first, rest) == (["z.parquet"], ["b.parquet", "a.parquet"])
    assert planner(tmp_path).next(end, None) is end  # nothing came: Spark compares offsets
    assert names(tmp_path, Plan(), 3)[0] == ["z.parquet"]


def test_a_file_that_was_read_may_be_touched(tmp_path) -> None:
    add(tmp_path, "a.parquet")
    _, end = names(tmp_path, Plan())
    os.chmod(tmp_path / "a.parquet", 0o600)
    os.utime(tmp_path / "a.parquet")
    assert names(tmp_path, end) == ([], end)


def test_a_file_is_read_when_something_is_in_it(tmp_path) -> None:
    (tmp_path / "a.parquet").touch()
    assert names(tmp_path, Plan()) == ([], Plan())
    add(tmp_path, "a.parquet")
    assert names(tmp_path, Plan())[0] == ["a.parquet"]


def test_files_of_one_tick_and_older_ones_are_read(tmp_path) -> None:
    add(tmp_path, "m.parquet", age=5)
    _, end = names(tmp_path, Plan())
    add(tmp_path, "z.parquet", age=5)
    add(tmp_path, "b.parquet", age=5)
    add(tmp_path, "older.parquet", age=1)
    found, end = names(tmp_path, end)
    assert found == ["older.parquet", "b.parquet", "z.parquet"]
    assert names(tmp_path, end) == ([], end)


def test_retention_and_new_files(tmp_path) -> None:
    """What is gone is forgotten, so that offsets do not grow for ever; what is there stays known."""
    for number in range(20):
        add(tmp_path, f"{number}.parquet", age=number)
    _, full = names(tmp_path, Plan())
    for number in range(18):
        (tmp_path / f"{number}.parquet").unlink()
    add(tmp_path, "20.parquet", age=20)
    found, end = names(tmp_path, full)
    assert found == ["20.parquet"]
    assert len(end.taken) < len(full.taken) / 5
    assert names(tmp_path, end) == ([], end)


def test_a_planned_batch_is_read_as_planned_or_not_at_all(tmp_path) -> None:
    add(tmp_path, "a.parquet", 5)
    add(tmp_path, "b.parquet", 5)
    end = durable(planner(tmp_path).next(Plan(), None))
    add(tmp_path, "c.parquet")
    assert {file.name for file in planner(tmp_path).between(Plan(), end)} == {"a.parquet", "b.parquet"}
    add(tmp_path, "a.parquet", 5000)
    with pytest.raises(DataError, match=r"a\.parquet has changed since it was planned"):
        planner(tmp_path).between(Plan(), end)
    with pytest.raises(DataError, match=r"a\.parquet has changed since it was taken"):
        planner(tmp_path).next(end, None)
    (tmp_path / "b.parquet").unlink()
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(DataError, match=r"is gone since it was planned"):
        planner(tmp_path).between(Plan(), end)


def test_repaired_files_are_read_as_they_are(tmp_path) -> None:
    add(tmp_path, "a.parquet", 5)
    add(tmp_path, "b.parquet", 5)
    end = durable(planner(tmp_path).next(Plan(), None))
    add(tmp_path, "a.parquet", 5000)
    (tmp_path / "b.parquet").unlink()
    mending = planner(tmp_path, repaired=True)
    assert [(file.name, file.size) for file in mending.between(Plan(), end)] == [("a.parquet", os.stat(tmp_path / "a.parquet").st_size)]
    assert mending.next(end, None) is end


def test_a_file_that_cannot_be_read_is_not_planned(tmp_path) -> None:
    (tmp_path / "half.parquet").write_bytes(b"PAR1")
    with pytest.raises(pa.ArrowInvalid):
        planner(tmp_path).next(Plan(), None)
    add(tmp_path, "half.parquet")
    assert names(tmp_path, Plan())[0] == ["half.parquet"]


def test_only_what_was_there_when_the_run_began(tmp_path) -> None:
    add(tmp_path, "a.parquet", age=5)
    add(tmp_path, "b.parquet", age=1)
    end = planner(tmp_path).next(Plan(), None, frozenset({"a.parquet"}))
    assert [file.name for file in end.files] == ["a.parquet"]
    assert names(tmp_path, end)[0] == ["b.parquet"]


def test_the_end_is_a_batch_of_its_own(tmp_path) -> None:
    add(tmp_path, "a.parquet")
    ending = FilePlanner(FileList(str(tmp_path)), footer, ends=True)
    last = durable(ending.next(Plan(), None))
    assert [file.name for file in last.files] == ["a.parquet"] and not last.ended
    end = durable(ending.next(last, None))
    assert end.ended and ending.between(last, end) == []
    assert ending.next(end, None) is end
    add(tmp_path, "b.parquet")
    with pytest.raises(StateError, match=r"has ended, and then the file b\.parquet came"):
        planner(tmp_path).next(end, None)


def test_other_offsets_and_directories_are_refused(tmp_path) -> None:
    add(tmp_path, "a.parquet")
    with pytest.raises(StateError, match="another release"):
        Plan.of({"changed": 0, "name": "", "files": 0})
    with pytest.raises(StateError, match="at once"):
        planner(tmp_path).between(Plan(), Plan(batch=2))
    with pytest.raises(DataError, match="no directory"):
        FileList(str(tmp_path / "none")).present()


def test_names_of_every_kind(tmp_path) -> None:
    odd = "a b%20ü?.parquet"
    add(tmp_path, odd)
    for files in (FileList(str(tmp_path)), FileList(f"file://{tmp_path}")):
        assert [(file.name, file.size) for file in files.present()] == [(odd, files.size(odd))]
        assert files.size("none.parquet") is None
    assert names(tmp_path, Plan())[0] == [odd]
