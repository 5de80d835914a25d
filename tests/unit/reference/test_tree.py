"""Nested patterns by definition: gaps, windows, branches that were not taken, lists."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ostinato.algebra.policies import Output, Ties
from ostinato.base.errors import UnsupportedError
from ostinato.expr.types import INT, STRING
from ostinato.expr.typing.schema import Schema
from ostinato.lang.neel import lower, parse
from ostinato.reference import output

SCHEMA = Schema((("ts", INT), ("kind", STRING), ("x", INT)))


def found(text: str, events: str) -> list[str]:
    """`events` are like `A1 B2/7`: the type, the time, x. Matches are their positions by variable, `-` without event."""
    rows = []
    for event in events.split():
        kind_and_time, _, x = event.partition("/")
        rows.append({"ts": int(kind_and_time[1:]), "kind": kind_and_time[0], "x": int(x) if x else None})
    matches = output(lower(parse(f"PATTERN {text}"), {"events": SCHEMA}, type_by="kind"), rows)
    return [" ".join("+".join(map(str, at)) or "-" for at in match.values()) for match in matches]


@pytest.mark.parametrize(
    ("text", "events", "matches"),
    [
        # a sequence is strict in time, a conjunction is not
        ("SEQ(A a, B b)", "A1 B1 B2", ["0 2"]),
        ("AND(A a, B b)", "A1 B1 B2", ["0 1", "0 2"]),
        # a gap lies strictly between its neighbours, a conjunction holds its ends
        ("SEQ(A a, !C c, B b)", "A1 C1 C2 B2", ["0 3"]),
        ("SEQ(A a, !C c, B b)", "A1 C2 B3", []),
        ("AND(A a, B b, !C c)", "A1 C1 B2", []),
        ("AND(A a, B b, !C c)", "C0 A1 B2 C3", ["1 2"]),
        # at the ends the window bounds it, inclusively, by the whole match
        ("SEQ(!C c, A a, B b) WITHIN 3", "C1 A3 B4", []),
        ("SEQ(!C c, A a, B b) WITHIN 3", "C1 A3 B5", ["1 2"]),
        ("SEQ(A a, B b, !C c) WITHIN 3", "A1 B2 C4", []),
        ("SEQ(A a, B b, !C c) WITHIN 3", "A1 B2 C5", ["0 1"]),
        # nested at an end it reaches to the outer neighbour
        ("SEQ(A a, SEQ(!C c, B b)) WITHIN 9", "C1 A2 B4", ["1 2"]),
        ("SEQ(A a, SEQ(!C c, B b)) WITHIN 9", "A2 C3 B4", []),
        # a positive member of a conjunction has the room of the conjunction
        ("AND(D d, SEQ(A a, !C c)) WITHIN 3", "A1 D2 C4", []),
        ("SEQ(AND(D d, SEQ(A a, !C c)), B b) WITHIN 9", "A1 D2 B4 C5", ["1 0 2"]),
        # what is negated is no event of the match
        ("AND(A a, B b, !A c)", "A1 B2", ["0 1"]),
        ("AND(A a, B b, !A c)", "A1 A1 B2", []),
        # a negation in a negation
        ("SEQ(A a, !SEQ(C c, !D d, C e), B b)", "A1 C2 C3 B4", []),
        ("SEQ(A a, !SEQ(C c, !D d, C e), B b)", "A1 C2 D3 C4 B5", ["0 4"]),
        # branches that were not taken, and conditions about them
        ("OR(A a, SEQ(B b, C c), a.x = b.x)", "A1/1 B2/2 C3", ["0 - -", "- 1 2"]),
        ("SEQ(OR(A a, B b), !(C c, c.x = a.x), D d)", "B1 C2/5 D3", []),
        ("SEQ(OR(A a, B b), !(C c, c.x = a.x), D d)", "A1/4 C2/5 D3", ["0 - 2"]),
        # unknown does not satisfy
        ("SEQ(A a, a.x = a.x)", "A1 A2/1", ["1"]),
        # a window of events counts all of them, by position
        ("AND(A a, B b) WITHIN 2 events", "A1 Z1 B1 A1", ["3 2"]),
        # lists
        ("SEQ(A+ a[], B b)", "A1 A1 A2 B3", ["0 3", "0+2 3", "1 3", "1+2 3", "2 3"]),
        ("SEQ(A a, !SEQ(C+ c[], c.LEN > 1), B b)", "A1 C2 B3 C4 B5", ["0 2"]),
        ("SEQ(A a, B+ b[], b[i].x > a.x AND b[i].x > sum(b[..i-1].x))", "A0/1 B1/2 B2/3", ["0 1", "0 1+2", "0 2"]),
        # members that may be left empty; a match has an event
        ("SEQ(A a, B? b, C c)", "A1 B2 C3", ["0 1 2", "0 - 2"]),
        ("SEQ(A a, B* b[])", "A1 B2 B3", ["0 -", "0 1", "0 1+2", "0 2"]),
        ("AND(A? a, B? b)", "A1 B1", ["0 1", "0 -", "- 1"]),
        ("SEQ(A a, AND(B? b, SEQ(C? c, D? d)), E e)", "A1 E2", ["0 - - - 1"]),
        # order, gaps and intervals are those of what is there
        ("SEQ(A a, B? b, C c)", "A1 C1 C2", ["0 - 2"]),
        ("SEQ(A a, !D d, B? b, C c)", "A1 B2 D3 C4", ["0 1 3"]),
        ("SEQ(A a, SEQ(B? b, !D d), C c)", "A1 D2 B3 C4", ["0 2 3"]),
        ("SEQ(A a, !D d, B? b) WITHIN 3", "A1 D3 B4", []),
        ("SEQ(A a, !D d, B? b) WITHIN 3", "A1 B2 D3", ["0 1"]),
        ("AND(A a, B? b, !D d)", "A1 D2 B3", ["0 -"]),
        ("SEQ(A a, AND(B? b, !D d), C c)", "A1 D2 C3", ["0 - 2"]),
        # what is negated has an event
        ("SEQ(A a, !SEQ(B b, C? c, c.x = 1), D d)", "A1 D2 B3 D4", ["0 1"]),
        # conditions say nothing about events that are not there; counting needs none
        ("SEQ(A a, B? b, C c, a.x < b.x < c.x)", "A1/1 B2/2 B3/0 C4/3", ["0 1 3", "0 - 3"]),
        ("SEQ(A a, B* b[], avg(b[].x) > 1 AND a.x = 1)", "A1/1 B2/1 B3/2", ["0 -", "0 1+2", "0 2"]),
        ("SEQ(A a, B* b[], b.LEN >= 1)", "A1 B2", ["0 1"]),
        ("SEQ(A a, B? b, C c, count(b) = a.x)", "A1/0 B2 C3", ["0 - 2"]),
        ("OR(A a, SEQ(B* b[], C c), b.LEN >= 1)", "A1 B2 C3", ["0 - -", "- 1 2"]),
        ("SEQ(B* b[], C+ c[], c[i].x > b.LEN AND c[i].x > b[1].x)", "B1/1 C2/1 C3/2", ["- 1", "0 2", "- 1+2", "- 2"]),
    ],
)  # fmt: skip
def test_matches(text: str, events: str, matches: list[str]) -> None:
    assert found(text, events) == matches


def test_listed_by_end_then_by_the_events() -> None:
    assert found("AND(B b, A a)", "A1 B2 A3 B3") == ["1 0", "1 2", "3 0", "3 2"]
    assert found("OR(SEQ(A a, B b), B c)", "A1 B2") == ["0 1 -", "- - 1"]


def test_other_selections_have_no_nesting() -> None:

    query = lower(parse("PATTERN AND(A a, B b)"), {"events": SCHEMA}, type_by="kind")
    with pytest.raises(UnsupportedError, match="strictly in time"):
        output(replace(query, ties=Ties.ORDER), [])
    with pytest.raises(UnsupportedError, match="not offered for nested"):
        output(replace(query, output=Output.NONOVERLAPPING), [])
