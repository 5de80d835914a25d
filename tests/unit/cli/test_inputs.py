"""Inputs and query files are checked before anything runs."""

from __future__ import annotations

import pytest

from ostinato.base.errors import DataError, QuerySyntaxError
from ostinato.cli.failure import Usage
from ostinato.cli.inputs import read_inputs
from ostinato.cli.query_file import read_query


@pytest.mark.parametrize("name", ["time", "sandbox", "streams", "text", "self"])
def test_inputs_may_be_called_like_options_of_the_engines(tmp_path, name):
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert read_inputs([f"{name}={tmp_path}/a.csv"])[0].name == name


def test_a_name_and_a_glob(tmp_path):
    for number in range(2):
        (tmp_path / f"{number}.csv").write_text("a\n1\n")
    (found,) = read_inputs([f"ticks={tmp_path}/*.csv"])
    assert found.name == "ticks"
    assert [file.name for file in found.files] == ["0.csv", "1.csv"]


def test_a_path_alone_is_called_after_its_file(tmp_path):
    (tmp_path / "ticks.csv").write_text("a\n1\n")
    assert read_inputs([str(tmp_path / "ticks.csv")])[0].name == "ticks"


@pytest.mark.parametrize("given", ["ticks=nowhere.parquet", "ticks=nowhere/*.parquet"])
def test_a_missing_file(given):
    with pytest.raises(DataError, match="ticks does not exist: nowhere"):
        read_inputs([given])


def test_an_empty_file(tmp_path):
    (tmp_path / "ticks.csv").touch()
    with pytest.raises(DataError, match="empty file"):
        read_inputs([f"ticks={tmp_path / 'ticks.csv'}"])


def test_usage(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(Usage, match="given twice"):
        read_inputs([f"t={tmp_path / 't.csv'}", f"T={tmp_path / 't.csv'}"])
    with pytest.raises(Usage, match="needs a name"):
        read_inputs([f"1-t={tmp_path / 't.csv'}"])


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("q.sql", "SELECT 1", "sql"),
        ("q.sase", "PATTERN SEQ(A a)", "sase"),
        ("q.txt", "-- SQL?\n/* no */ pattern SEQ(A a)", "sase"),
        ("q.txt", "SELECT 1", "sql"),
    ],
)
def test_the_language_of_a_query_file(tmp_path, name, text, language):
    (tmp_path / name).write_text(text)
    assert read_query(str(tmp_path / name), None).language.name == language


@pytest.mark.parametrize("text", ["SELECT * FROM t MATCH_RECOGNIZE (" + "x" * 300, "PATTERN SEQ(A a, B b)"])
def test_a_query_instead_of_its_file(text):
    with pytest.raises(DataError, match="This is a query") as caught:
        read_query(text, None)
    assert "pipe it in" in caught.value.hint


def test_query_files_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="no query file"):
        read_query(str(tmp_path / "q.sql"), None)
    with pytest.raises(DataError, match="directory"):
        read_query(str(tmp_path), None)
    (tmp_path / "q.sql").write_text(" \n")
    with pytest.raises(QuerySyntaxError, match="empty"):
        read_query(str(tmp_path / "q.sql"), None)
    (tmp_path / "q.sql").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="UTF-8"):
        read_query(str(tmp_path / "q.sql"), None)
    with pytest.raises(Usage, match="unknown language"):
        read_query(str(tmp_path / "q.sql"), "cobol")
