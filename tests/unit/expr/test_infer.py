from __future__ import annotations

import datetime as dt

import pytest

from ostinato.base.errors import OstinatoError, QuerySyntaxError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.expr.nodes import AGGREGATES, Aggregate, Anchor, Cast, Classifier, Field, Literal, MatchNumber, Nav
from ostinato.expr.reading.parse import parse_expression
from ostinato.expr.text import to_text
from ostinato.expr.types import BOOL, DATE, FLOAT, INT, INTERVAL, NULL, STRING, TIMESTAMP, TIMESTAMP_TZ, Kind, Type, decimal
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema

SMALL = Type(Kind.INT, bits=16)
SCHEMA = Schema(
    (
        ("i", INT), ("small", SMALL), ("f", FLOAT), ("d", decimal(10, 2)), ("wide", decimal(38, 10)), ("s", STRING), ("b", BOOL),
        ("ts", TIMESTAMP), ("tz", TIMESTAMP_TZ), ("berlin", Type(Kind.TIMESTAMP, zone="Europe/Berlin")), ("day", DATE), ("iv", INTERVAL),
        ("Price", FLOAT),
    )
)  # fmt: skip


def typed(text: str):
    return infer(parse_expression(text), SCHEMA)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("i + small", INT), ("small", SMALL), ("coalesce(small, small)", SMALL), ("i + f", FLOAT), ("i / 2", FLOAT), ("d / d", FLOAT),
        ("d + 1", decimal(19, 2)), ("d + d", decimal(11, 2)), ("d * d", decimal(19, 4)), ("d * f", FLOAT), ("d % 3", decimal(19, 2)),
        ("i % 3", INT), ("-d", decimal(10, 2)), ("wide + 1", decimal(19, 10)), ("1.5", decimal(2, 1)), ("round(d, 1)", decimal(10, 1)),
        ("floor(f)", FLOAT), ("ceil(d)", decimal(9, 0)), ("sqrt(i)", FLOAT), ("sign(f)", INT), ("ts - ts", INTERVAL),
        ("ts + iv", TIMESTAMP),
        ("iv + ts", TIMESTAMP), ("tz - iv", TIMESTAMP_TZ), ("day + 1", DATE), ("1 + day", DATE), ("day - day", INT),
        ("day + iv", TIMESTAMP),
        ("ts - day", INTERVAL), ("ts - '2024-01-01'", INTERVAL), ("iv * 3", INTERVAL), ("-iv", INTERVAL), ("s || 'x'", STRING),
        ("length(s)", INT), ("s like 'a%'", BOOL), ("case when b then i else d end", decimal(19, 2)), ("if(b, 1, null)", INT),
        ("nullif(s, '')", STRING), ("null", NULL), ("null = null", BOOL), ("date_trunc('hour', tz)", TIMESTAMP_TZ), ("year(day)", INT),
        ("epoch(iv)", FLOAT), ("cast(s as date)", DATE), ("PRICE", FLOAT), ("i in (1, 2.5, null)", BOOL), ("berlin < tz", BOOL),
        ("1.2345678901234567890123", FLOAT), ("greatest(i, f)", FLOAT), ("i + null", INT), ("null + day", DATE),
    ],
)  # fmt: skip
def test_types(text, type_):
    found = typed(text)
    assert found.type == type_
    assert infer(found, SCHEMA) == found
    assert all(node.type is not None for node in found.walk())


def test_conversions_are_explicit_for_columns_and_done_for_constants():
    assert typed("i < f").args == (Cast(Field("i"), FLOAT), Field("f"))
    assert typed("f < 1").args[1] == Literal(1.0)
    assert isinstance(typed("f < 1").args[1].value, float)
    assert typed("i < small").args == (Field("i"), Field("small"))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("i < 1.5", "i < 2"), ("i <= 1.5", "i <= 1"), ("i > 1.5", "i > 1"), ("i >= 1.5", "i >= 2"), ("1.5 < i", "1 < i"),
        ("1.5 <= i", "2 <= i"), ("-1.5 > i", "-1 > i"), ("-1.5 >= i", "-2 >= i"), ("i = 2.0", "i = 2"),
        ("i = 2.5", "(i <= 2) = (i >= 3)"), ("-2.5 <> i", "(i <= -3) <> (i >= -2)"), ("i in (2.5, 3.0)", "i IN (3)"), ("2.0 = i", "i = 2"),
        ("i in (2.5)", "(i <= 2) IN (i >= 3)"), ("i is distinct from 2.5", "(i IS NULL) IS DISTINCT FROM (i IS NOT NULL)"),
    ],
)  # fmt: skip
def test_integers_meet_decimal_constants_without_being_scaled(text, same):
    assert to_text(typed(text)) == same


def test_string_constants_become_times_when_the_query_is_compiled():
    assert typed("ts > '2024-01-31 12:00'").args[1].value == dt.datetime(2024, 1, 31, 12)
    assert typed("'2024-01-31' <= day").args[0].value == dt.date(2024, 1, 31)
    assert typed("tz > '2024-01-31'").args[1].value == dt.datetime(2024, 1, 31, tzinfo=dt.UTC)
    assert typed("tz > '2024-01-31 02:00+02'").args[1].value == dt.datetime(2024, 1, 31, tzinfo=dt.UTC)
    assert typed("tz > DATE '2024-01-31'").args[1].value == dt.datetime(2024, 1, 31, tzinfo=dt.UTC)
    assert typed("day < '2024-01-31 12:00'").args[0] == Cast(Field("day"), TIMESTAMP)
    assert typed("iv > '5 minutes'").args[1].value == dt.timedelta(minutes=5)


@pytest.mark.parametrize(
    ("text", "error", "message", "hint", "at"),
    [
        ("pricee > 1", UnknownNameError, "no column pricee", "Did you mean Price", 0),
        ("A.f", UnknownNameError, r"no column A\.f", None, 0),
        ("1 + uper(s)", UnknownNameError, "no function uper", "Did you mean upper", 4),
        ("i + s", TypeMismatchError, r"`\+` takes numbers", "CAST", 4),
        ("s > 5", TypeMismatchError, "string and integer", "CAST", 4),
        ("i and b", TypeMismatchError, "`AND` takes conditions, not integer", "Compare", 0),
        ("ts > tz", TypeMismatchError, "timestamp and timestamp with time zone", "TIMESTAMPTZ", 5),
        ("ts > '2024-01-01+00'", TypeMismatchError, "has a time zone", "Leave the zone out", 5),
        ("ts > 'soon'", TypeMismatchError, "not a timestamp", None, 5),
        ("ts + ts", TypeMismatchError, "cannot be added", "interval", 5),
        ("ts + 5", TypeMismatchError, "has no meaning", "INTERVAL '5' MINUTE", 5),
        ("iv * f", TypeMismatchError, "an interval and an integer", None, 5),
        ("upper(i)", TypeMismatchError, "`upper` takes strings", "VARCHAR", 6),
        ("upper(s, s)", QuerySyntaxError, "takes 1 argument, not 2", None, 0),
        ("substring(s)", QuerySyntaxError, "takes 2 to 3 arguments", None, 0),
        ("nullif(s)", QuerySyntaxError, "takes 2 arguments", None, 0),
        ("round(f, i)", TypeMismatchError, "integer constant", None, 9),
        ("round(f, 40)", TypeMismatchError, "-18 to 18", None, 9),
        ("date_trunc('aeon', ts)", TypeMismatchError, "unit as a string constant", "hour", 11),
        ("s like 'a' escape 'ab'", TypeMismatchError, "one character", None, 18),
        ("case when i then 1 end", TypeMismatchError, "WHEN takes a condition", None, 10),
        ("case when b then i else s end", TypeMismatchError, "do not go together in CASE", "CAST", 24),
        ("cast(ts as int)", TypeMismatchError, "cannot be cast", "epoch", 0),
        ("99999999999999999999", TypeMismatchError, "does not fit 64 bits", "1e20", 0),
        ("wide * wide", TypeMismatchError, "more digits", "DOUBLE", 7),
        ("d > 1000000000000000000", TypeMismatchError, "too many digits", "DOUBLE", 4),
        ("sum(i)", UnsupportedError, "aggregate sum", "rows of a match", 0),
        ("f(*)", UnsupportedError, r"f\(\*\)", None, 0),
        ("log(f)", UnsupportedError, "log", "ln", 0),
        ("now()", UnsupportedError, "now", "constant", 0),
        ("year(s)", TypeMismatchError, "date or timestamp", "CAST", 5),
    ],
)
def test_errors_say_what_where_and_how_to_go_on(text, error, message, hint, at):
    with pytest.raises(OstinatoError, match=message) as caught:
        typed(text)
    assert type(caught.value) is error
    assert caught.value.span.start == at
    assert hint is None or hint in caught.value.hint


def test_a_name_that_differs_in_case_only_from_two_columns():
    schema = Schema((("a", INT), ("A", INT), ("x", INT)))
    assert infer(parse_expression("A"), schema) == Field("A")
    with pytest.raises(UnknownNameError, match="ambiguous"):
        infer(parse_expression("BB"), Schema((("bB", INT), ("Bb", INT))))


def aggregate(function: str, column: str) -> Type:
    return infer(Aggregate(function, "A", Field(column)), SCHEMA).type


def test_aggregates():
    assert aggregate("sum", "small") == INT
    assert aggregate("sum", "f") == FLOAT
    assert aggregate("sum", "d") == decimal(19, 2)
    assert aggregate("sum", "iv") == INTERVAL
    assert aggregate("avg", "i") == aggregate("stddev", "d") == FLOAT
    assert aggregate("count", "s") == INT
    assert {aggregate(f, "small") for f in ("min", "max", "first", "last")} == {SMALL}
    assert infer(Aggregate("count", None, None), SCHEMA).type == INT
    assert infer(Aggregate("avg", None, Field("d")), SCHEMA).body == Cast(Field("d"), FLOAT)


@pytest.mark.parametrize("function", AGGREGATES)
def test_every_aggregate_has_a_type(function):
    assert infer(Aggregate(function, None, Field("i")), SCHEMA).type is not None


def test_aggregates_of_the_wrong_thing():
    with pytest.raises(TypeMismatchError, match="SUM takes numbers"):
        aggregate("sum", "s")
    with pytest.raises(TypeMismatchError, match="AVG needs something"):
        infer(Aggregate("avg", None, None), SCHEMA)
    with pytest.raises(UnsupportedError, match="median"):
        aggregate("median", "i")


def test_navigation_has_the_type_of_its_body():
    nav = infer(Nav("A", Anchor.LAST, 0, -1, parse_expression("i + 1")), SCHEMA)
    assert (nav.type, nav.body.type) == (INT, INT)
    assert infer(MatchNumber(), SCHEMA).type == INT
    assert infer(Classifier(), SCHEMA).type == STRING
