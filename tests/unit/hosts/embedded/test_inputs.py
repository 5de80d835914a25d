"""Every kind of input gives the same result, sorted or not, in pieces or whole."""

import datetime as dt

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import ostinato as ost
from ostinato.base.errors import DataError, SchemaError, UnknownNameError

QUERY = """SELECT * FROM Ticks MATCH_RECOGNIZE (
    PARTITION BY sym ORDER BY ts
    MEASURES FIRST(id) AS a, LAST(id) AS b, COUNT(*) AS n, LAST(price) AS price, LAST(ts) AS ts
    PATTERN (A B+) DEFINE B AS price > PREV(price))"""

START = dt.datetime(2024, 1, 1)
ROWS = 200


def rows():
    """Two interleaved symbols and a null one, prices that rise and fall, ties in time, in the order of time."""
    return pa.table(
        {
            "id": list(range(ROWS)),
            "sym": [("ä", "b", None)[i % 3] for i in range(ROWS)],
            "ts": pa.array([START + dt.timedelta(seconds=i // 2) for i in range(ROWS)], pa.timestamp("us")),
            "price": [float((i * 7919) % 17) if i % 11 else None for i in range(ROWS)],
            "unused": [{"x": i} for i in range(ROWS)],
        }
    )


TABLE = rows()
PLAIN = TABLE.drop_columns(["unused"])


def result(given):
    return sorted(ost.sql(QUERY, ticks=given).to_arrow().to_pylist(), key=str)


@pytest.fixture(scope="module")
def expected():
    found = result(TABLE)
    assert len(found) > 20
    return found


def files(tmp_path, table, write, suffix):
    for number in range(4):
        write(table.slice(number * ROWS // 4, ROWS // 4), tmp_path / f"part{number}{suffix}")
    return tmp_path


def test_arrow(expected):
    batches = PLAIN.to_batches(max_chunksize=7)
    assert result(batches) == expected
    assert result(pa.RecordBatchReader.from_batches(PLAIN.schema, iter(batches))) == expected
    assert result(ds.dataset(TABLE)) == expected
    assert result([PLAIN.slice(0, 50), PLAIN.slice(50)]) == expected
    assert result(PLAIN.combine_chunks().to_batches()[0]) == expected


def test_dictionary_and_large_strings(expected):
    index = PLAIN.schema.get_field_index("sym")
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        assert result(PLAIN.set_column(index, "sym", PLAIN.column("sym").cast(kind))) == expected


def test_pandas(expected):
    frame = PLAIN.to_pandas()
    assert result(frame) == expected
    assert result(frame.set_index(["ts", "id"])) == expected


def test_polars_frames_that_are_not_in_order(expected):
    frame = pl.from_arrow(PLAIN).sort("price", maintain_order=True).sort("id", descending=True)
    assert sorted(row["n"] for row in result(frame.sort("id"))) == sorted(row["n"] for row in expected)
    backwards = result(frame)
    assert backwards == result(frame.to_arrow())


def test_strings_that_are_views(expected):
    views = PLAIN.set_column(1, "sym", PLAIN["sym"].cast(pa.string_view()))
    shuffled = views.to_batches()[0].slice(100), views.to_batches()[0].slice(0, 100)
    assert result(views.to_reader()) == expected
    assert result(pa.Table.from_batches(shuffled)) == expected
    query = ost.compile(QUERY, {"ticks": views.schema})
    session = query.open(lateness="5 minutes")
    found = [row for batch in shuffled for row in session.push(batch).to_pylist()]
    assert sorted(found + session.close().to_pylist(), key=str) == expected


def test_polars(expected):
    frame = pl.from_arrow(PLAIN)
    assert result(frame) == expected
    assert result(frame.lazy().filter(pl.col("id") >= 0)) == expected


def test_duckdb_relations(expected):
    connection = duckdb.connect()
    connection.register("r", PLAIN)
    assert result(connection.sql("SELECT * FROM r")) == expected
    assert result(connection.sql("SELECT *, 1 AS one FROM r WHERE id >= 0")) == expected


def test_parquet(tmp_path, expected):
    files(tmp_path, TABLE, pq.write_table, ".parquet")
    assert result(str(tmp_path / "*.parquet")) == expected
    assert result(tmp_path) == expected
    assert result([tmp_path / f"part{n}.parquet" for n in range(4)]) == expected
    assert result([str(tmp_path / "part[01].parquet"), str(tmp_path / "part[23].parquet")]) == expected


def test_directories_may_be_columns(tmp_path):
    for sym in ("a", "b"):
        (tmp_path / f"sym={sym}").mkdir()
        pq.write_table(pa.table({"id": [1, 2], "ts": [1, 2], "price": [1.0, 2.0]}), tmp_path / f"sym={sym}" / "x.parquet")
    assert [row["sym"] for row in result(tmp_path)] == ["a", "b"]


def test_csv(tmp_path, expected):
    files(tmp_path, PLAIN, pc.write_csv, ".csv")
    assert result(str(tmp_path / "*.csv")) == expected


def test_json(tmp_path, expected):
    connection = duckdb.connect()
    connection.register("r", PLAIN)
    connection.execute(f"COPY (FROM r) TO '{tmp_path}/rows.jsonl' (FORMAT json)")
    assert result(tmp_path / "rows.jsonl") == expected


SHUFFLED = PLAIN.take(pa.array(sorted(range(ROWS), key=lambda i: ((i // 2) * 37 % 100, i))))  # ties in time stay in order


def test_unsorted_inputs(tmp_path, expected):
    files(tmp_path, SHUFFLED, pq.write_table, ".parquet")
    files(tmp_path, SHUFFLED, pc.write_csv, ".csv")
    frame = pl.from_arrow(SHUFFLED)
    connection = duckdb.connect()
    connection.register("r", SHUFFLED)
    given = {
        "table": SHUFFLED,
        "reader": SHUFFLED.to_reader(),
        "lazy": frame.lazy(),
        "relation": connection.sql("FROM r"),
        "parquet": str(tmp_path / "*.parquet"),
        "csv": str(tmp_path / "*.csv"),
    }
    assert {name: result(value) == expected for name, value in given.items()} == dict.fromkeys(given, True)


def test_a_small_batch_size_changes_nothing(tmp_path, expected, monkeypatch):
    for module in ("sources.source", "sources.stream_source", "sources.file_source", "sources.query_source", "inputs"):
        monkeypatch.setattr(f"ostinato.hosts.embedded.{module}.BATCH_ROWS", 7)
    monkeypatch.setattr("ostinato.hosts.embedded.sources.table_source.TABLE_ROWS", 7)
    files(tmp_path, SHUFFLED, pq.write_table, ".parquet")
    assert result(SHUFFLED) == result(str(tmp_path / "*.parquet")) == result(pl.from_arrow(TABLE).lazy()) == expected


@pytest.mark.parametrize(
    ("order", "first"),
    [("v", 1), ("v DESC", 5), ("v NULLS FIRST", None), ("s, v DESC", 2), ("s DESC NULLS FIRST, v", 1)],
)
def test_orders_agree_in_memory_and_in_duckdb(order, first):
    table = pa.table({"v": [3, None, 5, 1, 2], "s": ["b", "b", "c", None, "a"]})
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY {order} MEASURES FIRST(v) AS v PATTERN (A+) DEFINE A AS TRUE)"
    assert ost.sql(query, t=table).to_arrow().to_pylist() == [{"v": first}]
    assert ost.sql(query, t=table.to_reader()).to_arrow().to_pylist() == [{"v": first}]


@pytest.mark.parametrize(
    "empty", [PLAIN.slice(0, 0), PLAIN.slice(0, 0).to_reader(), PLAIN.slice(0, 0).to_pandas()[:0]], ids=["table", "reader", "pandas"]
)
def test_empty_inputs(empty):
    if isinstance(empty, pd.DataFrame):
        empty = empty.astype({"sym": "string"})
    found = ost.sql(QUERY, ticks=empty)
    assert len(found) == 0
    assert found.columns == ["sym", "a", "b", "n", "price", "ts"]


def test_types_survive_the_sort_in_duckdb():
    table = pa.table(
        {
            "k": [2, 1],
            "span": pa.array([dt.timedelta(seconds=1), None], pa.duration("ms")),
            "day": pa.array([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], pa.date64()),
            "zoned": pa.array([START, START], pa.timestamp("ms", "Europe/Berlin")),
            "code": pa.array(["a", "b"]).dictionary_encode(),
            "price": pa.array([1, 2], pa.decimal128(10, 2)),
            "small": pa.array([1, 2], pa.uint8()),
        }
    )
    names = ", ".join(f"FIRST({name}) AS {name}1, LAST({name}) AS {name}2" for name in table.column_names)
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY k MEASURES {names} PATTERN (A+) DEFINE A AS TRUE)"
    expected = ost.sql(query, t=table).to_arrow()
    assert expected.column("span2").to_pylist() == [dt.timedelta(seconds=1)]
    assert ost.sql(query, t=table.to_reader()).to_arrow().equals(expected)


def test_time_zones():
    stamps = pa.array([START, START + dt.timedelta(hours=1)], pa.timestamp("ns", "Europe/Berlin"))
    found = ost.sql(
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(ts) AS ts PATTERN (A B) WITHIN INTERVAL '1' HOUR DEFINE A AS TRUE)",
        t=pa.table({"ts": stamps}),
    )
    assert found.schema.field("ts").type == pa.timestamp("ns", "Europe/Berlin")
    assert len(found) == 1


# What goes wrong


def error_of(given, query=QUERY):
    with pytest.raises(ost.OstinatoError) as caught:
        ost.sql(query, ticks=given)
    return caught.value


def test_missing_files(tmp_path):
    error = error_of(str(tmp_path / "none.parquet"))
    assert isinstance(error, DataError)
    assert error.message == f"Stream `ticks` cannot be read: there is no file {tmp_path}/none.parquet"
    assert "Paths are relative to" in (error.hint or "")
    assert error_of(str(tmp_path / "*.csv")).message == f"Stream `ticks` cannot be read: no file matches {tmp_path}/*.csv"
    assert error_of(tmp_path).message == f"Stream `ticks` cannot be read: the directory {tmp_path} has no files"


def test_unreadable_files(tmp_path):
    (tmp_path / "empty.parquet").touch()
    assert error_of(tmp_path / "empty.parquet").message == f"Stream `ticks` cannot be read: the file {tmp_path}/empty.parquet is empty"
    (tmp_path / "bad.parquet").write_bytes(b"this is no Parquet file at all, whatever its name says")
    error = error_of(tmp_path / "bad.parquet")
    assert isinstance(error, DataError)
    assert error.message.startswith("Stream `ticks` cannot be read: ")
    (tmp_path / "rows.xlsx").write_bytes(b"x")
    error = error_of(tmp_path / "rows.xlsx")
    assert error.message == f"Stream `ticks` cannot be read: {tmp_path}/rows.xlsx is of an unknown kind"
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    assert "different kinds" in error_of([tmp_path / "a.csv", tmp_path / "bad.parquet"]).message


def test_frames_and_relations_that_fail(tmp_path):
    error = error_of(pl.scan_parquet(tmp_path / "none.parquet"))
    assert isinstance(error, DataError)
    assert error.message.startswith("Stream `ticks` cannot be read: ")
    broken = pl.LazyFrame({"id": [1], "sym": ["a"], "ts": [1], "price": ["x"]}).with_columns(pl.col("price").cast(pl.Float64))
    assert isinstance(error_of(broken), DataError)
    relation = duckdb.connect().sql("SELECT 1 AS id, 'a' AS sym, 1 AS ts, CAST(x AS DOUBLE) AS price FROM (VALUES ('1'), ('y')) t(x)")
    assert isinstance(error_of(relation), DataError)


def test_truncated_parquet(tmp_path):
    pq.write_table(PLAIN, tmp_path / "x.parquet")
    data = bytearray((tmp_path / "x.parquet").read_bytes())
    data[4 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4)
    (tmp_path / "x.parquet").write_bytes(data)
    assert isinstance(error_of(tmp_path / "x.parquet"), DataError)


def test_broken_csv_row(tmp_path):
    lines = ["id,sym,ts,price", *(f"{i},a,2024-01-01 00:00:00,1.5" for i in range(30_000)), "x,a,2024-01-01,notanumber"]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    assert isinstance(error_of(tmp_path / "x.csv"), DataError)


def test_values_of_other_kinds():
    assert error_of(5).message == "Stream `ticks` cannot be read from a int"
    assert error_of([]).message == "Stream `ticks` cannot be read from a list"
    assert error_of([{"a": 1}]).message == "Stream `ticks` cannot be read from a dict"
    assert isinstance(error_of(pd.DataFrame({"id": [1, "x"]})), DataError)
    assert error_of(pa.chunked_array([[1, 2]])).message == "Stream `ticks` cannot be read from a pyarrow.lib.ChunkedArray"


def test_batches_that_differ():
    assert isinstance(error_of([PLAIN, PLAIN.drop_columns(["id"])]), SchemaError)


def test_columns_of_the_same_name():
    twice = pa.table([[1], [2]], names=["id", "id"])
    assert error_of(twice).message == "Stream `ticks` has two columns called `id`"
    assert error_of(twice.to_pandas()).message == "Stream `ticks` has two columns called `id`"


def test_a_frame_of_spark():
    """By its module: Spark is not loaded for it."""
    error = error_of(type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})())
    assert error.message == "Stream `ticks` is a DataFrame of Spark" and "ost.on(spark)" in str(error)


def test_names_that_differ_in_case_alone():
    with pytest.raises(UnknownNameError, match="given twice"):
        ost.sql(QUERY, ticks=PLAIN, TICKS=PLAIN)


def test_a_reader_is_read_once():
    reader = PLAIN.to_reader()
    ost.sql(QUERY, ticks=reader)
    both = f"SELECT * FROM ({QUERY}) a JOIN ({QUERY}) b ON a.a = b.a"
    with pytest.raises(DataError, match="was read already"):
        ost.sql(both, ticks=PLAIN.to_reader())


def test_missing_columns():
    error = error_of(PLAIN.drop_columns(["price"]))
    assert isinstance(error, UnknownNameError)
    assert error.position == (4, 32)


def test_a_time_that_cannot_be_ordered():
    query = "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A+) WITHIN 5 DEFINE A AS TRUE)"
    error = error_of(pa.table({"t": [1, None, 3]}), query)
    assert isinstance(error, DataError)


def test_a_reader_that_a_query_has_read_is_told_so():
    """It would be empty the second time."""
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    assert len(ost.match("PATTERN SEQ(T a)", t=reader)) == len(TABLE)
    with pytest.raises(DataError, match="Stream `u` is a reader that was read already"):
        ost.match("PATTERN SEQ(U a)", u=reader)
