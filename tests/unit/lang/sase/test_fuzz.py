"""Damaged query texts: a query comes out, or an error of ours, never anything else."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.worked_cases import worked_cases
from tests.unit.lang.sase.schemas import COUNTED, EVENTS

from ostinato.base.errors import OstinatoError
from ostinato.lang.sase import lower, parse_queries, render

NEW = [
    "PATTERN SEQ(A a, (B b | C+ c[ ] | SEQ(D d, (E e OR F+ f[ ]))), ~(X x), H h) WHERE skip_till_any_match(a, b, c[ ], d, e, f[ ], x, h)",
    "PATTERN SEQ(A a, ANY(B b, SEQ(C c, D? d)), E e) WHERE [symbol] and e.price > coalesce(b.price, c.price) OUTPUT nonoverlapping",
    "PATTERN SEQ(A a, B+ b[ ]) RETURN Pair(a.price, avg(b[].price) AS mean) OUTPUT first;\nPATTERN SEQ(Pair p, ticks t) WHERE t.x > 1",
    "PATTERN SEQ(A+ a[ ]) WITHIN 20 events RETURN count(*) AS n, sum(a[].price) / count(*) AS mean, max(a.volume) AS top OUTPUT aggregates",
]
TEXTS = [*(case.text for case in worked_cases() if case.language == "sase"), *NEW * 20]
SCRAPS = [
    "PATTERN", "SEQ", "WHERE", "WITHIN", "RETURN", "OUTPUT", "AS", "and", "or", "not", "between", "in", "like", "case", "when",
    "then", "end", "cast", "is", "null", "true", "a", "b", "a[i]", "a[i-1].price", "a[..i-1]", "a[]", "a.LEN", "a[a.LEN].volume",
    "[symbol]", "avg(", "count(a)", "80%*", "%", "~", "∼", "+", "*", "?", "-", "/", "(", ")", "[", "]", "{", "}", ",", ".", "..",
    ";", ":", "::", "=", "==", "!=", "<", ">=", "'", '"', "`", "--", "/*", "*/", "1", "0", "1e9", "1.5", "99999999999999999999",
    "'x'", "interval", "date", "timestamp '2026-01-01'", "hours", "events", "\u0000", "é", "\n", "|",
    "||", "OR", "ANY(", "SEQ(", "(B b | C c)", "RETURN Pair(", "count(*)", "OUTPUT aggregates", "INTO",
    "; PATTERN SEQ(Pair p)",
]  # fmt: skip


def check(text: str) -> None:
    try:
        trees = parse_queries(text)
        for tree in trees:
            assert parse_queries(render(tree)) == (tree,)
            query = lower(tree, {"events": EVENTS, "ticks": COUNTED}, type_by="kind")
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


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*SCRAPS, "A a", "B+ b[ ]", "C c", "D? d", "SEQ(", "(", ")", ",", "|", "~("]), max_size=25))
def test_pattern_scraps(scraps):
    check("PATTERN " + " ".join(scraps))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(SCRAPS), max_size=15), st.booleans())
def test_return_scraps(scraps, named):
    check(f"PATTERN SEQ(A+ a[], (B b | C c)) RETURN {'Pair(' if named else ''}{' '.join(scraps)}{')' if named else ''}")


def test_deep_nesting_is_refused_not_overflowed():
    for opening, closing in (("(", ")"), ("not ", ""), ("abs(", ")"), ("- ", "")):
        check("PATTERN SEQ(A a) WHERE " + opening * 5000 + "a.volume > 1" + closing * 5000)
    check("PATTERN SEQ(A a) WHERE " + " and ".join(["a.volume > 1"] * 3000))
    check("PATTERN SEQ(" + ", ".join(f"A a{n}" for n in range(2000)) + ")")
    check("PATTERN " + "SEQ(" * 3000 + "A a" + ")" * 3000)
    check("PATTERN (" + " | ".join(f"A a{n}" for n in range(2000)) + ")")
    check("; ".join(f"PATTERN SEQ(A a) RETURN B{n}(a.price)" for n in range(300)))
