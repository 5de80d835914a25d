"""Texts whose queries are written in different languages."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import OstinatoError
from ostinato.lang.registry import language_of

EVENTS = [
    ("a1", 1, "A", 1),
    ("b1", 2, "B", 1),
    ("c1", 3, "C", 2),
    ("a2", 4, "A", 2),
    ("b2", 5, "B", 2),
    ("d1", 6, "D", 1),
    ("b3", 6, "B", 3),
]
TABLE = pa.Table.from_pylist([dict(zip(("id", "ts", "kind", "x"), event, strict=True)) for event in EVENTS])
VIEW = """CREATE VIEW Pair AS SELECT * FROM events MATCH_RECOGNIZE (
    ORDER BY ts MEASURES A.x AS x PATTERN (A B) DEFINE A AS kind = 'A', B AS kind = 'B')"""
CLAUSE = "SELECT * FROM Pair MATCH_RECOGNIZE (ORDER BY ts MEASURES A.x AS x, LAST(B.x) AS y PATTERN (A B) DEFINE B AS x > A.x)"
NESTED = "PATTERN AND(A a, B b, a.x = b.x) WITHIN 4 RETURN Pair(a.x AS x)"
SELECTED = "PATTERN SEQ(A a, B b) WHERE a.x = b.x WITHIN 4 RETURN Pair(a.x AS x)"
TEXTS = {
    "FILTER {kind = 'A'} (events) PUBLISH Pair; PATTERN AND(Pair p, C c, p.x < c.x) WITHIN 5 RETURN p.x AS x, c.id AS id": (
        "cel; neel",
        [{"x": 1, "id": "c1"}],
    ),
    f"{NESTED}; FILTER {{x > 1}} (Pair)": ("neel; cel", [{"kind": "Pair", "x": 2, "start_ts": 5, "end_ts": 5}]),
    f"{SELECTED}; PATTERN AND(Pair p, C c, p.x < c.x) WITHIN 5 RETURN p.x AS x, c.id AS id": ("sase; neel", [{"x": 1, "id": "c1"}]),
    f"{NESTED}; PATTERN SEQ(Pair p, D d) WHERE p.x = 2 WITHIN 5 RETURN p.x AS x, d.id AS id": ("neel; sase", [{"x": 2, "id": "d1"}]),
    f"{VIEW}; PATTERN AND(Pair p, C c, p.x < c.x) WITHIN 5 RETURN p.x AS x, c.id AS id;": ("sql; neel", [{"x": 1, "id": "c1"}]),
    f"{NESTED};\n{CLAUSE}": ("neel; sql", [{"x": 1, "y": 2}]),
    f"{VIEW}; PATTERN SEQ(Pair p, C c) WHERE p.x < c.x WITHIN 5 RETURN p.x AS x, c.id AS id": ("sql; sase", [{"x": 1, "id": "c1"}]),
    f"{VIEW}; {SELECTED.replace('A a', 'Pair a').replace('Pair(', 'Two(')}; PATTERN SEQ(Two t, !C c, D d) WITHIN 9 RETURN t.x AS x": (
        "sql; sase; neel",
        [],
    ),
}


@pytest.mark.parametrize("text", TEXTS)
def test_each_query_is_read_by_its_own_language(text: str) -> None:
    language, wanted = TEXTS[text]
    query = ost.compile(text, {"events": TABLE.schema}, type_by="kind")
    assert query.language == language
    assert ost.match(text, events=TABLE, type_by="kind").to_arrow().to_pylist() == wanted
    session, found = query.open(), []
    for row in range(TABLE.num_rows):
        found += session.push(TABLE.slice(row, 1)).to_pylist()
        session = query.open(snapshot=session.snapshot())
    assert found + session.close().to_pylist() == wanted


def test_a_query_that_the_language_of_the_text_can_read_is_of_it() -> None:
    text = "PATTERN SEQ(A a, B b) WITHIN 5 RETURN Pair(a.x); PATTERN AND(Pair p, C c) WITHIN 5"
    assert language_of(text).name == "neel"
    assert language_of(text, "sase; neel").name == "sase; neel"
    nested, mixed = (ost.compile(text, {"events": TABLE.schema}, type_by="kind", language=one) for one in (None, "sase;neel"))
    assert [part.pattern.evaluation for part in nested.parts] != [part.pattern.evaluation for part in mixed.parts]
    assert "-- SASE+\n" in mixed.explain("syntax") and "-- NEEL\n" in mixed.explain("syntax")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{SELECTED}; PATTERN AND(Pair p, C c, |p.y| = 3)", "Pair events have no attribute `y`"),
        ("PATTERN SEQ(A a, B b) WHERE |a.y| = 1 RETURN P(a.x); PATTERN AND(P p, C c)", "The events have no attribute `y`"),
        (f"{VIEW.replace('Pair', '|Pair|').replace('ORDER BY ts', '')}; PATTERN AND(Pair p, C c)", "cannot be an event `Pair`: the rows"),
        (f"{VIEW.replace('Pair', '|Pair|').replace('(A B)', '(A* B*)')}; PATTERN AND(Pair p, C c)", "a match without rows has no time"),
        (f"{SELECTED.replace('Pair(', '|Pair|(')}; PATTERN AND(A p, C c)", "No later query of the text reads the events `Pair`"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_errors_point_into_the_whole_text(text: str, message: str) -> None:
    before, underlined, after = text.split("|")
    with pytest.raises(OstinatoError, match=message) as caught:
        ost.compile(before + underlined + after, {"events": TABLE.schema}, type_by="kind")
    error = caught.value
    assert error.span is not None and error.text == before + underlined + after
    assert error.text[error.span.start : error.span.end].startswith(underlined)


@pytest.mark.parametrize(
    ("text", "language", "message"),
    [
        ("PATTERN SEQ(A a, B b) RETURN P(a.x)", "sase; neel", "The text has 1 queries, and language= names 2"),
        (
            f"{VIEW.replace('SELECT *', 'SELECT x')}; PATTERN AND(Pair p, C c)",
            None,
            "only SELECT . FROM and one clause over a stream",
        ),
        (f"{SELECTED}; PATTERN AND(Pair p, C c)", "sase; cobol", 'there is no language "cobol"'),
        (f"{NESTED}; {CLAUSE}", None, "output= is for event patterns"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_refused(text: str, language: str | None, message: str) -> None:
    output = "count" if CLAUSE in text else None
    with pytest.raises(OstinatoError, match=message):
        ost.compile(text, {"events": TABLE.schema}, type_by="kind", language=language, output=output)


def test_an_operand_that_is_a_query_of_its_own_may_stand_in_each() -> None:
    """What CEL makes several queries of is still one of the text."""
    text = (
        "SELECT x FROM (SELECT v AS x FROM events) NEXT ((SELECT v AS y FROM events) NEXT (SELECT v AS z FROM events)) PUBLISH One;\n"
        "PATTERN SEQ(One a, One b) WITHIN 20 RETURN Two(a.x AS first, b.x AS second);\n"
        "SELECT first FROM (SELECT first FROM Two) NEXT ((SELECT v AS y FROM events) NEXT (SELECT v AS z FROM events))"
    )
    table = pa.table({"ts": range(8), "v": range(8)})
    assert ost.match(text, events=table).to_arrow().column("first").to_pylist() == [0, 1, 2]
