"""Statements around the clause run in DuckDB; what DuckDB says about them points into the user's text."""

import datetime as dt

import duckdb
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import (
    DataError,
    OstinatoError,
    QuerySyntaxError,
    TypeMismatchError,
    UnknownNameError,
    UnsupportedError,
)

T = pa.table({"p": ["x", "x", "x", "ü", "ü"], "k": [1, 2, 3, 1, 2], "v": [5, 3, 4, None, 7]})
U = pa.table({"p": ["x", "ü"], "name": ["Xé", "Ü"]})
RISE = "(PARTITION BY p ORDER BY k MEASURES FIRST(k) AS a, LAST(k) AS b, LAST(v) AS v PATTERN (A B) DEFINE B AS v > PREV(v))"
ANY = "(PARTITION BY p ORDER BY k MEASURES COUNT(*) AS n, MAX(v) AS v PATTERN (A+) DEFINE A AS TRUE)"
ONE_KEY = RISE.replace("PARTITION BY p ", "")


def run(text, /, **tables):
    return ost.sql(text, **(tables or {"t": T, "u": U})).to_arrow().to_pylist()


STATEMENTS = [
    (f"SELECT * FROM t MATCH_RECOGNIZE {RISE}", [{"p": "x", "a": 2, "b": 3, "v": 4}]),
    (f"SELECT * FROM T MATCH_RECOGNIZE {RISE} AS m", [{"p": "x", "a": 2, "b": 3, "v": 4}]),
    (f"SELECT m.v + 1 AS w FROM t MATCH_RECOGNIZE {RISE} AS m WHERE m.a = 2", [{"w": 5}]),
    (f"FROM t AS q MATCH_RECOGNIZE {ANY} ORDER BY p", [{"p": "x", "n": 3, "v": 5}, {"p": "ü", "n": 2, "v": 7}]),
    (f"SELECT name, n FROM t MATCH_RECOGNIZE {ANY} m JOIN u USING (p) ORDER BY n", [{"name": "Ü", "n": 2}, {"name": "Xé", "n": 3}]),
    (f"SELECT n FROM u JOIN t MATCH_RECOGNIZE {ANY} m ON m.p = u.p ORDER BY n", [{"n": 2}, {"n": 3}]),
    (
        f"SELECT * FROM (SELECT * FROM t WHERE k > 1) MATCH_RECOGNIZE {ANY} ORDER BY p",
        [{"p": "x", "n": 2, "v": 4}, {"p": "ü", "n": 1, "v": 7}],
    ),
    (f"WITH c AS (SELECT p, k, -v AS v FROM t) SELECT v FROM c MATCH_RECOGNIZE {ANY} ORDER BY v", [{"v": -7}, {"v": -3}]),
    (f"WITH t AS (SELECT * FROM t WHERE p = 'x') SELECT n FROM t MATCH_RECOGNIZE {ANY}", [{"n": 3}]),
    (
        f"SELECT a.n, b.v FROM t MATCH_RECOGNIZE {ANY} a JOIN t MATCH_RECOGNIZE {RISE} b ON a.p = b.p",
        [{"n": 3, "v": 4}],
    ),
    (
        f"WITH a AS (SELECT p, n AS k, v FROM t MATCH_RECOGNIZE {ANY}), b AS (SELECT * FROM a MATCH_RECOGNIZE {ANY}) "
        "SELECT sum(n) AS s FROM b",
        [{"s": 2}],
    ),
    (f"SELECT (SELECT max(n) FROM t MATCH_RECOGNIZE {ANY}) AS most, count(*) AS c FROM u", [{"most": 3, "c": 2}]),
    (f"SELECT n FROM range(5) r(k) MATCH_RECOGNIZE {ANY.replace('PARTITION BY p', '').replace(', MAX(v) AS v', '')}", [{"n": 5}]),
    (f"SELECT a, b, v FROM (VALUES (1, 70), (2, 65), (3, 66)) x(k, v) MATCH_RECOGNIZE {ONE_KEY}", [{"a": 2, "b": 3, "v": 66}]),
    (
        f"SELECT * FROM (VALUES ('p', 1, 70), ('p', 2, 75)) AS x(p, k, v) MATCH_RECOGNIZE {RISE} AS m(q, w)",
        [{"q": "p", "w": 1, "b": 2, "v": 75}],
    ),
    (f"SELECT p, n FROM t AS x(p, v, k) MATCH_RECOGNIZE {ANY} ORDER BY p", [{"p": "x", "n": 3}, {"p": "ü", "n": 2}]),
    (f"SELECT m.b FROM (SELECT p, k + 10, v FROM t) x(p, k, v) MATCH_RECOGNIZE {RISE} m", [{"b": 13}]),
    (f"WITH c(p, w, v) AS (SELECT * FROM t) SELECT b FROM u JOIN c AS d(p, k) MATCH_RECOGNIZE {RISE} m USING (p)", [{"b": 3}]),
    ("SELECT count(*) AS c FROM t", [{"c": 5}]),
    (f"SELECT n FROM t MATCH_RECOGNIZE {ANY} UNION ALL SELECT v FROM t MATCH_RECOGNIZE {RISE} ORDER BY 1", [{"n": 2}, {"n": 3}, {"n": 4}]),
    (f"SELECT 'é', n FROM t MATCH_RECOGNIZE /* comment (( */ {ANY} -- MATCH_RECOGNIZE (\n LIMIT 0", []),
]


@pytest.mark.parametrize(("text", "rows"), STATEMENTS, ids=[s[0][:70] for s in STATEMENTS])
def test_statements(text, rows):
    assert run(text) == rows
    if "MATCH_RECOGNIZE" in text:
        compiled = ost.compile(text, {"t": T.schema, "u": U.schema})
        assert compiled.output_schema == ost.sql(text, t=T, u=U).to_arrow().schema
        assert all(part.explain("program") for part in compiled.parts)


def test_a_statement_is_explained_clause_by_clause_and_opened_by_the_clause():
    text = f"SELECT a.n, b.v FROM t MATCH_RECOGNIZE {ANY} a JOIN t AS x(p, k) MATCH_RECOGNIZE {RISE} b ON a.p = b.p ORDER BY 1"
    compiled = ost.compile(text, {"t": T.schema})
    plan = compiled.explain()
    assert "-- clause 1 of 2\nstrategy: scan" in plan and "-- clause 2 of 2\nstrategy: scan" in plan
    assert plan.endswith(
        "around the clauses: SELECT a.n, b.v FROM __ostinato_match_1 a JOIN __ostinato_match_2 b ON a.p = b.p ORDER BY 1\n"
    )
    with pytest.raises(UnsupportedError, match="there is SQL around it"):
        compiled.open()
    session = compiled.parts[1].open(ordered=True)
    assert pa.concat_tables([session.push(T), session.close()]).to_pylist() == [{"p": "x", "a": 2, "b": 3, "v": 4}]


def test_compiling_says_what_running_says():
    for text, message in [
        (f"SELECT z FROM t MATCH_RECOGNIZE {ANY}", 'Referenced column "z" not found'),
        (f"SELECT n FROM w MATCH_RECOGNIZE {ANY}", "Table with name w does not exist"),
        (f"CREATE TABLE w AS SELECT n FROM t MATCH_RECOGNIZE {ANY}", "CREATE is no query"),
    ]:
        for call in (lambda text: ost.compile(text, {"t": T.schema}), lambda text: ost.sql(text, t=T)):
            with pytest.raises(OstinatoError, match=message) as caught:
                call(text)
            assert caught.value.position is not None


def test_file_functions_and_file_names_are_inputs(tmp_path):
    duckdb.connect().register("t", T).execute(f"COPY (FROM t) TO '{tmp_path}/t.parquet'")
    expected = [{"p": "x", "a": 2, "b": 3, "v": 4}]
    assert run(f"SELECT * FROM '{tmp_path}/t.parquet' MATCH_RECOGNIZE {RISE}") == expected
    assert run(f"SELECT * FROM read_parquet('{tmp_path}/t.parquet') MATCH_RECOGNIZE {RISE}") == expected


def test_tables_may_be_called_like_the_arguments():
    assert run("SELECT * FROM text MATCH_RECOGNIZE (MEASURES COUNT(k) AS n PATTERN (A+) DEFINE A AS TRUE)", text=T) == [{"n": 5}]


def test_a_query_that_reads_no_column_still_counts_rows():
    assert run("SELECT * FROM t MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS TRUE)") == [{"n": 5}]


def test_input_order_without_order_by():
    table = pa.table({"v": [3, 1, 2]})
    clause = "(MEASURES FIRST(v) AS a, LAST(v) AS b PATTERN (A+) DEFINE A AS TRUE)"
    assert run(f"SELECT * FROM t MATCH_RECOGNIZE {clause}", t=table) == [{"a": 3, "b": 2}]
    assert run(f"SELECT * FROM (SELECT v FROM t ORDER BY v DESC) MATCH_RECOGNIZE {clause}", t=table) == [{"a": 3, "b": 1}]


def test_ties_keep_the_order_of_the_input():
    table = pa.table({"k": [1] * 5000, "i": list(range(5000))})
    clause = "(ORDER BY k MEASURES COUNT(*) AS n PATTERN (A B*) DEFINE B AS i = PREV(i) + 1)"
    assert run(f"SELECT * FROM t MATCH_RECOGNIZE {clause}", t=table) == [{"n": 5000}]
    assert run(f"SELECT * FROM (SELECT k, i FROM t) MATCH_RECOGNIZE {clause}", t=table) == [{"n": 5000}]


def test_a_date_as_the_time():
    table = pa.table({"day": [dt.date(2024, 1, day) for day in (2, 1, 4)], "v": [2, 1, 4]})
    clause = "(ORDER BY {} MEASURES LAST(v) AS v, COUNT(*) AS n PATTERN (A+) {} DEFINE A AS TRUE)"
    assert run(f"SELECT * FROM t MATCH_RECOGNIZE {clause.format('day', '')}", t=table) == [{"v": 4, "n": 3}]
    cast = "(SELECT *, CAST(day AS TIMESTAMP) AS at FROM t)"
    within = clause.format("at", "WITHIN INTERVAL '36' HOUR")
    assert run(f"SELECT * FROM {cast} MATCH_RECOGNIZE {within} ORDER BY v", t=table) == [{"v": 2, "n": 2}, {"v": 4, "n": 1}]


def test_a_reader_used_around_the_clause_only():
    text = f"SELECT name, n FROM t MATCH_RECOGNIZE {ANY} m JOIN u USING (p) JOIN u AS w USING (p, name) ORDER BY n"
    assert run(text, t=T, u=U.to_reader()) == [{"name": "Ü", "n": 2}, {"name": "Xé", "n": 3}]


def test_python_variables_are_not_tables():
    secret = T
    assert secret is T
    with pytest.raises(UnknownNameError, match="secret"):
        ost.sql("SELECT * FROM secret")


def error_of(text, **tables):
    with pytest.raises(OstinatoError) as caught:
        run(text, **tables)
    return caught.value


def marked(error):
    assert error.span is not None and error.text is not None
    return error.text[error.span.start : error.span.end]


ERRORS = [
    (f"SELECT é, wrong FROM t MATCH_RECOGNIZE {ANY} m", UnknownNameError, "é"),
    (f"SELECT 'é', n + wrong FROM t MATCH_RECOGNIZE {ANY} m", UnknownNameError, "wrong"),
    (f"SELECT * FROM t MATCH_RECOGNIZE {ANY} m JOIN other ON 1 = 1", UnknownNameError, "other"),
    (f"SELECT * FROM tt MATCH_RECOGNIZE {ANY}", UnknownNameError, "tt"),
    (f"SELECT * FROM (SELECT ü FROM t) MATCH_RECOGNIZE {ANY}", UnknownNameError, "ü"),
    (f"WITH c AS (SELECT q FROM t) SELECT * FROM c MATCH_RECOGNIZE {ANY}", UnknownNameError, "q"),
    (f"SELECT FROM t MATCH_RECOGNIZE {ANY} WHERE WHERE", QuerySyntaxError, None),
    (f"SELECT n FROM t MATCH_RECOGNIZE {ANY} GROUP BY p", TypeMismatchError, "n"),
    (f"SELECT CAST(p AS INTEGER) FROM t MATCH_RECOGNIZE {ANY}", DataError, None),
    (f"CREATE TABLE x AS SELECT * FROM t MATCH_RECOGNIZE {ANY}", QuerySyntaxError, "CREATE"),
    (f"COPY (SELECT * FROM t MATCH_RECOGNIZE {ANY}) TO 'x.csv'", QuerySyntaxError, "COPY"),
    ("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY kk PATTERN (A) DEFINE A AS TRUE)", UnknownNameError, "kk"),
    (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY p ORDER BY k PATTERN (A) WITHIN 9223372036854775808 DEFINE A AS TRUE)",
        QuerySyntaxError,
        "WITHIN 9223372036854775808",
    ),
    (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY p PATTERN ((A{999} B{999}){999}) DEFINE A AS TRUE)",
        UnsupportedError,
        "PATTERN ((A{999} B{999}){999})",
    ),
]


@pytest.mark.parametrize(("text", "kind", "place"), ERRORS, ids=[e[0][:70] for e in ERRORS])
def test_errors(text, kind, place):
    error = error_of(text)
    assert type(error) is kind, error
    if place is not None:
        assert marked(error) == place
    assert "__ostinato" not in str(error)
    assert "{" not in error.message


def test_whole_text_of_an_error_around_the_clause():
    text = f"SELECT 'ü', m.wrong\nFROM t MATCH_RECOGNIZE {ANY} m"
    first, *rest = str(error_of(text)).splitlines()
    assert first.endswith('"m" does not have a column named "wrong" (line 1, column 13)')
    assert rest[:2] == [
        "   1 | SELECT 'ü', m.wrong",
        "     |             ^^^^^^^",
    ]


def test_tables_that_are_missing():
    error = error_of(f"SELECT * FROM tt MATCH_RECOGNIZE {ANY}")
    assert (error.message, error.hint) == ("Table with name tt does not exist", "Did you mean t?")
    error = error_of(f"SELECT * FROM t MATCH_RECOGNIZE {ANY} m, things")
    assert (error.message, error.hint) == ("Table with name things does not exist", "Pass it by name: sql(..., things=...); given are t, u")


def test_other_dialects_are_refused_around_the_clause_and_fine_without():
    assert len(ost.sql(f"SELECT * FROM `t` MATCH_RECOGNIZE {RISE}", dialect="spark", t=T)) == 1
    with pytest.raises(UnsupportedError, match="runs in DuckDB, not in spark"):
        ost.sql(f"SELECT a FROM t MATCH_RECOGNIZE {RISE}", dialect="spark", t=T)


def test_metrics():
    assert ost.sql(f"SELECT * FROM t MATCH_RECOGNIZE {RISE}", t=T).metrics["rows"] == 5


GAPS = "(ORDER BY k MEASURES k AS k, gap AS gap PATTERN (A) DEFINE A AS gap > INTERVAL '20' SECOND)"
TIMES = pa.table({"k": [1, 2, 3], "ts": pa.array([0, 10, 100], pa.timestamp("s"))})


@pytest.mark.parametrize("around", ["", "ORDER BY gap"], ids=["bare", "through DuckDB"])
def test_intervals_that_duckdb_computed(around):
    given = "SELECT k, ts - lag(ts) OVER (ORDER BY ts) AS gap FROM t"
    wanted = [{"k": 3, "gap": dt.timedelta(seconds=90)}]
    assert run(f"SELECT * FROM ({given}) MATCH_RECOGNIZE {GAPS} {around}", t=TIMES) == wanted
    with duckdb.connect() as connection:
        connection.register("t", TIMES)
        assert run(f"SELECT * FROM r MATCH_RECOGNIZE {GAPS} {around}", r=connection.sql(given)) == wanted


def test_long_intervals_come_through_duckdb():
    ages = pa.table({"a": [dt.datetime(1, 1, 1)], "b": [dt.datetime(9999, 1, 1)]})
    text = "SELECT * FROM t MATCH_RECOGNIZE (MEASURES b - a AS age, a - b AS back PATTERN (A) DEFINE A AS true) ORDER BY age"
    assert run(text, t=ages) == [{"age": dt.timedelta(3651694), "back": dt.timedelta(-3651694)}]


def test_intervals_with_months_stay_what_they_are():
    row = run("SELECT INTERVAL 2 MONTH AS m FROM t MATCH_RECOGNIZE (PARTITION BY k PATTERN (A) DEFINE A AS k = 1)", t=TIMES)[0]
    assert row["m"].months == 2


@pytest.mark.parametrize("around", ["", " WHERE p IS NOT NULL ORDER BY p"])
def test_arrays_reach_every_frame(around):
    text = (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY p ORDER BY k MEASURES ARRAY_AGG(v) AS vs, ARRAY_AGG(B.k) AS bs, "
        f"ARRAY_AGG(CLASSIFIER()) AS names PATTERN (A B*) DEFINE B AS v < PREV(v)) m{around}"
    )
    found = ost.sql(text, t=T)
    rows = [
        {"p": "x", "vs": [5, 3], "bs": [2], "names": ["A", "B"]},
        {"p": "x", "vs": [4], "bs": None, "names": ["A"]},
        {"p": "ü", "vs": [None], "bs": None, "names": ["A"]},
        {"p": "ü", "vs": [7], "bs": None, "names": ["A"]},
    ]
    assert sorted(found, key=str) == sorted(rows, key=str)
    assert found.to_arrow().schema.field("vs").type == pa.list_(pa.int64())
    assert sorted(found.to_polars().to_dicts(), key=str) == sorted(rows, key=str)
    assert sorted(list(names) for names in found.to_pandas()["names"]) == [["A"], ["A"], ["A"], ["A", "B"]]


@pytest.mark.parametrize("around", ["", " WHERE TRUE"])
def test_arrays_of_intervals_come_through_duckdb(around):
    times = pa.table({"ts": [dt.datetime(2024, 1, day) for day in (1, 2, 5)]})
    text = (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES ARRAY_AGG(ts - TIMESTAMP '2024-01-01') AS apart, "
        f"ARRAY_AGG(B.ts - B.ts) AS none PATTERN (A+ B?) DEFINE B AS FALSE) m{around}"
    )
    assert run(text, t=times) == [{"apart": [dt.timedelta(days=days) for days in (0, 1, 4)], "none": None}]


def test_an_unknown_table_before_a_column():
    with pytest.raises(UnknownNameError, match=r"There is no column u\.k") as caught:
        run("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY u.k MEASURES 1 AS p PATTERN (A) DEFINE A AS true)", t=pa.table({"k": [1]}))
    assert caught.value.hint == "Did you mean k?"


def test_what_cannot_be_computed_is_named_by_its_measure():
    with pytest.raises(DataError, match="beyond 64 bits") as caught:
        run('SELECT * FROM t MATCH_RECOGNIZE (ORDER BY k MEASURES 9223372036854775807 + A.v AS "Total" PATTERN (A) DEFINE A AS true)')
    assert caught.value.detail == "In `Total`, computed from `v`"
