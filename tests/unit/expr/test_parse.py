from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import Call, Case, Cast, Literal
from ostinato.expr.reading.parse import ExpressionParser, parse_expression
from ostinato.expr.reading.tokens import tokenize
from ostinato.expr.text import to_text
from ostinato.expr.types import FLOAT, TIMESTAMP_TZ, decimal
from ostinato.expr.unresolved import RawCall, RawColumn


class Percents(ExpressionParser):
    percent = True


def with_percents(text: str):
    parser = Percents(tokenize(text))
    found = parser.expression()
    parser.expect_end()
    return found


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a or b and not c = d + e * -f", "a OR b AND NOT c = d + e * -f"),
        ("(a or b) and c", "(a OR b) AND c"),
        ("a - b - c", "a - b - c"),
        ("a - (b - c)", "a - (b - c)"),
        ("a between 1 and 2 and b", "a >= 1 AND a <= 2 AND b"),
        ("a not between 1 and 2", "NOT (a >= 1 AND a <= 2)"),
        ("a not in (1, 2)", "NOT a IN (1, 2)"),
        ("a not like 'x!%' escape '!'", "NOT a LIKE 'x!%' ESCAPE '!'"),
        ("a is not null", "a IS NOT NULL"),
        ("a is not true", "NOT a IS TRUE"),
        ("a is unknown", "a IS NULL"),
        ("a is not distinct from b", "NOT a IS DISTINCT FROM b"),
        ("a <=> b", "NOT a IS DISTINCT FROM b"),
        ("a == b", "a = b"),
        ("a != b", "a <> b"),
        ("a || b || 'c'", "a || b || 'c'"),
        ("case a when 1 then 2 end", "CASE WHEN a = 1 THEN 2 END"),
        ("a::double + 1", "CAST(a AS DOUBLE) + 1"),
        ("-a::double", "-CAST(a AS DOUBLE)"),
        ("extract(hour from ts)", "hour(ts)"),
        ('"Select" + `x y`', '"Select" + "x y"'),
        ("count(a.*) + count(*)", "count(a.*) + count(*)"),
    ],
)
def test_precedence_and_forms(text, canonical):
    assert to_text(parse_expression(text)) == canonical


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-9223372036854775808", -(2**63)),
        ("1.50", Decimal("1.50")),
        ("1e3", 1000.0),
        ("'a''b'", "a'b"),
        ("TRUE", True),
        ("null", None),
        ("DATE '2024-02-29'", dt.date(2024, 2, 29)),
        ("TIMESTAMP '2024-02-29 12:30:00.5'", dt.datetime(2024, 2, 29, 12, 30, 0, 500_000)),
        ("TIMESTAMP '2024-02-29T12:30:00+02:00'", dt.datetime(2024, 2, 29, 10, 30, tzinfo=dt.UTC)),
        ("TIMESTAMP WITH TIME ZONE '2024-07-01 12:00 Europe/Berlin'", dt.datetime(2024, 7, 1, 10, tzinfo=dt.UTC)),
        ("TIMESTAMPTZ '2024-01-01Z'", dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
        ("INTERVAL '5' MINUTE", dt.timedelta(minutes=5)),
        ("INTERVAL 5 MINUTES", dt.timedelta(minutes=5)),
        ("INTERVAL '1 hour'", dt.timedelta(hours=1)),
        ("INTERVAL '1 day 02:30:00.25'", dt.timedelta(days=1, hours=2, minutes=30, milliseconds=250)),
        ("INTERVAL -'90' SECONDS", dt.timedelta(seconds=-90)),
        ("INTERVAL 1.5 HOURS", dt.timedelta(minutes=90)),
        ("INTERVAL '-1.5 hours'", dt.timedelta(minutes=-90)),
    ],
)
def test_constants(text, value):
    found = parse_expression(text)
    assert isinstance(found, Literal)
    assert (found.value, type(found.value)) == (value, type(value))


def test_names_that_are_also_keywords_of_constants():
    assert parse_expression("date + interval") == Call("add", (RawColumn(("date",), (False,)), RawColumn(("interval",), (False,))))


def test_types_of_casts():
    assert parse_expression("cast(a as decimal(10, 2))") == Cast(RawColumn(("a",), (False,)), decimal(10, 2))
    assert parse_expression("a::double precision").to == FLOAT
    assert parse_expression("a::timestamp with time zone").to == TIMESTAMP_TZ


def test_calls_stay_unresolved():
    call = parse_expression('"F"(DISTINCT A.x, 1)')
    assert call == RawCall("F", (RawColumn(("A", "x"), (False, False)), Literal(1)), distinct=True)
    assert (call.span.start, call.span.end) == (0, 20)


def test_percent_only_where_no_operand_follows():
    assert with_percents("80%*a.x") == Call("mul", (Literal(Decimal("0.8")), RawColumn(("a", "x"), (False, False))))
    assert with_percents("a.price % 500").name == "mod"
    assert with_percents("80 % x").name == "mod"
    assert with_percents("80%x").name == "mod"
    assert with_percents("x > 80%").args[1] == Literal(Decimal("0.8"))
    assert with_percents("x > 80% AND y").name == "and"
    assert with_percents("80 % * x") == with_percents("80%*x")
    assert with_percents("80 % -x").name == "mod"
    with pytest.raises(QuerySyntaxError):
        parse_expression("80%*x")


def test_long_chains_stay_shallow():
    expr = parse_expression(" AND ".join(f"a = {i}" for i in range(3000)))
    depth, level = 0, [expr]
    while level:
        level = [child for node in level for child in node.children()]
        depth += 1
    assert depth < 20


@pytest.mark.parametrize("text", ["(" * 500 + "a", "not " * 500 + "a", "a" + " + a" * 500, "a" + " between b and c" * 60, "-" * 501 + "a"])
def test_what_is_too_deep_or_large_is_refused(text):
    if text.startswith("--"):
        text = text.replace("-", "- ")
    with pytest.raises(QuerySyntaxError, match=r"too deeply|too large"):
        parse_expression(text)


@pytest.mark.parametrize(
    ("text", "error", "message", "at"),
    [
        ("", QuerySyntaxError, "Expected an expression, found the end", 0),
        ("a +", QuerySyntaxError, "Expected an expression", 3),
        ("a b", QuerySyntaxError, "Expected the end of the text, found `b`", 2),
        ("(a", QuerySyntaxError, r"Expected `\)`", 2),
        ("a < b < c", QuerySyntaxError, "cannot be chained", 6),
        ("case end", QuerySyntaxError, "Expected an expression", 5),
        ("case a end", QuerySyntaxError, "Expected WHEN", 7),
        ("a is 5", QuerySyntaxError, "NULL, TRUE", 5),
        ("a not 5", QuerySyntaxError, "IN, LIKE or BETWEEN", 6),
        ("a between 1 or 2", QuerySyntaxError, "Expected AND", 12),
        ("cast(a as blob)", QuerySyntaxError, "name of a type", 10),
        ("cast(a as decimal(40, 2))", UnsupportedError, "too wide", 10),
        ("cast(a as decimal(3, 5))", QuerySyntaxError, "does not exist", 10),
        ("cast(a as varchar(3))", UnsupportedError, "no length limit", 17),
        ("date '2024-13-01'", QuerySyntaxError, "not a date", 5),
        ("timestamp '2024-01-01 25:00'", QuerySyntaxError, "not a timestamp", 10),
        ("timestamptz '2024-01-01'", QuerySyntaxError, "no time zone", 12),
        ("timestamp without time zone '2024-01-01Z'", QuerySyntaxError, "has a time zone", 28),
        ("interval '1' month", UnsupportedError, "month", 13),
        ("interval '2 years'", UnsupportedError, "no fixed length", 9),
        ("interval '1 parsec'", QuerySyntaxError, "not a unit of time", 9),
        ("interval 5", QuerySyntaxError, "unit of time", 10),
        ("interval '5' day to second", UnsupportedError, "two units", 17),
        ("extract(dow from ts)", UnsupportedError, "DOW", 8),
        ("extract(x from ts)", QuerySyntaxError, "a unit of time", 8),
        ("a in (select 1)", UnsupportedError, "Subqueries", 6),
        ("a ilike 'x'", UnsupportedError, "ILIKE", 2),
        ("exists (select 1)", UnsupportedError, "EXISTS", 0),
    ],
)
def test_errors_say_what_and_where(text, error, message, at):
    with pytest.raises(OstinatoError, match=message) as caught:
        parse_expression(text)
    assert type(caught.value) is error
    assert caught.value.span.start == at


def test_a_simple_case_is_a_searched_one():
    found = parse_expression("CASE x WHEN 1 THEN 'a' WHEN 2 THEN 'b' ELSE 'c' END")
    assert isinstance(found, Case)
    assert [branch[0].name for branch in found.branches] == ["eq", "eq"]
