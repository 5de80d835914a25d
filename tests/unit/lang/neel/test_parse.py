"""NEEL text to trees, and back."""

from __future__ import annotations

import pytest

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import Call, Literal
from ostinato.lang.events.syntax import At, Element, Quantifier, Return
from ostinato.lang.neel import parse, parse_queries, render
from ostinato.lang.neel.syntax import Event, Group, NeelQuery, Negated, Operator
from ostinato.lang.parsed_query import Composite
from ostinato.lang.registry import recognised
from ostinato.lang.streams.window import Window

ONE = Quantifier.ONE


def x(name: str, attribute: str = "x") -> Element:
    return Element(name, At.PLAIN, attribute)


def eq(left: Element, right: Element | Literal) -> Call:
    return Call("eq", (left, right))


def test_the_surgical_tools() -> None:
    tree = parse(
        """PATTERN SEQ(Recycle r, Washing w, !AND(Sharpen s, Disinfect d, Checking c, s.id = d.id = c.id = o.id), Operate o,
                       r.id = w.id AND o."ins-type" = "surgery")
           WITHIN 1 hour RETURN r, w, o"""
    )
    chain = (eq(x("s", "id"), x("d", "id")), eq(x("d", "id"), x("c", "id")), eq(x("c", "id"), x("o", "id")))
    tools = (Event("Sharpen", ONE, "s"), Event("Disinfect", ONE, "d"), Event("Checking", ONE, "c"))
    members = (
        Event("Recycle", ONE, "r"),
        Event("Washing", ONE, "w"),
        Negated(Group(Operator.AND, tools, chain)),
        Event("Operate", ONE, "o"),
    )
    conditions = (eq(x("r", "id"), x("w", "id")), eq(x("o", "ins-type"), Literal("surgery")))
    returns = tuple(Return(Element(name, At.PLAIN, None), None) for name in "rwo")
    assert tree == NeelQuery(Group(Operator.SEQ, members, conditions), Window("1", "hour"), returns)


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("pattern A a", "PATTERN A a"),
        ("PATTERN OR(A a, and(B b, C)) within 5 events", "PATTERN OR(A a, AND(B b, C))\nWITHIN 5 events"),
        ("PATTERN SEQ(A a, !(B b, b.x = 1, b.y < a.y), C c, a.x = 1)", "PATTERN SEQ(A a, !(B b, b.x = 1 AND b.y < a.y), C c, a.x = 1)"),
        ("PATTERN SEQ(A a, !(B b), C c)", "PATTERN SEQ(A a, !B b, C c)"),
        ("PATTERN SEQ(A a, B+ b[], b[i].x > b[i-1].x)", "PATTERN SEQ(A a, B+ b[ ], b[i].x > b[i-1].x)"),
        ("PATTERN SEQ(A a, a.x < 3 < a.y)", "PATTERN SEQ(A a, a.x < 3 AND 3 < a.y)"),
        ("PATTERN SEQ(A a, (a.x = 1 OR a.y = 2))", "PATTERN SEQ(A a, (a.x = 1 or a.y = 2))"),
        ('PATTERN SEQ("A-1" `b c`)', 'PATTERN SEQ("A-1" "b c")'),
        ("PATTERN A a RETURN Alarm(a.x AS y)", "PATTERN A a\nRETURN Alarm(a.x AS y)"),
    ],
)
def test_rendered(text: str, rendered: str) -> None:
    assert render(parse(text)) == rendered
    assert parse(rendered) == parse(text)


def test_events_without_a_variable_have_one_that_no_other_has() -> None:
    tree = parse('PATTERN SEQ(A, !A, B b, A "a 1")')
    assert isinstance(tree.pattern, Group)
    first, negated, _, named = tree.pattern.members
    assert first == Event("A", ONE, "A 2", named=False) and named == Event("A", ONE, "a 1")
    assert negated == Negated(Event("A", ONE, "A 3", named=False))


def test_several_queries() -> None:
    first, second = parse_queries("PATTERN AND(A a, B b) RETURN Pair(a.x); PATTERN SEQ(Pair p, C c)")
    assert first.composite == Composite("Pair") and second.composite is None
    with pytest.raises(UnsupportedError, match="One query"):
        parse("PATTERN A a RETURN P(a.x); PATTERN P p")


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("PATTERN |!|A a", UnsupportedError, "A pattern needs at least one member that is not negated"),
        ("PATTERN |AND(!A a, !SEQ(B b))| WITHIN 5", UnsupportedError, "AND(...) needs at least one member that is not negated"),
        ("PATTERN SEQ(A a, !|SEQ(!B b)|, C c)", UnsupportedError, "SEQ(...) needs at least one member that is not negated"),
        ("PATTERN OR(A a, |!B b|)", UnsupportedError, "A negation cannot stand in OR"),
        ("PATTERN SEQ(A a, !|!|B b, C c)", UnsupportedError, "A negation is not negated by itself"),
        ("PATTERN SEQ(A a, !(B b, |C| c), D d)", QuerySyntaxError, "A negation is of one expression"),
        ("PATTERN SEQ(A a, |B A|)", QuerySyntaxError, "The variable `A` is declared twice"),
        ("PATTERN SEQ(A a, a.x = 1, |B| b)", QuerySyntaxError, "A member stands behind a condition"),
        ("PATTERN OR(A a, |B* b[]|)", UnsupportedError, "A member of OR needs an event, and this may have none"),
        ("PATTERN OR(A a, |SEQ(B? b, !C c)|)", UnsupportedError, "A member of OR needs an event, and this may have none"),
        ("PATTERN SEQ(A a, !|B? b|, C c)", UnsupportedError, "What is negated needs an event, and this may have none"),
        (
            "PATTERN SEQ(A a, !(|AND(B? b, C* c[])|, a.x = 1), C d)",
            UnsupportedError,
            "What is negated needs an event, and this may have none",
        ),
        ("PATTERN SEQ(A a, |B+ b|)", QuerySyntaxError, "A list of events is declared with + or *, and with brackets"),
        ("PATTERN SEQ(A a, |B* b|)", QuerySyntaxError, "A list of events is declared with + or *, and with brackets"),
        ("PATTERN SEQ(A a, |B? b[]|)", QuerySyntaxError, "A list of events is declared with + or *, and with brackets"),
        ("PATTERN SEQ(A a, |B b[]|)", QuerySyntaxError, "A list of events is declared with + or *, and with brackets"),
        ("PATTERN SEQ(A |seq|, B b)", QuerySyntaxError, "`seq` is a word of the language, and no variable as it stands"),
        ("PATTERN AND(A a, B |And|)", QuerySyntaxError, "`And` is a word of the language, and no variable as it stands"),
        ("PATTERN A |or| WITHIN 5", QuerySyntaxError, "`or` is a word of the language, and no variable as it stands"),
        ("PATTERN SEQ(A+ |within|[])", QuerySyntaxError, "`within` is a word of the language, and no variable as it stands"),
        ("PATTERN SEQ(|and| b, A a)", QuerySyntaxError, "`and` is a word of the language, and no event type as it stands"),
        ("PATTERN SEQ(A a) |WHERE| a.x = 1", UnsupportedError, "WHERE is no clause of NEEL"),
        ("PATTERN SEQ(A a) RETURN a |WITHIN| 5", QuerySyntaxError, "WITHIN is out of place or repeated"),
        ("PATTERN SEQ(A a) WITHIN 5 |parsecs|", QuerySyntaxError, "`parsecs` is not a unit of time"),
    ],
)
def test_refused(text: str, kind: type[OstinatoError], message: str) -> None:
    before, underlined, after = text.split("|")
    with pytest.raises(kind) as caught:
        parse(before + underlined + after)
    error = caught.value
    assert error.message == message and error.position is not None and error.span is not None
    assert (before + underlined + after)[error.span.start : error.span.end] == underlined


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="more than 40 deep"):
        parse("PATTERN " + "SEQ(" * 41 + "A a" + ")" * 41)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("PATTERN AND(A a, B b)", "neel"),
        ("PATTERN SEQ(A a, !B b, C c) WITHIN 5", "neel"),
        ("PATTERN SEQ(A a, !SEQ(B b, D d), C c) WITHIN 5", "neel"),
        ("PATTERN SEQ(A a, C c, a.x = c.x)", "neel"),
        ("PATTERN SEQ(A a, B b) RETURN P(a.x); PATTERN AND(P p, C c)", "neel"),
        ("PATTERN SEQ(A a, C c) WHERE a.x = c.x AND (c.y = 1)", "sase"),
        ("PATTERN SEQ(A a, !(B b), C c)", "sase"),
        ("PATTERN OR(A a, C c)", "sase"),
        ("PATTERN A a WHERE a.v > 0 RETURN Hit(a.v AS v); PATTERN SEQ(Hit h, B b)", "sase"),
        ("PATTERN A a RETURN Hit(a.v AS v); PATTERN SEQ(Hit h, B b, h.v = b.v)", "neel"),
        ("PATTERN A a WHERE a.v > 0 RETURN Hit(a.v AS v); PATTERN SEQ(Hit h, B b, h.v = b.v)", "sase; neel"),
        ("PATTERN SEQ(A a, 'unfinished", "sase"),
    ],
)
def test_recognised_where_it_cannot_be_sase(text: str, language: str) -> None:
    found = recognised(text)
    assert found is not None and found.name == language
