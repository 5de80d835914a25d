"""Structs, lists, maps and other values that the engine does not look into go through a match; fields of structs are columns."""

import datetime as dt
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ostinato as ost

DEVICE = pa.struct([("id", pa.int64()), ("at", pa.struct([("x", pa.float64()), ("Zone", pa.string())])), ("t", pa.timestamp("us"))])
START = dt.datetime(2024, 1, 1)


def device(i):
    if i == 4:
        return None
    place = None if i == 3 else {"x": i / 2, "Zone": "nw"[i % 2]}
    return {"id": i % 2, "at": place, "t": START + dt.timedelta(seconds=9 - i)}


COLUMNS = {
    "dev": pa.array([device(i) for i in range(6)], DEVICE),
    "tags": pa.array([["a"] * i if i != 2 else None for i in range(6)], pa.list_(pa.string())),
    "large": pa.array([[i, None] for i in range(6)], pa.large_list(pa.int32())),
    "fixed": pa.array([[i, i] for i in range(6)], pa.list_(pa.int64(), 2)),
    "props": pa.array([[("k", i)] for i in range(6)], pa.map_(pa.string(), pa.int64())),
    "deep": pa.array([[{"a": [i]}] for i in range(6)], pa.list_(pa.struct([("a", pa.list_(pa.int64()))]))),
    "raw": pa.array([bytes([i]) for i in range(6)], pa.binary()),
    "clock": pa.array([dt.time(i) for i in range(6)], pa.time64("us")),
    "wide": pa.array([Decimal(10) ** 40 + i for i in range(6)], pa.decimal256(60, 2)),
}
TABLE = pa.table({"ts": [0, 1, 2, 3, 4, 5], "v": [1, 2, 3, 1, 2, 3], **COLUMNS})
ROWS = TABLE.to_pylist()
PAIRS = "PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) { a.v = 1 and b.v = 3 } WITHIN 9"
SHUFFLED = TABLE.take(pa.array([3, 0, 5, 1, 4, 2]))


def clause(measures="1 AS one", pattern="A", define="true", rows="", by="", order="ORDER BY ts", **options):
    text = f"SELECT * FROM t MATCH_RECOGNIZE ({by} {order} MEASURES {measures} {rows} PATTERN ({pattern}) DEFINE A AS {define})"
    return ost.sql(text, t=options.pop("t", TABLE), **options).to_arrow()


def without(event):
    return {name: value for name, value in event.items() if name != "seq"}


def test_whole_events_have_them():
    found = ost.match(PAIRS, t=SHUFFLED).to_arrow()
    assert [(without(row["a"]), without(row["b"])) for row in found.to_pylist()] == [
        (ROWS[0], ROWS[2]),
        (ROWS[0], ROWS[5]),
        (ROWS[3], ROWS[5]),
    ]
    event = found.schema.field("a").type
    assert all(event.field(name).type == TABLE.schema.field(name).type for name in TABLE.column_names)


def test_lists_of_events_have_them():
    text = "PATTERN SEQ(t+ a[], t b) WHERE strict_contiguity(a[], b) { a[i].v < 3 and b.v = 3 } OUTPUT nonoverlapping"
    found = ost.match(text, t=TABLE).to_arrow().to_pylist()
    assert [[without(event) for event in row["a"]] for row in found] == [ROWS[0:2], ROWS[3:5]]


def test_they_are_returned():
    found = ost.match(PAIRS + " RETURN a.dev, b.tags AS tags, b.props AS p, count(b.dev) AS n, a.raw AS raw", t=TABLE).to_arrow()
    assert found["dev"].to_pylist() == [ROWS[0]["dev"], ROWS[0]["dev"], ROWS[3]["dev"]]
    assert found["tags"].to_pylist() == [None, ROWS[5]["tags"], ROWS[5]["tags"]]
    assert found["p"].type == TABLE.schema.field("props").type


def test_measures_and_rows():
    found = clause("LAST(dev) AS d, PREV(A.tags) AS before, ARRAY_AGG(A.deep) AS all_deep, A.dev IS NULL AS gone", "A+", "v < 3 OR v = 3")
    assert found.to_pylist() == [{"d": ROWS[5]["dev"], "before": ROWS[4]["tags"], "all_deep": [row["deep"] for row in ROWS], "gone": False}]
    shown = clause("CLASSIFIER() AS c", "A", "v > 1", "ALL ROWS PER MATCH WITH UNMATCHED ROWS").to_pylist()
    assert sorted(({n: r[n] for n in TABLE.column_names} for r in shown), key=lambda r: r["ts"]) == ROWS


@pytest.mark.parametrize("condition", ["a.dev.id = 0 and b.dev.at.zone = 'n'", "a.dev.ID = 0 and b.dev.at.Zone = 'n'"])
def test_fields_in_conditions(condition):
    text = f"PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) {{ {condition} }} WITHIN 9 RETURN a.ts AS a, b.ts AS b, b.dev.at.x"
    found = ost.match(text, t=SHUFFLED).to_arrow()
    assert found.to_pylist() == [{"a": 0, "b": 2, "x": 1.0}]


def test_fields_compared_across_events():
    near = "b.dev.id = a.dev.id and b.dev.t < a.dev.t"
    text = f"PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) {{ {near} }} WITHIN 9 RETURN a.ts AS a, b.ts AS b"
    assert [tuple(row.values()) for row in ost.match(text, t=TABLE)] == [(0, 2), (1, 3), (1, 5), (3, 5)]


def test_equivalence_tests_and_partitions():
    found = ost.match("PATTERN SEQ(t a, t b) WHERE strict_contiguity(a, b) { [dev.id] } RETURN a.ts AS a, b.ts AS b", t=SHUFFLED)
    assert [tuple(row.values()) for row in found] == []
    found = ost.match("PATTERN SEQ(t a, t b) WHERE partition_contiguity(a, b) { [dev.id] } RETURN a.ts AS a, b.ts AS b", t=SHUFFLED)
    assert [tuple(row.values()) for row in found] == [(0, 2), (1, 3), (3, 5)]
    rows = clause("COUNT(*) AS n", "A+", by="PARTITION BY dev.id", t=SHUFFLED).to_pylist()
    assert sorted(rows, key=str) == [{"dev.id": 0, "n": 2}, {"dev.id": 1, "n": 3}, {"dev.id": None, "n": 1}]


def test_fields_order_rows_and_are_the_time():
    found = clause("FIRST(ts) AS f, LAST(ts) AS l", "A+", "dev.at.x > 0 OR true", order="ORDER BY dev.t")
    assert found.to_pylist() == [{"f": 5, "l": 4}]  # nulls last
    known = TABLE.filter(pa.array([i != 4 for i in range(6)]))
    text = "PATTERN SEQ(t a, t b) WHERE strict_contiguity(a, b) { } WITHIN 1 seconds RETURN a.ts AS a, b.ts AS b"
    assert [tuple(row.values()) for row in ost.match(text, t=known, time="dev.t")] == [(3, 2), (2, 1), (1, 0)]
    whole = ost.match(text.partition(" RETURN")[0], t=known, time="dev.t").to_arrow()
    assert whole.schema.field("a").type.names == [*TABLE.column_names, "seq"]
    assert whole["start_ts"].to_pylist() == [START + dt.timedelta(seconds=s) for s in (6, 7, 8)]


def test_a_column_of_the_very_name_comes_first():
    table = TABLE.append_column("dev.id", pa.array([7] * 6))
    assert set(clause('A.dev.id AS one, A."dev.id" AS two', t=table)["one"].to_pylist()) == {7}


KINDS = {
    "Polars": lambda path: pl.from_arrow(TABLE.select(["ts", "v", "dev", "tags", "raw"])),
    "a lazy frame": lambda path: pl.from_arrow(SHUFFLED.select(["ts", "v", "dev", "tags", "raw"])).lazy(),
    "pandas": lambda path: SHUFFLED.select(["ts", "v", "dev", "tags", "raw"]).to_pandas(),
    "DuckDB": lambda path: duckdb.from_arrow(SHUFFLED.drop_columns(["wide"])),
    "a reader": lambda path: SHUFFLED.drop_columns(["wide"]).to_reader(),
    "Parquet": lambda path: _written(path, TABLE),
    "Parquet out of order": lambda path: _written(path, SHUFFLED.drop_columns(["wide"])),
}


def _written(path, table):
    pq.write_table(table, path / "t.parquet", row_group_size=2)
    return str(path / "t.parquet")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_input(kind, tmp_path):
    text = PAIRS.replace("a.v = 1", "a.v = 1 and a.dev.id >= 0") + " RETURN a.dev AS dev, b.tags AS tags, b.raw AS raw, b.dev.id AS id"
    found = ost.match(text, t=KINDS[kind](tmp_path)).to_arrow()
    assert found["dev"].to_pylist() == [ROWS[0]["dev"], ROWS[0]["dev"], ROWS[3]["dev"]]
    assert found["tags"].to_pylist() == [None, ROWS[5]["tags"], ROWS[5]["tags"]]
    assert found["id"].to_pylist() == [0, 1, 1]


def test_through_the_sql_around_a_clause():
    text = """SELECT d.id AS id, tags FROM (SELECT ts, v, dev, tags FROM t) MATCH_RECOGNIZE (ORDER BY ts MEASURES A.dev AS d, A.tags AS tags
        PATTERN (A) DEFINE A AS dev.id = 1) WHERE d.id = 1"""
    assert [row["id"] for row in ost.sql(text, t=TABLE.drop_columns(["wide"]))] == [1, 1, 1]
    with pytest.raises(ost.DataError, match="Stream `t` cannot be read"):
        ost.sql(text, t=TABLE)


def test_several_streams():
    other = pa.table({"ts": [2], "Dev": pa.array([device(1)], DEVICE), "w": [1]})
    text = "PATTERN SEQ(t a, u b) WHERE skip_till_any_match(a, b) { a.dev.id = b.dev.id } RETURN a.ts AS a, b.dev AS d, b.dev.at.x"
    with pytest.warns(ost.ExplosionWarning):
        found = ost.match(text, t=TABLE, u=other).to_arrow().to_pylist()
    assert found == [{"a": 1, "d": device(1), "x": 0.5}]
    changed = other.set_column(1, "dev", pa.array([{"id": 1}]))
    with pytest.raises(ost.SchemaError, match="of type struct"):
        ost.match(text, t=TABLE, u=changed)


REFUSED = {
    "dev = dev": "`=` cannot look into a value of type struct",
    "tags = 'x'": "`=` cannot look into a value of type list",
    "upper(tags) = 'X'": "takes strings, not list",
    "coalesce(dev, dev) IS NULL": "`coalesce` cannot look into",
    "CAST(raw AS VARCHAR) = 'x'": "cannot be cast",
    "MAX(A.clock) IS NULL": "MAX cannot look into a value of type time64",
    "A.dev.nothing = 1": "`dev` has no field for `dev.nothing`",
    "A.dev.at.nothing = 1": "`dev.at` has no field",
    "A.tags.x = 1": "`tags` is no struct",
    "A.v.x = 1": "There is no column v.x",
    "tags[1] = 'a'": "Elements of lists and maps cannot be named",
}


@pytest.mark.parametrize("define", REFUSED)
def test_nothing_computes_with_them(define):
    with pytest.raises(ost.OstinatoError) as caught:
        clause(define=define)
    assert REFUSED[define] in caught.value.message and caught.value.hint and caught.value.span is not None


@pytest.mark.parametrize(("by", "order"), [("PARTITION BY dev", "ORDER BY ts"), ("", "ORDER BY ts, tags"), ("PARTITION BY tags[1]", "")])
def test_they_are_no_keys(by, order):
    with pytest.raises(ost.OstinatoError, match="cannot"):
        clause(by=by, order=order)
    with pytest.raises(ost.TypeMismatchError, match="equivalence test cannot look into"):
        ost.match("PATTERN SEQ(t a, t b) WHERE strict_contiguity(a, b) { [dev] }", t=TABLE)
    with pytest.raises(ost.UnsupportedError, match="Elements of lists"):
        ost.match("PATTERN SEQ(t a) WHERE { a.tags[1] = 'a' }", t=TABLE)


def test_what_nobody_can_carry_is_refused_and_not_left_out():
    table = TABLE.select(["ts", "v"]).append_column("odd", pa.array([1] * 6, pa.run_end_encoded(pa.int32(), pa.int64())))
    assert len(clause(t=table)) == 6
    with pytest.raises(ost.SchemaError, match="odd"):
        ost.match("PATTERN SEQ(t a)", t=table)
    with pytest.raises(ost.SchemaError, match="odd"):
        clause(rows="ALL ROWS PER MATCH", t=table)
    with pytest.raises(ost.SchemaError, match="odd"):
        clause("A.odd AS odd", t=table)
