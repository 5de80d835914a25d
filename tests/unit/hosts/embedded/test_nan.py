"""What a NaN is depends on who writes it: pandas' own float columns write missing values so, everybody else has nulls beside it."""

import math

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost

NAN = float("nan")
CLAUSE = "MATCH_RECOGNIZE (ORDER BY n MEASURES A.x AS x PATTERN (A) DEFINE A AS true)"
TABLE = pa.table({"n": [1, 2, 3], "x": pa.array([1.0, NAN, None])})


def numpy_frame():
    return pd.DataFrame({"n": [1, 2, 3], "x": [1.0, NAN, None]})


def nullable_frame():
    column = pd.arrays.FloatingArray(np.array([1.0, NAN, 0.0]), np.array([False, False, True]))
    return pd.DataFrame({"n": [1, 2, 3], "x": column})


WRITES_MISSING = {
    "a pandas float column": numpy_frame,
    "float32": lambda: numpy_frame().astype({"x": "float32"}),
    "objects": lambda: numpy_frame().astype({"x": object}).assign(x=[1.0, NAN, None]),
    "pandas read by DuckDB": lambda: duckdb.from_df(numpy_frame()),
}
HAS_NULLS = {
    "Arrow": lambda: TABLE,
    "an Arrow reader": TABLE.to_reader,
    "Polars": lambda: pl.from_arrow(TABLE),
    "DuckDB": lambda: duckdb.from_arrow(TABLE),
    "a nullable dtype of pandas": nullable_frame,
    "an Arrow dtype of pandas": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
}


def on_all_ways(given):
    """One-shot, with DuckDB around the clause, as an event pattern, and pushed."""
    yield ost.sql(f"SELECT * FROM t {CLAUSE}", t=given()).to_arrow()
    yield ost.sql(f"SELECT x FROM (SELECT * FROM t) {CLAUSE} WHERE true", t=given()).to_arrow()
    yield ost.match("PATTERN SEQ(t a) RETURN a.x AS x", t=given(), time="n").to_arrow()
    session = ost.compile(f"SELECT * FROM t {CLAUSE}", {"t": TABLE.schema}).open()
    yield pa.concat_tables([session.push("t", given()), session.close()])


@pytest.mark.parametrize("kind", WRITES_MISSING)
def test_where_it_stands_for_a_missing_value_it_is_null(kind):
    assert [found["x"].to_pylist() for found in on_all_ways(WRITES_MISSING[kind])] == [[1.0, None, None]] * 4


@pytest.mark.parametrize("kind", HAS_NULLS)
def test_where_there_are_nulls_beside_it_it_stays(kind):
    for found in on_all_ways(HAS_NULLS[kind]):
        first, second, third = found["x"].to_pylist()
        assert first == 1.0 and math.isnan(second) and third is None


def test_in_files_it_stays(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    found = ost.sql(f"SELECT * FROM t {CLAUSE}", t=str(tmp_path / "t.parquet")).to_arrow()
    assert math.isnan(found["x"][1].as_py()) and found["x"][2].as_py() is None
