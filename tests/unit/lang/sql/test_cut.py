"""Clauses are found at any depth, what is around them stays as it was written, and errors point into the original text."""

import pytest

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnknownNameError, UnsupportedError
from ostinato.lang.sql import statement
from ostinato.lang.sql.split_statement import MOST_CLAUSES, split_statement

M = "__ostinato_match_"


def seen(text: str, dialect: str = "duckdb"):
    found = split_statement(text, dialect)
    return found.outer.text, [(c.table, c.input.text, c.body) for c in found.clauses]


DERIVE = "(ORDER BY x DEFINE A AS b)"
CUTS = [
    (f"SELECT * FROM SITUATIONS OF t {DERIVE}", f"SELECT * FROM {M}1", [("t", "SELECT * FROM t", DERIVE[1:-1])]),
    (f"SELECT * FROM situations  of t AS q {DERIVE} m", f"SELECT * FROM {M}1 m", [("t", "SELECT * FROM t", DERIVE[1:-1])]),
    (f"FROM SITUATIONS OF f(1, 2) {DERIVE}", f"FROM {M}1", [(None, "SELECT * FROM f(1, 2)", DERIVE[1:-1])]),
    (f"FROM SITUATIONS OF t x(a, b) {DERIVE}", f"FROM {M}1", [(None, "SELECT * FROM t x(a, b)", DERIVE[1:-1])]),
    ("SELECT situations of FROM situations", "SELECT situations of FROM situations", []),
    (
        f"FROM SITUATIONS OF (FROM t MATCH_RECOGNIZE (y)) {DERIVE} AS k MATCH_RECOGNIZE (z)",
        f"FROM {M}3",
        [("t", "SELECT * FROM t", "y"), (None, f"SELECT * FROM (FROM {M}1)", DERIVE[1:-1]), (None, f"SELECT * FROM {M}2", "z")],
    ),
    (
        "FROM a JOIN b ON ALLEN(a, 'before;starts', b) WHERE allen((a.x + 1, f(y, 2)), 'meets', b)",
        "FROM a JOIN b ON (a.end_ts < b.start_ts OR (a.start_ts = b.start_ts AND a.end_ts < b.end_ts)) WHERE ((f(y, 2)) = b.start_ts)",
        [],
    ),
    (
        "FROM (FROM a, b WHERE ALLEN(a, 'overlaps[1, 2]; before[1 minute, 1.5 hours]', b)) MATCH_RECOGNIZE (z)",
        f"FROM {M}1",
        [
            (
                None,
                "SELECT * FROM (FROM a, b WHERE ((a.start_ts < b.start_ts AND b.start_ts < a.end_ts AND a.end_ts < b.end_ts"
                " AND a.end_ts >= b.start_ts + 1 AND a.end_ts <= b.start_ts + 2)"
                " OR (a.end_ts < b.start_ts AND b.start_ts >= a.end_ts + INTERVAL '60000000' MICROSECOND"
                " AND b.start_ts <= a.end_ts + INTERVAL '5400000000' MICROSECOND)))",
                "z",
            )
        ],
    ),
    ("SELECT 1", "SELECT 1", []),
    ("SELECT * FROM t MATCH_RECOGNIZE (x)", f"SELECT * FROM {M}1", [("t", "SELECT * FROM t", "x")]),
    ("select a from t match_recognize (x) as m;", f"select a from {M}1 as m;", [("t", "SELECT * FROM t", "x")]),
    ("SELECT * FROM t x MATCH_RECOGNIZE (y) m", f"SELECT * FROM {M}1 m", [("t", "SELECT * FROM t", "y")]),
    ("SELECT * FROM t AS x MATCH_RECOGNIZE (y) m", f"SELECT * FROM {M}1 m", [("t", "SELECT * FROM t", "y")]),
    ('SELECT * FROM "Ä b".c MATCH_RECOGNIZE (y)', f"SELECT * FROM {M}1", [("Ä b.c", 'SELECT * FROM "Ä b".c', "y")]),
    ("FROM 'f.parquet' MATCH_RECOGNIZE (y)", f"FROM {M}1", [(None, "SELECT * FROM 'f.parquet'", "y")]),
    ("SELECT * FROM f(1, 2) MATCH_RECOGNIZE (y)", f"SELECT * FROM {M}1", [(None, "SELECT * FROM f(1, 2)", "y")]),
    (
        "SELECT * FROM (SELECT 1 AS a) q MATCH_RECOGNIZE (y) WHERE a IN (2)",
        f"SELECT * FROM {M}1 WHERE a IN (2)",
        [(None, "SELECT * FROM (SELECT 1 AS a)", "y")],
    ),
    (
        "SELECT * FROM (VALUES (1, 70), (2, 65)) t(id, price) MATCH_RECOGNIZE (y)",
        f"SELECT * FROM {M}1",
        [(None, "SELECT * FROM (VALUES (1, 70), (2, 65)) t(id, price)", "y")],
    ),
    (
        "SELECT * FROM u, VALUES (1, 70), (2, 65) AS t (id, price) MATCH_RECOGNIZE (y) AS m (a, b)",
        f"SELECT * FROM u, {M}1 AS m (a, b)",
        [(None, "SELECT * FROM VALUES (1, 70), (2, 65) AS t (id, price)", "y")],
    ),
    (
        'SELECT * FROM s.t AS "x y" /* c */ ("a b", c) -- d\n MATCH_RECOGNIZE (y)',
        f"SELECT * FROM {M}1",
        [(None, 'SELECT * FROM s.t AS "x y" /* c */ ("a b", c)', "y")],
    ),
    (
        "SELECT * FROM f(1), (SELECT * FROM t x(a, b) MATCH_RECOGNIZE (y)) AS m(c, d) MATCH_RECOGNIZE (z)",
        f"SELECT * FROM f(1), {M}2",
        [(None, "SELECT * FROM t x(a, b)", "y"), (None, f"SELECT * FROM (SELECT * FROM {M}1) AS m(c, d)", "z")],
    ),
    (
        "WITH t AS (SELECT 1) SELECT * FROM a JOIN t x(k) MATCH_RECOGNIZE (y) m ON a.k = m.k",
        f"WITH t AS (SELECT 1) SELECT * FROM a JOIN {M}1 m ON a.k = m.k",
        [(None, "WITH t AS (SELECT 1) SELECT * FROM (SELECT * FROM t x(k))", "y")],
    ),
    (
        "SELECT * FROM unnest([1]) WITH ORDINALITY AS u(a, n) MATCH_RECOGNIZE (y)",
        f"SELECT * FROM {M}1",
        [(None, "SELECT * FROM unnest([1]) WITH ORDINALITY AS u(a, n)", "y")],
    ),
    (
        "SELECT * FROM t TABLESAMPLE (10 ROWS) AS x MATCH_RECOGNIZE (y)",
        f"SELECT * FROM {M}1",
        [(None, "SELECT * FROM t TABLESAMPLE (10 ROWS) AS x", "y")],
    ),
    (
        "SELECT * FROM a, b MATCH_RECOGNIZE (y) m JOIN c MATCH_RECOGNIZE (z) n ON m.i = n.i",
        f"SELECT * FROM a, {M}1 m JOIN {M}2 n ON m.i = n.i",
        [("b", "SELECT * FROM b", "y"), ("c", "SELECT * FROM c", "z")],
    ),
    (
        "SELECT (SELECT max(k) FROM t MATCH_RECOGNIZE (y)) FROM u WHERE 'MATCH_RECOGNIZE (' <> s -- MATCH_RECOGNIZE (",
        f"SELECT (SELECT max(k) FROM {M}1) FROM u WHERE 'MATCH_RECOGNIZE (' <> s -- MATCH_RECOGNIZE (",
        [("t", "SELECT * FROM t", "y")],
    ),
    (
        "SELECT * FROM (SELECT * FROM t MATCH_RECOGNIZE (y)) MATCH_RECOGNIZE (z)",
        f"SELECT * FROM {M}2",
        [("t", "SELECT * FROM t", "y"), (None, f"SELECT * FROM (SELECT * FROM {M}1)", "z")],
    ),
    (
        "WITH a AS (SELECT * FROM t MATCH_RECOGNIZE (x)), b (c) AS NOT MATERIALIZED (SELECT 1) SELECT * FROM a MATCH_RECOGNIZE (y)",
        f"WITH a AS (SELECT * FROM {M}1), b (c) AS NOT MATERIALIZED (SELECT 1) SELECT * FROM {M}2",
        [
            ("t", "SELECT * FROM t", "x"),
            (None, f"WITH a AS (SELECT * FROM {M}1), b (c) AS NOT MATERIALIZED (SELECT 1) SELECT * FROM (SELECT * FROM a)", "y"),
        ],
    ),
    (
        "WITH a AS (WITH i AS (SELECT 1) SELECT * FROM i MATCH_RECOGNIZE (x)), b AS (SELECT * FROM a MATCH_RECOGNIZE (y)) SELECT 1",
        f"WITH a AS (WITH i AS (SELECT 1) SELECT * FROM {M}1), b AS (SELECT * FROM {M}2) SELECT 1",
        [
            (None, "WITH i AS (SELECT 1) SELECT * FROM (SELECT * FROM i)", "x"),
            (None, f"WITH a AS (WITH i AS (SELECT 1) SELECT * FROM {M}1) SELECT * FROM (SELECT * FROM a)", "y"),
        ],
    ),
    ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A $) '$') m", f"SELECT * FROM {M}1 m", [("t", "SELECT * FROM t", "PATTERN (A $) '$'")]),
    ("SELECT match_recognize FROM t", "SELECT match_recognize FROM t", []),
    ('SELECT "MATCH_RECOGNIZE" (x) FROM t', 'SELECT "MATCH_RECOGNIZE" (x) FROM t', []),
]


@pytest.mark.parametrize(("text", "outer", "clauses"), CUTS, ids=[c[0][:60] for c in CUTS])
def test_cut(text, outer, clauses):
    assert seen(text) == (outer, clauses)


def test_spark_quotes_names_with_backquotes():
    assert seen('SELECT * FROM `a b` MATCH_RECOGNIZE (y) WHERE s = "FROM t MATCH_RECOGNIZE ("', "spark") == (
        f'SELECT * FROM {M}1 WHERE s = "FROM t MATCH_RECOGNIZE ("',
        [("a b", "SELECT * FROM `a b`", "y")],
    )


def test_body_keeps_its_offset():
    text = "SELECT 'ü', * FROM tö MATCH_RECOGNIZE ( PATTERN (A) ) AS m"
    clause = split_statement(text).clauses[0]
    assert text[clause.offset : clause.offset + len(clause.body)] == clause.body == " PATTERN (A) "
    assert text[clause.span.start : clause.span.end] == "tö MATCH_RECOGNIZE ( PATTERN (A) )"
    assert text[clause.input_span.start : clause.input_span.end] == "tö"


def test_places_in_the_outer_text_lead_back_to_the_original():
    text = "SELECT x FROM t MATCH_RECOGNIZE (PATTERN (A)) AS m WHERE wrong > 1"
    found = split_statement(text)
    assert found.outer.origin(found.outer.text.index("wrong")).start == text.index("wrong")
    assert found.outer.origin(found.outer.text.index("x")).start == text.index("x")
    assert found.outer.origin(found.outer.text.index(M) + 5) == found.clauses[0].span
    assert found.outer.origin(10_000).start == len(text)


def test_a_placeholder_never_meets_a_name_of_the_query():
    found = split_statement(f"SELECT * FROM {M}1, t MATCH_RECOGNIZE (x)")
    assert found.outer.text == f"SELECT * FROM {M}1, {M}1001"


BARE = [
    ("SELECT * FROM t MATCH_RECOGNIZE (x)", True),
    ("select * from t match_recognize (x) as m ;", True),
    ("SELECT * FROM a.t x MATCH_RECOGNIZE (x) m", True),
    ("SELECT * FROM t MATCH_RECOGNIZE (x) LIMIT 3", False),
    ("SELECT * FROM t MATCH_RECOGNIZE (x) WHERE a", False),
    ("SELECT a FROM t MATCH_RECOGNIZE (x)", False),
    ("SELECT DISTINCT * FROM t MATCH_RECOGNIZE (x)", False),
    ("SELECT * FROM (SELECT 1) MATCH_RECOGNIZE (x)", False),
    ("SELECT * FROM t MATCH_RECOGNIZE (x) m, u", False),
    ("SELECT * FROM t MATCH_RECOGNIZE (x) UNION SELECT * FROM u MATCH_RECOGNIZE (x)", False),
]


@pytest.mark.parametrize(("text", "bare"), BARE)
def test_bare(text, bare):
    assert split_statement(text).bare is bare


ERRORS = [
    ("", QuerySyntaxError, "The query is empty\nHint: Write SELECT ... FROM table MATCH_RECOGNIZE (...)"),
    (
        "SELECT * FROM t WHERE x MATCH_RECOGNIZE (A)",
        QuerySyntaxError,
        "MATCH_RECOGNIZE needs a table before it (line 1, column 25)\n"
        "   1 | SELECT * FROM t WHERE x MATCH_RECOGNIZE (A)\n"
        "     |                         ^^^^^^^^^^^^^^^\n"
        "Hint: Write FROM table MATCH_RECOGNIZE (...), where table is a name, a query or VALUES in parentheses, with or without an alias",
    ),
    (
        "SELECT *\nFROM t MATCH_RECOGNIZE (PATTERN (A)",
        QuerySyntaxError,
        "This parenthesis is never closed (line 2, column 24)\n"
        "   2 | FROM t MATCH_RECOGNIZE (PATTERN (A)\n"
        "     |                        ^\n"
        "Hint: Add a closing parenthesis",
    ),
    (
        "SELECT a) FROM t",
        QuerySyntaxError,
        "This parenthesis closes nothing (line 1, column 9)\n   1 | SELECT a) FROM t\n     |         ^\nHint: Remove it, or open it before",
    ),
    (
        "SELECT 'ab",
        QuerySyntaxError,
        "This quote or comment is never closed (line 1, column 8)\n   1 | SELECT 'ab\n     |        ^\nHint: Close it",
    ),
    (
        "SELECT 1; SELECT 2",
        QuerySyntaxError,
        "More than one statement (line 1, column 9)\n   1 | SELECT 1; SELECT 2\n     |         ^\nHint: Run one statement at a time",
    ),
    (
        "FROM LATERAL (SELECT 1) MATCH_RECOGNIZE (A)",
        UnsupportedError,
        "LATERAL before MATCH_RECOGNIZE (line 1, column 6)\n"
        "   1 | FROM LATERAL (SELECT 1) MATCH_RECOGNIZE (A)\n"
        "     |      ^^^^^^^\n"
        "Hint: Give the input as a subquery of its own",
    ),
    (
        "FROM t MATCH_RECOGNIZE (DEFINE A AS (FROM t MATCH_RECOGNIZE (X)))",
        UnsupportedError,
        "MATCH_RECOGNIZE inside of another clause (line 1, column 45)\n"
        "   1 | FROM t MATCH_RECOGNIZE (DEFINE A AS (FROM t MATCH_RECOGNIZE (X)))\n"
        "     |                                             ^^^^^^^^^^^^^^^\n"
        "Hint: Match in a subquery or a common table expression, and use its columns here",
    ),
]


@pytest.mark.parametrize(("text", "kind", "message"), ERRORS, ids=[e[0][:40] for e in ERRORS])
def test_errors(text, kind, message):
    with pytest.raises(OstinatoError) as caught:
        split_statement(text)
    assert type(caught.value) is kind
    assert str(caught.value.within(text)) == message


def test_unknown_dialect():
    with pytest.raises(UnknownNameError, match="Unknown SQL dialect `klingon`"):
        split_statement("SELECT 1", "klingon")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT 1 /*" + "'x' " * 3_000, 9),
        ("SELECT 1 '" + "/* " * 3_000, 9),
        ("SELECT " + "'a' " * 3_000 + "'b", 12_007),
        ("SELECT 'it''s' AS x -- it's\n, 'b", 30),
    ],
    ids=["comment", "quote", "last", "escaped"],
)
def test_what_is_never_closed_is_found_without_trying_every_place(text, place, monkeypatch):
    tried = []
    plain = statement._splits
    monkeypatch.setattr(statement, "_splits", lambda text, dialect: (tried.append(1), plain(text, dialect))[1])
    with pytest.raises(QuerySyntaxError, match="never closed") as caught:
        split_statement(text)
    assert caught.value.span.start == place
    assert len(tried) <= statement.TRIED + 1


def test_the_number_of_clauses_is_bounded():
    text = "SELECT * FROM " + ", ".join(f"t MATCH_RECOGNIZE (x) m{number}" for number in range(MOST_CLAUSES + 1))
    with pytest.raises(UnsupportedError, match="201 clauses"):
        split_statement(text)
