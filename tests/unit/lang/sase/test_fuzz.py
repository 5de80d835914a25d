"""Damaged query texts: a query comes out, or an error of ours, never anything else."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.worked_cases import worked_cases
from tests.unit.lang.sase.schemas import EVENTS

from ostinato.base.errors import OstinatoError
from ostinato.lang.sase import lower, parse, render

TEXTS = [case.text for case in worked_cases() if case.language == "sase"]
SCRAPS = [
    "PATTERN", "SEQ", "WHERE", "WITHIN", "RETURN", "OUTPUT", "AS", "and", "or", "not", "between", "in", "like", "case", "when",
    "then", "end", "cast", "is", "null", "true", "a", "b", "a[i]", "a[i-1].price", "a[..i-1]", "a[]", "a.LEN", "a[a.LEN].volume",
    "[symbol]", "avg(", "count(a)", "80%*", "%", "~", "∼", "+", "*", "?", "-", "/", "(", ")", "[", "]", "{", "}", ",", ".", "..",
    ";", ":", "::", "=", "==", "!=", "<", ">=", "'", '"', "`", "--", "/*", "*/", "1", "0", "1e9", "1.5", "99999999999999999999",
    "'x'", "interval", "date", "timestamp '2026-01-01'", "hours", "events", "\u0000", "é", "\n", "|",
]  # fmt: skip


def check(text: str) -> None:
    try:
        tree = parse(text)
        assert parse(render(tree)) == tree
        query = lower(tree, {"events": EVENTS}, type_by="kind")
        assert query.definitions
    except OstinatoError as error:
        assert str(error)
        if error.span is not None:
            assert 0 <= error.span.start <= error.span.end <= len(text)


def damaged(seed: int) -> str:
    rng = random.Random(seed)
    text = rng.choice(TEXTS)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        length = rng.choice((0, 0, 1, 2, 5, 20))
        insert = rng.choice(("", rng.choice(SCRAPS), f" {rng.choice(SCRAPS)} ", rng.choice(TEXTS)[at : at + length]))
        text = text[:at] + insert + text[at + length :]
    return text


def test_damaged_queries():
    for seed in range(1500):
        check(damaged(seed))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(SCRAPS), max_size=25))
def test_scraps(scraps):
    check("PATTERN SEQ(A+ a[], B b) WHERE " + " ".join(scraps))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text(text):
    check(text)


def test_deep_nesting_is_refused_not_overflowed():
    for opening, closing in (("(", ")"), ("not ", ""), ("abs(", ")"), ("- ", "")):
        check("PATTERN SEQ(A a) WHERE " + opening * 5000 + "a.volume > 1" + closing * 5000)
    check("PATTERN SEQ(A a) WHERE " + " and ".join(["a.volume > 1"] * 3000))
    check("PATTERN SEQ(" + ", ".join(f"A a{n}" for n in range(2000)) + ")")
