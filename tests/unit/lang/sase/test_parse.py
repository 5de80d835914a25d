"""Text to tree: every form of the grammar, exactly."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ostinato.expr.nodes import Call, Literal
from ostinato.expr.unresolved import RawCall
from ostinato.lang.events.syntax import At, Component, Element, Equivalence, Quantifier, Return
from ostinato.lang.sase.parse import parse
from ostinato.lang.sase.syntax import Negation, OutputClause, SaseQuery, Strategy, Window

ONE, PLUS, STAR, OPTIONAL = Quantifier.ONE, Quantifier.PLUS, Quantifier.STAR, Quantifier.OPTIONAL
A = Component("A", ONE, "a")


def test_all_clauses():
    tree = parse(
        """PATTERN SEQ(Stock+ a[ ], Stock b)
           WHERE skip_till_next_match(a[ ], b) { [symbol] and a[1].volume > 1000 and b.volume < 80%*a[a.LEN].volume }
           WITHIN 1 hour
           RETURN a[1].price AS first_price, b.volume
           OUTPUT nonoverlapping"""
    )
    assert tree == SaseQuery(
        items=(Component("Stock", PLUS, "a"), Component("Stock", ONE, "b")),
        strategy=Strategy("skip_till_next_match"),
        conjuncts=(
            Equivalence((("symbol", None),)),
            Call("gt", (Element("a", At.FIRST, "volume"), Literal(1000))),
            Call("lt", (Element("b", At.PLAIN, "volume"), Call("mul", (Literal(Decimal("0.8")), Element("a", At.LAST, "volume"))))),
        ),
        window=Window("1", "hour"),
        returns=(Return(Element("a", At.FIRST, "price"), "first_price"), Return(Element("b", At.PLAIN, "volume"), None)),
        output=OutputClause("nonoverlapping"),
    )


@pytest.mark.parametrize(
    "pattern, items",
    [
        ("A a", (A,)),
        ("SEQ(A a)", (A,)),
        ("seq ( A a , A+ b[] )", (A, Component("A", PLUS, "b"))),
        ("SEQ(A* a[ ], B? b)", (Component("A", STAR, "a"), Component("B", OPTIONAL, "b"))),
        ('SEQ("Stock Tick" a)', (Component("Stock Tick", ONE, "a"),)),
        ("SEQ(Größe ä)", (Component("Größe", ONE, "ä"),)),
        ("SEQ(A a, ~(B b))", (A, Negation((Component("B", ONE, "b"),)))),
        ("SEQ(A a, ∼(B b))", (A, Negation((Component("B", ONE, "b"),)))),
        ("SEQ(A a, ~(SEQ(B b, C c)))", (A, Negation((Component("B", ONE, "b"), Component("C", ONE, "c"))))),
    ],
)
def test_patterns(pattern, items):
    assert parse(f"PATTERN {pattern}").items == items


@pytest.mark.parametrize(
    "written, element",
    [
        ("a.x", Element("a", At.PLAIN, "x")),
        ("a[1].x", Element("a", At.FIRST, "x")),
        ("a[ i ].x", Element("a", At.CURRENT, "x")),
        ("a[I].x", Element("a", At.CURRENT, "x")),
        ("a[i-1].x", Element("a", At.PREVIOUS, "x")),
        ("a[i − 1].x", Element("a", At.PREVIOUS, "x")),
        ("a[a.LEN].x", Element("a", At.LAST, "x")),
        ("a[a.len].x", Element("a", At.LAST, "x")),
        ("a.LEN", Element("a", At.PLAIN, "LEN")),
        ("b.from", Element("b", At.PLAIN, "from")),
        ('b."two words"', Element("b", At.PLAIN, "two words")),
        ("avg(a[..i-1].x)", RawCall("avg", (Element("a", At.BEFORE, "x"),))),
        ("avg(a[1..i-1].x)", RawCall("avg", (Element("a", At.BEFORE, "x"),))),
        ("sum(a[].x)", RawCall("sum", (Element("a", At.ALL, "x"),))),
        ("sum(a[ ].x)", RawCall("sum", (Element("a", At.ALL, "x"),))),
        ("count(a[])", RawCall("count", (Element("a", At.ALL, None),))),
        ("80%*b.x", Call("mul", (Literal(Decimal("0.8")), Element("b", At.PLAIN, "x")))),
        ("7 % b.x", Call("mod", (Literal(7), Element("b", At.PLAIN, "x")))),
        ("b.x % 2", Call("mod", (Element("b", At.PLAIN, "x"), Literal(2)))),
    ],
)
def test_references(written, element):
    tree = parse(f"PATTERN SEQ(A+ a[], B b) WHERE 0 < {written}")
    assert tree.conjuncts == (Call("lt", (Literal(0), element)),)


def _eq(variable: str) -> Call:
    return Call("eq", (Element(variable, At.PLAIN, "x"), Literal(1)))


@pytest.mark.parametrize(
    "where, conjuncts",
    [
        ("", ()),
        ("WHERE skip_till_any_match(a, b)", ()),
        ("WHERE skip_till_any_match(a, b) {}", ()),
        ("WHERE Skip_Till_Any_Match(b, a) { }", ()),
        ("WHERE { a.x = 1 }", (_eq("a"),)),
        ("WHERE a.x = 1", (_eq("a"),)),
        ("WHERE a.x == 1 AND b.x = 1", (_eq("a"), _eq("b"))),
        ("WHERE a.x = 1, b.x = 1", (_eq("a"), _eq("b"))),
        ("WHERE skip_till_any_match(a, b) { (a.x = 1 and b.x = 1), a.x = 1 }", (_eq("a"), _eq("b"), _eq("a"))),
        ("WHERE a.x = 1 or b.x = 1", (Call("or", (_eq("a"), _eq("b"))),)),
        ("WHERE not (a.x = 1) -- a remark\n", (Call("not", (_eq("a"),)),)),
        ("WHERE /* ∼ */ a.x = '∼'", (Call("eq", (Element("a", At.PLAIN, "x"), Literal("∼"))),)),
        ("WHERE [x, y]", (Equivalence((("x", None), ("y", None))),)),
    ],
)
def test_conjuncts(where, conjuncts):
    assert parse(f"PATTERN SEQ(A a, B b) {where}").conjuncts == conjuncts


@pytest.mark.parametrize(
    "within, window",
    [
        ("3 hours", Window("3", "hour")),
        ("1 HOUR", Window("1", "hour")),
        ("1.5 min", Window("1.5", "minute")),
        ("500 events", Window("500", "event")),
        ("1 event", Window("1", "event")),
        ("10", Window("10", None)),
        ("10;", Window("10", None)),
        ("10 OUTPUT all", Window("10", None)),
    ],
)
def test_windows(within, window):
    assert parse(f"PATTERN SEQ(A a) WITHIN {within}").window == window


def test_the_tree_remembers_its_text_but_compares_without_it():
    text = "pattern seq(A a)"
    assert parse(text).text == text
    assert parse(text) == parse("PATTERN A a ;")
