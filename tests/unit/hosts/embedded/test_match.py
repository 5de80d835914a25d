"""Event patterns over any input, with the options that stand outside the text."""

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import DataError, OstinatoError, QuerySyntaxError, SchemaError, UnknownNameError

STOCK = pa.table({"ts": [1, 2, 3, 4], "price": [1, 5, 2, 7]})
RISE = "PATTERN SEQ(Stock a, Stock b) WHERE partition_contiguity(a, b) { b.price > a.price } RETURN a.ts AS a, b.ts AS b"


def found(text, **given):
    return ost.match(text, **given).to_arrow().to_pylist()


def test_the_language_is_recognised():
    assert found(RISE, stock=STOCK) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    sql = "SELECT n FROM stock MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS price > 0)"
    assert found(sql, stock=STOCK) == found(sql, language="sql", stock=STOCK) == [{"n": 4}]


def test_rows_are_put_in_order_of_time():
    assert found(RISE, stock=STOCK.take([3, 0, 2, 1])) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_another_time_column():
    renamed = STOCK.rename_columns(["at", "price"])
    assert len(found(RISE.replace(".ts", ".at"), time="at", stock=renamed)) == 2
    with pytest.raises(SchemaError, match="no time column `ts`"):
        found(RISE.replace(".ts", ".at"), stock=renamed)


def test_types_in_a_column():
    events = pa.table({"ts": [1, 2, 3], "kind": ["A", "C", "B"], "x": [1, 2, 3]})
    assert found("PATTERN SEQ(A a, B b) RETURN a.x AS a, b.x AS b", type_by="kind", events=events) == [{"a": 1, "b": 3}]


def test_outputs():
    text = "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_any_match(a, b) { b.price > a.price }"
    assert len(found(text, stock=STOCK)) == 5
    assert len(found(text, output="nonoverlapping", stock=STOCK)) == 2


def test_default_output_has_the_events():
    rows = found("PATTERN SEQ(Stock a) WHERE a.price > 5", stock=STOCK)
    assert [(row["start_ts"], row["end_ts"], row["a"]["price"]) for row in rows] == [(4, 4, 7)]


def test_lateness_takes_rows_as_they_arrive():
    late = [STOCK.take([1, 3]), STOCK.take([0, 2])]
    text = "PATTERN SEQ(Stock a) RETURN a.ts AS ts"
    assert [row["ts"] for row in found(text, lateness=5, stock=late)] == [1, 2, 3, 4]
    stamped = pa.table({"ts": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)], "price": [1, 2]})
    for lateness in (dt.timedelta(days=1), "1 day"):
        assert len(found(text, lateness=lateness, stock=stamped)) == 2


@pytest.mark.parametrize("lateness", [dt.timedelta(1), "1 day", -1])
def test_lateness_that_does_not_fit(lateness):
    with pytest.raises(DataError, match="lateness="):
        found(RISE, lateness=lateness, stock=STOCK)


def test_sql_takes_no_event_options():
    with pytest.raises(OstinatoError, match="type_by= is for event patterns"):
        found("SELECT * FROM stock MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS TRUE)", type_by="kind", stock=STOCK)


def test_texts_of_no_language():
    with pytest.raises(QuerySyntaxError):
        found("FIND something", stock=STOCK)


def test_a_stream_that_is_missing():
    with pytest.raises(UnknownNameError) as caught:
        found(RISE, news=STOCK)
    assert caught.value.position is not None


@pytest.mark.parametrize("prices", [[math.nan, 3.0, 4.0], [3.0, math.nan, 4.0]])
def test_the_least_so_far_does_not_depend_on_where_a_nan_stands(prices):
    events = pa.table({"ts": range(4), "price": [*prices, 5.0]})
    found = ost.match(
        """PATTERN SEQ(Events+ a[], Events b) WHERE strict_contiguity(a[], b) { a.LEN = 3 and b.price > min(a[].price) }
        WITHIN 9 RETURN min(a[].price) AS low""",
        events=events,
    )
    assert list(found) == [{"low": 3.0}]


NUMBERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64()]


@pytest.mark.parametrize("kind", [*NUMBERS, pa.float16(), pa.dictionary(pa.int32(), pa.float32()), pa.bool_(), pa.date32()], ids=str)
def test_columns_come_out_as_they_are(kind):
    """With nulls and without, as events, attributes, measures and keys."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_float16(kind):
        whole = pa.array(np.array([1.5, 5.0, 1.5], np.float16))
    else:
        whole = pa.array([1, 5, 1], pa.int32()).cast(plain)
    for values in (whole, pa.concat_arrays([whole[:1], pa.nulls(1, plain), whole[2:]])):
        given = values if kind == plain else values.dictionary_encode()
        rows = pa.table({"ts": [1, 2, 3], "w": given})
        expected = values.to_pylist()
        assert [one["a"]["w"] for one in ost.match("PATTERN t a", t=rows)] == expected
        assert ost.match("PATTERN t a RETURN a.w AS w", t=rows).to_arrow()["w"].to_pylist() == expected
        clause = "MATCH_RECOGNIZE ({}ORDER BY ts MEASURES A.w AS m, ts AS at ALL ROWS PER MATCH PATTERN (A) DEFINE A AS TRUE)"
        for partition in () if pa.types.is_float16(kind) else ("", "PARTITION BY w "):  # DuckDB has no floats of 16 bits
            found = ost.sql(f"SELECT * FROM t {clause.format(partition)}", t=rows).to_arrow().sort_by("at")
            assert found["m"].to_pylist() == found["w"].to_pylist() == expected
