"""Which row patterns are warned about, and what the plan says about searches."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("v", pa.float64()), ("n", pa.int64())])


def compiled(pattern, define, within="", without=()):
    text = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS a PATTERN ({pattern}) {within} DEFINE {define})"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        query = ost.compile(text, {"t": SCHEMA}, without=without)
    said = [str(one.message) for one in found if issubclass(one.category, ost.QuadraticWarning)]
    assert ([query.warning] if query.warning else []) == said
    assert all(one.filename == __file__ for one in found)
    return query


@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("A B+ C", "C AS SUM(B.v) > 100"),
        ("A B+ C", "C AS C.v > LAST(B.v)"),
        ("A B* C", "C AS C.v <> A.v"),
        ("A B* C", "C AS C.v > A.v OR C.n > A.n"),
        ("A C* D", "D AS D.v > AVG(C.v)"),
        ("A B+ C", "B AS B.v > PREV(B.v), C AS SUM(B.v) > 100"),
        ("A B+ C", "B AS B.v > 0, C AS AVG(B.v) > 100"),
        ("(A B)+ C", "C AS C.v > FIRST(A.v)"),
        ("A B* C", "C AS C.v <> C.v + A.v - A.v"),
        ("A B* C", "C AS C.v > A.v AND C.n > A.n"),
        ("A B* C D", "C AS C.v > A.v, D AS D.v > 2 * A.v"),
        ("A B* C", "C AS ABS(C.v - A.v) > 1"),
    ],
)
def test_warned(pattern, define):
    query = compiled(pattern, define)
    assert query.warning is not None and "may be followed to the end" in query.warning and "Hint: Bound it with WITHIN" in query.warning
    assert f"warning: {query.warning}" in query.explain()
    assert compiled(pattern, define, "WITHIN 10").warning is None


@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("A B+ C", "C AS C.v > 2 * A.v"),
        ("A B+ C", "C AS C.v BETWEEN A.v AND A.v + 1 AND C.n > 0"),
        ("A B+ C", "C AS C.n = 1"),
        ("A B* C D", "C AS C.v > 2 * A.v"),
        ("A B+? C D*", "C AS ABS(C.v - A.v) < 1, D AS D.v > LAST(D.v, 1)"),
        ("A (B C)+", "C AS C.v > FIRST(A.v)"),
        ("A B{3} C", "C AS SUM(B.v) > 100"),
        ("A B+", "A AS A.v > 0"),
        ("A B* C", "A AS A.v > FIRST(A.v)"),
    ],
)
def test_not_warned(pattern, define):
    assert compiled(pattern, define).warning is None


def test_explain_says_what_is_searched():
    searched = compiled("A B+ C", "B AS B.n = 0, C AS C.v > 2 * A.v")
    assert "searched: the next row for C (by a value compared with fixed ones), while rows are mapped to B\n" in searched.explain()
    left_out = compiled("A B+ C", "C AS C.v > 2 * A.v", without=("search",))
    assert "rows are visited one by one (search is left out)" in left_out.explain()


def test_explain_says_how_runs_wait():
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { b.v > a.v + 8 } WITHIN 10"
    schema = pa.schema([*SCHEMA, ("kind", pa.string())])
    assert "runs in a wait in the order of last(a, 0): an event for b meets those whose bound its value satisfies" in (
        ost.compile(text, {"t": schema}, type_by="kind").explain()
    )
    assert "wait in the order" not in ost.compile(text, {"t": schema}, type_by="kind", without=("search",)).explain()


@pytest.mark.parametrize(
    ("condition", "warned"),
    [
        ("b.v > a.v + 8", False),
        ("b.v >= a.v and b.v < a.v + 1", False),
        ("b.n = a.n", False),
        ("b.n = 3", False),
        ("b.v - a.v > 2", False),
        ("b.v <> a.v", True),
        ("b.v > a.v and b.n > a.n", True),
        ("b.n = a.n and b.v > a.v", True),
        ("b.v * a.v > a.n * b.n", True),
    ],
)
def test_event_patterns_are_warned_about_where_events_meet_all_runs(condition, warned):
    schema = pa.schema([*SCHEMA, ("kind", pa.string())])
    text = f"PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) {{ {condition} }}"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        query = ost.compile(text, {"t": schema}, type_by="kind")
        ost.compile(f"{text} WITHIN 10", {"t": schema}, type_by="kind")
    assert [one.category for one in found] == [ost.QuadraticWarning] * warned
    assert (query.warning is not None) == warned and (not warned or "wait for `b`" in query.warning)
