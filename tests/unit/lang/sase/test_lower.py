"""Tree to algebra, exactly."""

from __future__ import annotations

import pytest
from tests.conformance.case import Refused
from tests.conformance.worked_cases import worked_cases
from tests.unit.lang.sase.schemas import COUNTED, EVENTS

from ostinato.algebra.pattern import Repetition, Sequence, Variable
from ostinato.algebra.policies import NullKeys, Output, Selection, Ties
from ostinato.algebra.query import Condition, Definition, MatchQuery, Measure, OrderKey, Unit, When, Within
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Call, Field, Literal, Nav
from ostinato.expr.types import BOOL, FLOAT, INT, STRING, TIMESTAMP
from ostinato.expr.typing.schema import Schema
from ostinato.lang.sase import lower, parse

PRICE, VOLUME = Field("Price"), Field("volume")
FIRST, LAST = Anchor.FIRST, Anchor.LAST


def lowered(text: str, **options) -> MatchQuery:
    return lower(parse(text), {"events": EVENTS}, **{"type_by": "kind", **options})


def test_a_whole_query():
    query = lowered(
        """PATTERN SEQ(S+ a[ ], T b)
           WHERE partition_contiguity(a[ ], b) { [symbol], a[1].volume > 1000, a[i].volume > a[i-1].volume, b.volume = a[a.LEN].volume }
           WITHIN 90 minutes RETURN a[1].price AS p OUTPUT nonoverlapping"""
    )
    assert query == MatchQuery(
        stream="events",
        schema=EVENTS,
        pattern=Sequence((Repetition(Variable("a"), 1, None), Variable("b"))),
        definitions=(
            Definition(
                "a",
                (
                    Condition(Call("gt", (Nav("a", LAST, 0, 0, VOLUME), Literal(1000))), When.FIRST),
                    Condition(Call("gt", (Nav("a", LAST, 0, 0, VOLUME), Nav("a", LAST, 1, 0, VOLUME))), When.LATER),
                ),
                "S",
            ),
            Definition("b", (Condition(Call("eq", (Nav("b", LAST, 0, 0, VOLUME), Nav("a", LAST, 0, 0, VOLUME))), When.EACH),), "T"),
        ),
        selection=Selection.PARTITION,
        time="ts",
        order=(OrderKey("ts"),),
        partition=("symbol",),
        null_keys=NullKeys.NEVER,
        within=Within(5_400_000_000),
        output=Output.NONOVERLAPPING,
        type_column="kind",
        kleene=("a",),
        measures=(Measure("p", Nav("a", FIRST, 0, 0, PRICE)),),
    )


def test_quantifiers():
    query = lowered("PATTERN SEQ(A a, A+ b[], A* c[], A? d)")
    assert query.pattern == Sequence(
        (Variable("a"), Repetition(Variable("b"), 1, None), Repetition(Variable("c"), 0, None), Repetition(Variable("d"), 0, 1))
    )
    assert query.kleene == ("b", "c")
    assert query.null_keys is NullKeys.GROUP


# conjunct over SEQ(S s, K+ k[], Z z, L* l[], O? o) -> its variable, when it is checked
PLACED = [
    ("s.volume > 1", "s", When.EACH),
    ("z.volume > s.volume", "z", When.EACH),
    ("s.volume > z.volume", "z", When.EACH),
    ("o.volume > s.volume", "o", When.EACH),
    ("k[1].volume > 1", "k", When.FIRST),
    ("k[1].volume > s.volume or k[1].ok", "k", When.FIRST),
    ("k[i].volume > 1", "k", When.EACH),
    ("k[i].volume > s.volume", "k", When.EACH),
    ("k[i].volume > k[i-1].volume", "k", When.LATER),
    ("k[i-1].volume > 1", "k", When.LATER),
    ("k[i].volume > k[1].volume", "k", When.LATER),
    ("k[i].volume > sum(k[..i-1].volume)", "k", When.LATER),
    ("count(k[..i-1]) < 5", "k", When.LATER),
    ("k.LEN > 3", "k", When.LEAVING),
    ("k[k.LEN].volume > k[1].volume", "k", When.LEAVING),
    ("avg(k[].volume) > s.volume", "k", When.LEAVING),
    ("z.volume > k.LEN", "z", When.EACH),
    ("k[1].volume = z.volume", "z", When.EACH),
    ("l[1].volume > max(k[].volume)", "l", When.FIRST),
    ("l[i].volume > z.volume + k[k.LEN].volume", "l", When.EACH),
    ("l.LEN >= k.LEN", "l", When.LEAVING),
    ("o.volume > l.LEN", "o", When.EACH),
]


@pytest.mark.parametrize("conjunct, variable, when", PLACED, ids=[case[0] for case in PLACED])
def test_where_a_conjunct_goes(conjunct, variable, when):
    query = lowered(f"PATTERN SEQ(S s, K+ k[], Z z, L* l[], O? o) WHERE {conjunct}")
    placed = [(definition.variable, condition.when) for definition in query.definitions for condition in definition.conditions]
    assert placed == [(variable, when)]


MEANT = [
    ("b.volume", Nav("b", LAST, 0, 0, VOLUME)),
    ("B.VOLUME", Nav("b", LAST, 0, 0, VOLUME)),
    ("a[1].volume", Nav("a", FIRST, 0, 0, VOLUME)),
    ("a[a.LEN].volume", Nav("a", LAST, 0, 0, VOLUME)),
    ("a.LEN", Aggregate("count", "a", None)),
    ("count(a)", Aggregate("count", "a", None)),
    ("count(a[])", Aggregate("count", "a", None)),
    ("count(a[].volume)", Aggregate("count", "a", VOLUME)),
    ("COUNT(a.volume)", Aggregate("count", "a", VOLUME)),
    ("sum(a[].volume * 2 + a[].volume)", Aggregate("sum", "a", Call("add", (Call("mul", (VOLUME, Literal(2))), VOLUME)))),
    ("max(a.volume)", Aggregate("max", "a", VOLUME)),
    ("last(a[].volume)", Aggregate("last", "a", VOLUME)),
    ("min(b.volume)", Aggregate("min", "b", VOLUME)),
    ("b.LEN", Aggregate("count", "b", None)),
]


@pytest.mark.parametrize("written, meant", MEANT, ids=[case[0] for case in MEANT])
def test_references(written, meant):
    query = lowered(f"PATTERN SEQ(A+ a[], B b) RETURN {written} AS value")
    assert query.measures == (Measure("value", meant),)


def test_aggregates_before_the_current_event():
    query = lowered("PATTERN SEQ(A+ a[]) WHERE a[i].rate > avg(a[..i-1].rate)")
    assert query.definition("a").conditions == (
        Condition(Call("gt", (Nav("a", LAST, 0, 0, Field("rate")), Aggregate("avg", "a", Field("rate"), before=True))), When.LATER),
    )


def test_types_are_filled_in():
    query = lowered("PATTERN SEQ(A+ a[]) WHERE a[i].volume > a[i-1].volume RETURN avg(a[].volume) AS mean, a[1].price")
    (condition,) = query.definition("a").conditions
    assert [node.type for node in condition.expr.walk()] == [BOOL, INT, INT, INT, INT]
    assert [(measure.name, measure.expr.type) for measure in query.measures] == [("mean", FLOAT), ("Price", INT)]


def test_a_conjunct_without_a_variable_is_for_every_event():
    query = lowered("PATTERN SEQ(A a, B? b) WHERE false and true")
    assert [definition.conditions for definition in query.definitions] == [(Condition(Literal(False)),)] * 2


def test_equivalence_tests_are_united():
    assert lowered("PATTERN SEQ(A a) WHERE [symbol], [PRICE, symbol]").partition == ("symbol", "Price")


def test_the_default_strategy():
    assert lowered("PATTERN SEQ(A a) WHERE a.volume > 1").selection is Selection.NEXT
    assert lowered("PATTERN SEQ(A a)").selection is Selection.NEXT


@pytest.mark.parametrize("selection", [s for s in Selection if s is not Selection.PREFERRED])
def test_strategies(selection):
    assert lowered(f"PATTERN SEQ(A a) WHERE {selection.value.upper()}(a) {{ }}").selection is selection


@pytest.mark.parametrize(
    "within, expected",
    [
        ("3 hours", Within(10_800_000_000)),
        ("1.5 milliseconds", Within(1_500)),
        ("0 seconds", Within(0)),
        ("500 events", Within(500, Unit.EVENTS)),
        ("2 weeks", Within(1_209_600_000_000)),
    ],
)
def test_windows(within, expected):
    assert lowered(f"PATTERN SEQ(A a) WITHIN {within}").within == expected


def test_windows_over_an_integer_time():
    query = lower(parse("PATTERN SEQ(Counted a) WITHIN 10"), {"counted": COUNTED})
    assert query.within == Within(10)
    assert lower(parse("PATTERN SEQ(Counted a) WITHIN 10 events"), {"counted": COUNTED}).within == Within(10, Unit.EVENTS)


def test_an_attribute_called_len():
    """Of a single event it is the attribute, of a list the length."""
    query = lower(parse("PATTERN SEQ(counted+ a[], counted b) RETURN a.LEN AS n, b.LEN AS attribute, a[1].len"), {"counted": COUNTED})
    assert [measure.expr for measure in query.measures] == [
        Aggregate("count", "a", None),
        Nav("b", LAST, 0, 0, Field("len")),
        Nav("a", FIRST, 0, 0, Field("len")),
    ]


def test_outputs():
    assert lowered("PATTERN SEQ(A a)").output is Output.ALL
    assert lowered("PATTERN SEQ(A a)", output="first").output is Output.FIRST
    assert lowered("PATTERN SEQ(A a) OUTPUT count", output="COUNT").output is Output.COUNT
    assert lowered("PATTERN SEQ(A a) RETURN a.volume OUTPUT count").measures is None


def test_ties():
    assert lowered("PATTERN SEQ(A a)").ties is Ties.ORDER
    assert lowered("PATTERN SEQ(A a)", ties="epoch").ties is Ties.EPOCH


def test_the_stream_is_the_type():
    query = lower(parse("PATTERN SEQ(EVENTS a, Events b)"), {"other": COUNTED, "events": EVENTS})
    assert (query.stream, query.type_column) == ("events", None)
    assert [definition.event_type for definition in query.definitions] == [None, None]


def test_another_time_column():
    assert lower(parse("PATTERN SEQ(counted a)"), {"counted": COUNTED}, time="X").order == (OrderKey("x"),)


def test_every_worked_case_is_lowered_unless_it_must_be_refused():
    lowered_cases = 0
    for case in worked_cases():
        if case.language == "sase":
            done = _lowers(case)
            assert done == (not isinstance(case.expect, Refused)), case.text
            lowered_cases += done
    assert lowered_cases == 249


def _lowers(case) -> bool:
    schema = Schema(tuple((name, {"string": STRING, "int": INT, "timestamp": TIMESTAMP}[kind]) for name, kind in case.columns))
    try:
        query = lower(parse(case.text), {case.stream: schema}, **case.options)
    except UnsupportedError:
        return False
    assert len(query.negations) == case.text.count("~")
    return True
