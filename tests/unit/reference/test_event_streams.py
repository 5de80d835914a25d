"""The definition itself, on events by hand: times alone decide, and what is wrong with them is said."""

from __future__ import annotations

import pytest

from ostinato.algebra.event_streams import (
    DURATION,
    FIRST_EVENT,
    INSTANCE,
    SECOND_EVENT,
    EventQuery,
    EventStream,
    Filter,
    Fold,
    Next,
    Project,
    attributes_of,
    streams_of,
    time_type_of,
)
from ostinato.algebra.query import Measure
from ostinato.algebra.text import to_text
from ostinato.base.errors import DataError
from ostinato.expr.nodes import Anchor, Call, Expr, Field, Literal, Nav
from ostinato.expr.types import BOOL, INT, TIMESTAMP, TIMESTAMP_NS
from ostinato.expr.typing.schema import Schema
from ostinato.reference.event_streams import event_rows, text_rows

X = Schema((("x", INT),))
POINTS = EventStream("s", X, "ts", INT)
LASTING = EventStream("long", X, "until", INT, "since")
TRUE = Literal(True, type=BOOL)


def of(owner: str, name: str = "x") -> Expr:
    return Nav(owner, Anchor.LAST, 0, 0, Field(name, type=INT), type=INT)


def compared(name: str, left: Expr, right: Expr) -> Expr:
    return Call(name, (left, right), type=BOOL)


BOTH = (Measure("a", of(FIRST_EVENT)), Measure("b", of(SECOND_EVENT)))
PAIRS = Next(POINTS, LASTING, compared("ge", of(SECOND_EVENT), of(FIRST_EVENT)), BOTH)
RISES = Fold(
    POINTS,
    POINTS,
    TRUE,
    compared("gt", of(SECOND_EVENT), of(INSTANCE)),
    (),
    (Measure("first", of(FIRST_EVENT)), Measure("last", of(SECOND_EVENT)), Measure("same", of(INSTANCE))),
)


def points(*pairs: tuple[int, int]) -> dict[str, list[dict[str, int]]]:
    return {"s": [{"ts": time, "x": x} for time, x in pairs]}


def test_next_is_what_is_detected_first_of_what_starts_behind() -> None:
    rows = points((1, 1), (2, 2)) | {
        "long": [{"since": since, "until": until, "x": x} for since, until, x in ((1, 9, 7), (2, 6, 1), (3, 7, 2), (3, 7, 3), (4, 8, 4))]
    }
    found = event_rows(EventQuery(PAIRS), rows)
    assert [(row["a"], row["b"], row["start_ts"], row["end_ts"]) for row in found] == [(1, 1, 1, 6), (2, 2, 2, 7), (2, 3, 2, 7)]


def test_fold_shows_every_step_and_ends_at_the_first_that_fails() -> None:
    found = event_rows(EventQuery(RISES), points((1, 1), (2, 2), (3, 3), (4, 0), (5, 9)))
    assert [tuple(row.values()) for row in found] == [(1, 2, 2, 1, 2), (1, 3, 3, 1, 3), (2, 3, 3, 2, 3), (0, 9, 9, 4, 5)]


def test_a_filter_sees_the_duration() -> None:
    long = Filter(LASTING, compared("gt", Field(DURATION, type=INT), Literal(2, type=INT)))
    rows = {"long": [{"since": 1, "until": 2, "x": 1}, {"since": 1, "until": 4, "x": 2}]}
    assert [row["x"] for row in event_rows(EventQuery(long), rows)] == [2]


def test_queries_read_what_those_before_them_publish() -> None:
    doubled = Project(POINTS, (Measure("y", Call("add", (Field("x", type=INT), Field("x", type=INT)), type=INT)),))
    reading = EventStream("twice", Schema((("y", INT),)), "end_ts", INT, "start_ts")
    queries = (EventQuery(doubled, "twice"), EventQuery(Filter(reading, compared("gt", Field("y", type=INT), Literal(2, type=INT)))))
    assert text_rows(queries, points((1, 1), (2, 2))) == [{"y": 4, "start_ts": 2, "end_ts": 2}]


@pytest.mark.parametrize(("since", "until", "words"), [(None, 1, "no time"), (1, None, "no time"), (3, 2, "ends before it starts")])
def test_times_that_are_none(since: int | None, until: int | None, words: str) -> None:
    with pytest.raises(DataError, match=words):
        event_rows(EventQuery(LASTING), {"long": [{"since": since, "until": until, "x": 1}]})


def test_what_an_expression_reads_and_gives() -> None:
    assert [stream.name for stream in streams_of(PAIRS)] == ["s", "long"]
    assert attributes_of(Filter(PAIRS, TRUE)) == (("a", INT), ("b", INT))
    fine = EventStream("fine", X, "ts", TIMESTAMP_NS)
    assert time_type_of(Next(EventStream("s", X, "ts", TIMESTAMP), fine, TRUE, ())) == TIMESTAMP_NS


def test_canonical_text() -> None:
    assert to_text(EventQuery(Filter(RISES, compared("gt", Field(DURATION, type=INT), Literal(2, type=INT))), "Rise")) == (
        "PUBLISH Rise\n"
        "FILTER DUR > 2\n"
        "  FOLD TRUE\n"
        "    STEP $2.x > $.x\n"
        "    ATTRIBUTES $1.x AS first, $2.x AS last, $.x AS same\n"
        "    STREAM s (x integer) TIME ts integer\n"
        "    STREAM s (x integer) TIME ts integer"
    )
    assert to_text(EventQuery(Project(LASTING, (Measure("x", Field("x", type=INT)), Measure("one", Literal(1, type=INT)))))) == (
        "SELECT x, 1 AS one\n  STREAM long (x integer) TIME until integer START since"
    )
    assert to_text(EventQuery(PAIRS)).splitlines()[:2] == ["NEXT $2.x >= $1.x", "  ATTRIBUTES $1.x AS a, $2.x AS b"]
