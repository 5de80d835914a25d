"""Texts and trees: what is accepted, how it is written again, and what is taken for CEL."""

from __future__ import annotations

from random import Random

import pytest
from tests.conformance.streams_case import worked_streams_cases
from tests.conformance.worked_cases import worked_cases
from tests.property.cel_meaning import lowered
from tests.property.cel_texts import SCHEMAS, text_of

from ostinato.base.errors import OstinatoError
from ostinato.lang.cel import parse_queries, render
from ostinato.lang.registry import language_of_suffix, recognised

TEXTS = {
    "stock": "SELECT * FROM stock",
    "from Stock publish S;": "SELECT * FROM Stock\nPUBLISH S",
    "SELECT a, b AS c, 1 + a * 2 AS d, * FROM s": "SELECT a, b AS c, 1 + a * 2 AS d, * FROM s",
    "FILTER {a > 1} s": "SELECT * FROM FILTER {a > 1} (s)",
    "filter {a>1 and dur<=10 min} ((s))": "SELECT * FROM FILTER {a > 1 AND dur <= INTERVAL '00:10:00'} (s)",
    "a NEXT b NEXT {$1.x=$2.x} (c)": "SELECT * FROM a NEXT b NEXT {$1.x = $2.x} c",
    "a NEXT (b NEXT c)": "SELECT * FROM a NEXT (b NEXT c)",
    "(a NEXT b) FOLD {true, $.x<$2.x, $.n+1 AS n} FILTER {y} (c)": (
        "SELECT * FROM a NEXT b FOLD {TRUE, $.x < $2.x, $.n + 1 AS n} FILTER {y} (c)"
    ),
    "(SELECT x FROM a PUBLISH p) NEXT (SELECT * FROM b PUBLISH q)": (
        "SELECT * FROM (SELECT x FROM a PUBLISH p) NEXT (SELECT * FROM b PUBLISH q)"
    ),
    "SELECT * FROM (a PUBLISH p) PUBLISH q": "SELECT * FROM (SELECT * FROM a PUBLISH p)\nPUBLISH q",
    '"select" NEXT {$1."from" = $2.next AND "DUR" = "a b"} "a.b"': (
        'SELECT * FROM "select" NEXT {$1."from" = $2."next" AND "DUR" = "a b"} "a.b"'
    ),
    "FILTER {f(x) IN (1, -2) AND NOT y LIKE 'a%'} (s) -- a comment": "SELECT * FROM FILTER {f(x) IN (1, -2) AND NOT y LIKE 'a%'} (s)",
    "FILTER {extract(hour from t) = 1e999 OR CASE x WHEN 1 THEN true END} (s)": (
        "SELECT * FROM FILTER {EXTRACT(HOUR FROM t) = 1e999 OR CASE WHEN x = 1 THEN TRUE END} (s)"
    ),
    "FILTER {größe ≥ 3 ∧ $1.dev.id ≠ 4} (straße)": "SELECT * FROM FILTER {größe >= 3 AND $1.dev.id <> 4} (straße)",
}


@pytest.mark.parametrize("text", TEXTS)
def test_rendered(text: str) -> None:
    queries = parse_queries(text)
    assert [render(query) for query in queries] == [TEXTS[text]]
    assert parse_queries(TEXTS[text]) == queries


def test_texts_that_are_taken_for_cel() -> None:
    for case in worked_streams_cases("cel"):
        found = recognised(case.text)
        assert found is not None and found.name == "cel"
    plain = [text for text in TEXTS if recognised(text) is None]
    assert plain == ["stock", "SELECT a, b AS c, 1 + a * 2 AS d, * FROM s", "a NEXT (b NEXT c)"]


def test_texts_of_other_languages_are_left_to_them() -> None:
    for case in worked_cases():
        found = recognised(case.text)
        assert found is not None and found.name in (case.language, "sase"), case.text
    clause = "ORDER BY ts MEASURES NEXT(x) AS y PATTERN (FILTER{2} NEXT{1,} FOLD{3}) DEFINE NEXT AS x > 1"
    for text in (f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", f"SELECT publish FROM t MATCH_RECOGNIZE ({clause}) PUBLISH x"):
        found = recognised(text)
        assert found is not None and found.name == "sql"
    for text in (
        "PATTERN SEQ(FILTER f, NEXT n) WHERE skip_till_next_match(f, n) { f.x = n.x } RETURN PUBLISH",
        "pattern seq(A a) PUBLISH x",
    ):
        found = recognised(text)
        assert found is not None and found.name == "sase"
    for text in ("SELECT 1", "SELECT count(*) FILTER (WHERE x > 1) FROM t", "PUBLISH", "SELECT 'FOLD {' FROM t", "it's"):
        assert recognised(text) is None


def test_the_suffix() -> None:
    found = language_of_suffix(".CEL")
    assert found is not None and found.name == "cel"


def test_texts_with_something_changed_are_read_or_refused() -> None:
    """A character or a word gone, doubled or swapped: never a crash, and what is refused has a place in the text."""
    random = Random(7)
    refused = 0
    for _ in range(400):
        text = _spoiled(text_of(random), random)
        try:
            lowered(text, SCHEMAS)
        except OstinatoError as error:
            refused += 1
            assert error.text == text and error.span is not None and 0 <= error.span.start <= len(text), text
            assert str(error)
    assert refused > 200


def _spoiled(text: str, random: Random) -> str:
    if random.random() < 0.5:
        place = random.randrange(len(text))
        return text[:place] + random.choice(("", "$", "}", ")", ";", "'", '"', ",", " NEXT ", "é")) + text[place + 1 :]
    words = text.split(" ")
    one, other = random.randrange(len(words)), random.randrange(len(words))
    words[one], words[other] = words[other], random.choice((words[one], "", "SELECT", "PUBLISH s1"))
    return " ".join(words)
