"""NEEL trees to the algebra."""

from __future__ import annotations

import pytest

from ostinato.algebra.pattern import variables_of
from ostinato.algebra.policies import MatchOrder, Output, Selection, Ties
from ostinato.algebra.query import When
from ostinato.algebra.text import pattern_text, to_text
from ostinato.base.errors import OstinatoError, QuerySyntaxError, SchemaError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.expr.types import INT, STRING
from ostinato.expr.typing.schema import Schema
from ostinato.lang.neel import lower, parse
from ostinato.reference import output

SCHEMA = Schema((("id", INT), ("ts", INT), ("kind", STRING), ("x", INT), ("y", INT), ("s", STRING)))


def lowered(text: str, **options):
    return lower(parse(text), {"events": SCHEMA}, type_by="kind", **options)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("SEQ(A a, B b)", "a b"),
        ("A a", "a"),
        ("SEQ(A a, AND(B b, C c), OR(D d, SEQ(A e, !B f, C g)))", "a (b & c) (d | e ~(f) g)"),
        ("AND(A a, !(B b, b.x = a.x))", "a & ~([b WHERE LAST(b.x) = LAST(a.x)])"),
        ("SEQ(A a, B+ b[], b.LEN > 2)", "[a b+ WHERE COUNT(b.*) > 2]"),
        ("SEQ(A a, AND(B* b[], C? c), D?)", 'a (b* & c?) "D 1"?'),
        ("SEQ(A a, SEQ(B b, b.x < a.x < c.x), C c)", "a [b WHERE LAST(b.x) < LAST(a.x), LAST(a.x) < LAST(c.x)] c"),
    ],
)
def test_patterns(text: str, pattern: str) -> None:
    assert pattern_text(lowered(f"PATTERN {text}").pattern) == pattern


def test_a_query() -> None:
    query = lowered("PATTERN SEQ(A a, !B b, C) WITHIN 5 RETURN a")
    assert (query.selection, query.ties, query.listed, query.shown) == (Selection.ANY, Ties.EPOCH, MatchOrder.INTERVAL, ("a",))
    assert [(d.variable, d.event_type, d.conditions) for d in query.definitions] == [("a", "A", ()), ("b", "B", ()), ("C 1", "C", ())]
    assert variables_of(query.pattern) == ("a", "C 1")
    assert {"SHOWN a", "LISTED by end", "TIME ts TIES EPOCH"} <= set(to_text(query).splitlines())
    assert lowered("PATTERN SEQ(A a, C)").shown == ("a",)
    assert lowered("PATTERN AND(A a, C c)", output="count").output is Output.COUNT


def test_conditions_about_the_events_of_a_list_one_by_one_are_its_own() -> None:
    query = lowered("PATTERN SEQ(A a, B+ b[], b[i].x > a.x AND b[i].x > b[i-1].x AND b[i].y > avg(b[..i-1].y) AND b[1].x > 0) WITHIN 9")
    assert [condition.when for condition in query.definition("b").conditions] == [When.EACH, When.LATER, When.LATER]
    assert pattern_text(query.pattern) == "[a b+ WHERE FIRST(b.x) > 0]"
    assert query.kleene == ("b",)


def test_lists_with_running_conditions() -> None:
    events = (("A", 0), ("B", 3), ("B", 2), ("B", 5), ("C", 0))
    rows = [{"id": at, "ts": at, "kind": kind, "x": x, "y": 0, "s": None} for at, (kind, x) in enumerate(events)]
    query = lowered("PATTERN SEQ(A a, AND(SEQ(B+ b[], b[i].x > b[i-1].x), C c), b.LEN >= 2) WITHIN 9")
    assert output(query, rows) == [{"a": [0], "b": [1, 3], "c": [4]}, {"a": [0], "b": [2, 3], "c": [4]}]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("SEQ(A a, !B b, C c, a.x = |b.x|)", UnsupportedError, "`b` is negated, and known inside its negation only"),
        ("SEQ(A a, !B b, !(D d, d.x = |b.x|), C c)", UnsupportedError, "`b` is negated, and known inside its negation only"),
        ("SEQ(A a, |z.x| = 1)", UnknownNameError, "`z` is not a variable of the pattern"),
        ("SEQ(A a, |a.z| = 1)", UnknownNameError, "The events have no attribute `z`"),
        ("SEQ(A a, |a.x + 1|)", TypeMismatchError, "A condition must be true or false; this is of type integer"),
        ("SEQ(A a, |!B b|)", UnsupportedError, "A negation that can stand at an end of the match needs a window"),
        ("AND(A a, SEQ(|!B b|, C c)) WITHIN 5 events", UnsupportedError, "A negation at an end of the match needs a window in time"),
        ("SEQ(A a, |!B b|, C? c, D* d[])", UnsupportedError, "A negation that can stand at an end of the match needs a window"),
        ("SEQ(A a, !B b, C c) RETURN a, |b|", UnsupportedError, "`b` is negated: a match holds no such event to return"),
        ("SEQ(A a, !B b, C c) RETURN |b.x| AS x", UnsupportedError, "`b` is negated: a match holds no such event to return"),
        ("SEQ(A a) RETURN |z|", UnknownNameError, "`z` is not a variable of the pattern"),
        ("SEQ(A a) RETURN |a|, a.x", UnsupportedError, "RETURN names whole events, or attributes of them, not both"),
        ("SEQ(B+ b[], A a, |b[i].x| > a.x)", UnsupportedError, "`b[i]` is compared with `a`, which comes later in the pattern"),
        (
            "SEQ(B+ b[], !(C c, c.x > |b[i].x|), A a)",
            UnsupportedError,
            "`b[i]` stands outside of the expression that has `b`",
        ),
        (
            "SEQ(B+ b[], b[i].x > |b[b.LEN].x|)",
            UnsupportedError,
            "The finished `b` is compared with its own elements while they are still being selected",
        ),
    ],
)
def test_refused(text: str, kind: type[OstinatoError], message: str) -> None:
    before, underlined, after = f"PATTERN {text}".split("|")
    with pytest.raises(kind) as caught:
        lowered(before + underlined + after)
    error = caught.value
    assert error.message == message and error.position is not None and error.span is not None
    assert (before + underlined + after)[error.span.start : error.span.end] == underlined


def test_types_that_do_not_compare() -> None:
    with pytest.raises(TypeMismatchError) as caught:
        lowered("PATTERN SEQ(A a, a.x = 'p')")
    assert caught.value.position is not None


@pytest.mark.parametrize("text", ["SEQ(A a, !B b, C c)", "AND(A a, !B b)", "AND(A a, !SEQ(!B b, C c)) WITHIN 5 events"])
def test_negations_that_need_no_window_in_time(text: str) -> None:
    assert lowered(f"PATTERN {text}").negations


def test_options() -> None:
    for output_ in ("first", "nonoverlapping", "compressed", "aggregates", "timeouts"):
        with pytest.raises(UnsupportedError, match="not offered in NEEL"):
            lowered("PATTERN A a", output=output_)
    with pytest.raises(QuerySyntaxError, match="no output format"):
        lowered("PATTERN A a", output="some")
    with pytest.raises(UnsupportedError, match="strictly in time"):
        lowered("PATTERN A a", ties="order")
    with pytest.raises(QuerySyntaxError, match="is unknown"):
        lowered("PATTERN A a", ties="?")
    with pytest.raises(SchemaError):
        lower(parse("PATTERN A a"), {})
