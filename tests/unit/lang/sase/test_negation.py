"""Negation: what it is lowered to, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.unit.lang.sase.schemas import COUNTED, EVENTS

from ostinato.algebra.pattern import Negation, Repetition, Sequence, Variable
from ostinato.algebra.query import Condition, Definition, MatchQuery, When
from ostinato.algebra.text import to_text
from ostinato.base.errors import OstinatoError, UnknownNameError, UnsupportedError
from ostinato.compiler import compile
from ostinato.expr.nodes import Aggregate, Anchor, Call, Field, Literal, Nav
from ostinato.expr.types import BOOL, INT
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.expr.typing.schema import Schema
from ostinato.lang.sase import lower, parse, render
from ostinato.plan.gaps import gaps_of

VOLUME = Field("volume")
MEANT = "Did you mean `volume`?"
UNBOUNDED = "A negation that can stand at an end of the match needs a window"


def lowered(text: str, **options) -> MatchQuery:
    return lower(parse(text), {"events": EVENTS}, **{"type_by": "kind", **options})


def volume(variable: str, anchor: Anchor = Anchor.LAST) -> Nav:
    return Nav(variable, anchor, 0, 0, VOLUME)


def test_the_paper_s_first_query():
    query = lowered(
        """PATTERN SEQ(Shelf a, ∼(Register b), Exit c)
           WHERE skip_till_next_match(a, b, c) { a.volume = b.volume and a.volume = c.volume } WITHIN 12 hours"""
    )
    assert query.pattern == Sequence((Variable("a"), Negation(Variable("b")), Variable("c")))
    assert query.definitions == (
        Definition("a", (), "Shelf"),
        Definition("c", (Condition(Call("eq", (volume("a"), volume("c")))),), "Exit"),
        Definition("b", (Condition(Call("eq", (volume("a"), volume("b")))),), "Register"),
    )


@pytest.mark.parametrize(
    "pattern, positions",
    [
        ("~(X x), A a, B+ b[], C* c[]", [0]),
        ("A a, ~(X x), B+ b[], C* c[]", [1]),
        ("A a, B+ b[], C* c[], ~(X x)", [3]),
        ("~(X x), ~(Y y), A a, B+ b[], ~(SEQ(Z z, Z w)), C* c[], ~(U u)", [0, 0, 2, 3]),
    ],
)
def test_positions(pattern, positions):
    query = lowered(f"PATTERN SEQ({pattern}) WITHIN 1 hour")
    assert [gap.position for gap in gaps_of(query.pattern)] == positions
    positive = tuple(item for item in query.pattern.items if not isinstance(item, Negation))
    assert positive == (Variable("a"), Repetition(Variable("b"), 1, None), Repetition(Variable("c"), 0, None))
    assert query.kleene == ("b", "c")


def test_a_negated_sequence():
    query = lowered("PATTERN SEQ(A a, ~(SEQ(X x, Y y)), B b) WHERE x.volume > y.volume and x.ok")
    assert query.negations == (Negation(Sequence((Variable("x"), Variable("y")))),)
    assert query.definitions[2:] == (
        Definition("x", (Condition(Nav("x", Anchor.LAST, 0, 0, Field("ok"))),), "X"),
        Definition("y", (Condition(Call("gt", (volume("x"), volume("y")))),), "Y"),
    )


# conjunct over SEQ(S s, ~(X x), K+ k[], ~(SEQ(Y y, Z z)), O? o) -> the negated variable that it belongs to, and what it says
PLACED = [
    ("x.volume > 1", "x", Call("gt", (volume("x"), Literal(1)))),
    ("s.volume > x.volume", "x", Call("gt", (volume("s"), volume("x")))),
    ("x.volume > o.volume", "x", Call("gt", (volume("x"), volume("o")))),
    ("x.volume > k[1].volume", "x", Call("gt", (volume("x"), volume("k", Anchor.FIRST)))),
    ("x.volume > k[k.LEN].volume", "x", Call("gt", (volume("x"), volume("k")))),
    ("y.volume > k.LEN", "y", Call("gt", (volume("y"), Aggregate("count", "k", None)))),
    ("max(k[].volume) > z.volume", "z", Call("gt", (Aggregate("max", "k", VOLUME), volume("z")))),
    ("z.volume > y.volume", "z", Call("gt", (volume("z"), volume("y")))),
    ("y.volume > z.volume", "z", Call("gt", (volume("y"), volume("z")))),
]


@pytest.mark.parametrize("conjunct, variable, said", PLACED, ids=[case[0] for case in PLACED])
def test_a_conjunct_belongs_to_the_negated_variable(conjunct, variable, said):
    query = lowered(f"PATTERN SEQ(S s, ~(X x), K+ k[], ~(SEQ(Y y, Z z)), O? o) WHERE {conjunct} WITHIN 1 hour")
    assert [definition.conditions for definition in query.definitions[:3]] == [()] * 3
    items = {item.variable: item.conditions for item in query.definitions[3:]}
    assert items.pop(variable) == (Condition(said, When.EACH),)
    assert set(items.values()) == {()}


def test_conjuncts_about_others_are_placed_as_ever():
    query = lowered("PATTERN SEQ(~(X x), K+ k[], ~(Y y), Z z) WHERE k[i].volume > k[i-1].volume and z.volume > k.LEN WITHIN 1 hour")
    assert [(d.variable, c.when) for d in query.definitions for c in d.conditions] == [("k", When.LATER), ("z", When.EACH)]


def test_a_conjunct_without_a_variable_says_nothing_of_the_negated_event():
    query = lowered("PATTERN SEQ(A a, ~(X x), B b) WHERE false")
    assert [definition.conditions for definition in query.definitions] == [*[(Condition(Literal(False)),)] * 2, ()]


def test_types_are_filled_in():
    forbidden = lowered("PATTERN SEQ(A a, ~(X x), B b) WHERE x.volume > b.volume").definition("x")
    assert [node.type for node in forbidden.conditions[0].expr.walk()] == [BOOL, INT, INT, INT, INT]


def test_the_stream_is_the_type():
    query = lower(parse("PATTERN SEQ(counted a, ~(Counted x), counted b) WHERE x.x > a.x"), {"counted": COUNTED})
    assert query.definition("x").event_type is None


def test_places_in_the_text():
    text = "PATTERN SEQ(A a, ~(SEQ(X x, Y y)), B b)"
    (negation,) = lowered(text).negations
    assert text[negation.span.start : negation.span.end] == "~(SEQ(X x, Y y))"


def test_text_of_the_algebra():
    shown = to_text(lowered("PATTERN SEQ(A a, ~(SEQ(X x, Y y)), B+ b[], ~(Z z)) WHERE y.volume > 1 WITHIN 5 events")).splitlines()
    assert "PATTERN a ~(x y) b+ ~(z)" in shown
    assert shown[-5:] == ["DEFINE x : 'X'", "DEFINE y : 'Y'", "  LAST(y.volume) > 1", "DEFINE z : 'Z'", "LISTS b"]


def test_text_of_the_query():
    text = """PATTERN SEQ(~(X x), A a, NOT (SEQ(Y y, Z z)), !(U u), B+ b[])
              WHERE strict_contiguity(x, a, y, z, u, b[]) { [symbol], u.ok } WITHIN 1 h"""
    assert render(parse(text)) == (
        "PATTERN SEQ(~(X x), A a, ~(SEQ(Y y, Z z)), ~(U u), B+ b[ ])\n"
        "WHERE strict_contiguity(x, a, y, z, u, b[ ]) { [symbol] and u.ok }\n"
        "WITHIN 1 hours"
    )
    assert parse(render(parse(text))) == parse(text)


# the query (with | around what the carets underline), kind, message, hint
REFUSED = [
    ("PATTERN SEQ(|~(X x)|, A a)", UnsupportedError, UNBOUNDED, "Add a window, e.g. WITHIN 100 events"),
    ("PATTERN SEQ(A a, |~(X x)|)", UnsupportedError, UNBOUNDED, "Add a window, e.g. WITHIN 100 events"),
    ("PATTERN SEQ(A? a, B* b[], |~(SEQ(X x, Y y))|, C c)", UnsupportedError, UNBOUNDED, "Add a window, e.g. WITHIN 100 events"),
    ("PATTERN SEQ(A a, ~(X x), B b, |~(Y y)|, C? c)", UnsupportedError, UNBOUNDED, "Add a window, e.g. WITHIN 100 events"),
    (
        "PATTERN SEQ(A a, ~(X x), ~(Y y), B b) WHERE |x.volume| > y.volume",
        UnsupportedError,
        "`x` and `y` are negated apart from one another and cannot be compared",
        "Compare negated events of one sequence, ~(SEQ(...)), or each with events that are not negated",
    ),
    (
        "PATTERN SEQ(A a, ~(X x), B b, ~(SEQ(Y y, Z z)), C c) WHERE z.volume > a.volume + |x.volume|",
        UnsupportedError,
        "`x` and `z` are negated apart from one another and cannot be compared",
        "Compare negated events of one sequence, ~(SEQ(...)), or each with events that are not negated",
    ),
    (
        "PATTERN SEQ(A a, ~(X x), K+ k[]) WHERE x.volume > |k[i].volume|",
        UnsupportedError,
        "`k[i]` is compared with `x`, which is negated",
        "Use k[1], k[k.LEN] or an aggregate over k[]",
    ),
    (
        "PATTERN SEQ(K+ k[], ~(X x), A a) WHERE x.volume > |avg(k[..i-1].volume)|",
        UnsupportedError,
        "`k[..i-1]` is compared with `x`, which is negated",
        "Use k[1], k[k.LEN] or an aggregate over k[]",
    ),
    (
        "PATTERN SEQ(A a, ~(X x), B b) RETURN a.volume, |x.id|",
        UnsupportedError,
        "`x` is negated: a match holds no such event to return",
        "Return attributes of the variables that are not negated",
    ),
    (
        "PATTERN SEQ(A a, ~(SEQ(X x, Y y)), B b) RETURN b.volume + |count(y)| AS n",
        UnsupportedError,
        "`y` is negated: a match holds no such event to return",
        "Return attributes of the variables that are not negated",
    ),
    ("PATTERN SEQ(A a, ~(X x), B b) WHERE |x.volum| > 1", UnknownNameError, "The events have no attribute `volum`", MEANT),
    ("PATTERN SEQ(A a, ~(X x), B b) WHERE |y.ok|", UnknownNameError, "`y` is not a variable of the pattern", "Its variables are a, x, b"),
    (
        "PATTERN SEQ(A a, ~(|X+ x[]|), B b)",
        UnsupportedError,
        "`x` is negated and cannot repeat or be optional",
        "One X is enough to forbid: ~(X x)",
    ),
    (
        "PATTERN SEQ(A a, ~(SEQ(X x, |Y? y|)), B b)",
        UnsupportedError,
        "`y` is negated and cannot repeat or be optional",
        "One Y is enough to forbid: ~(Y y)",
    ),
]


@pytest.mark.parametrize("marked, kind, message, hint", REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(marked, kind, message, hint):
    before, underlined, after = marked.split("|")
    text = before + underlined + after
    with pytest.raises(OstinatoError) as caught:
        lowered(text)
    error = caught.value
    assert type(error) is kind
    assert (error.message, error.hint) == (message, hint)
    assert text[error.span.start : error.span.end] == underlined


def test_a_negated_type_of_another_stream():
    other = Schema((("ts", INT), ("y", INT)))
    query = lower(parse("PATTERN SEQ(counted a, ~(other x), counted b) WHERE x.y = a.x"), {"counted": COUNTED, "other": other})
    assert [part.stream for part in query.parts] == ["counted", "other"]
    assert query.definition("x").event_type == "other"


def test_no_window_is_needed_between_selected_events():
    assert len(lowered("PATTERN SEQ(A? a, B b, ~(X x), C* c[], D+ d[])").negations) == 1


@pytest.mark.parametrize("strategy", ["strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match"])
def test_it_compiles(strategy):
    text = f"PATTERN SEQ(A a,\n ∼(B b), C c)\nWHERE {strategy}(a, b, c) {{ [symbol] }}"
    query = compile(text, {"events": pa.schema([(name, to_arrow(kind)) for name, kind in EVENTS.columns])}, type_by="kind")
    (negation,) = query.pattern.negations
    assert (negation.before, negation.leads, negation.trails, negation.is_static) == (1, False, False, True)
