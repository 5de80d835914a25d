from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pytest

from ostinato.base.errors import DataError
from ostinato.expr.nodes import Aggregate, Anchor, Call, Classifier, Field, Literal, MatchNumber, Nav
from ostinato.expr.reading.parse import parse_expression
from ostinato.expr.types import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP, decimal
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema
from ostinato.expr.values.evaluate import evaluate

ROW = {
    "i": 7, "f": 2.5, "d": Decimal("12.34"), "s": "Hällo", "n": None, "b": None, "ts": dt.datetime(2024, 2, 29, 13, 14, 15, 16),
    "day": dt.date(2024, 12, 30), "big": 2**63 - 1, "nan": math.nan,
}  # fmt: skip
SCHEMA = Schema(
    (
        ("i", INT), ("f", FLOAT), ("d", decimal(10, 2)), ("s", STRING), ("n", INT), ("b", BOOL), ("ts", TIMESTAMP), ("day", DATE),
        ("big", INT), ("nan", FLOAT),
    )
)  # fmt: skip


class Context:
    def field(self, name):
        return ROW[name]

    def nav(self, node):
        return evaluate(node.body, self) if node.offset == 0 else None

    def aggregate(self, node):
        return 3

    def match_number(self):
        return 1

    def classifier(self, node):
        return "A"


def value(text: str):
    return evaluate(infer(parse_expression(text), SCHEMA), Context())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("b and false", False), ("b and true", None), ("b or true", True), ("not b", None), ("b is null", True), ("b is not true", True),
        ("n = n", None), ("n is distinct from n", False), ("n is distinct from 1", True), ("i in (1, 7)", True), ("i in (1, n)", None),
        ("n in (1)", None), ("i not in (1, 2)", True), ("coalesce(n, i)", 7), ("nullif(i, 7)", None), ("greatest(n, i, 3)", 7),
        ("substring(s from 2)", "ällo"), ("substring(s from 2 for 2)", "äl"), ("substring(s, 2, 2)", "äl"), ("position('l' in s)", 3),
        ("trim(both 'Ho' from s)", "äll"), ("trim(leading 'H' from s)", "ällo"), ("trim(trailing from ' x ')", " x"),
        ("trim('o' from s)", "Häll"), ("trim(' x ')", "x"), ("trim(s, 'o')", "Häll"), ("position('l' in s) in (3)", True),
        ("big = 2.5", False), ("2.5 <> big", True), ("big in (2.5, 1)", False), ("n = 2.5", None), ("n is distinct from 2.5", True),
        ("least(nan, 1.0e0, nan)", 1.0), ("greatest(1.0e0, nan, 2.0e0) > 0", False), ("greatest(nan, 2.0e0) > 0", False),
        ("least(n, n)", None), ("i / 2", 3.5), ("i / 0", None), ("i % 0", None), ("-7 % 3", -1), ("7 % -3", 1),
        ("-7.5 % 2", Decimal("-1.5")),
        ("f % 0", None), ("d + i", Decimal("19.34")), ("d * d", Decimal("152.2756")), ("round(2.5)", Decimal(3)), ("round(-2.5e0)", -3.0),
        ("round(1234, -2)", 1200), ("round(f, 0)", 3.0), ("floor(-2.5)", Decimal(-3)), ("ceil(-2.5e0)", -2.0), ("sqrt(-1)", None),
        ("ln(0)", None), ("power(2, 10)", 1024.0), ("power(0, -1)", None), ("power(-8, 0.5)", None), ("exp(1000)", math.inf),
        ("abs(-3)", 3), ("sign(-f)", -1), ("upper(s)", "HÄLLO"), ("length(s)", 5), ("substring(s, 2)", "ällo"),
        ("substring(s, -3, 2)", "ll"),
        ("substring(s, 0, 2)", "Hä"), ("substring(s, 2, -1)", ""), ("left(s, 2)", "Hä"), ("left(s, -2)", "Häl"), ("right(s, 2)", "lo"),
        ("right(s, 0)", ""), ("right(s, -1)", "ällo"), ("replace(s, 'l', 'L')", "HäLLo"), ("replace(s, '', 'x')", "Hällo"),
        ("trim('  x ')", "x"), ("trim('xyx', 'x')", "y"), ("strpos(s, 'l')", 3), ("strpos(s, 'z')", 0), ("s like 'H_l%'", True),
        ("s like 'h%'", False), ("'a%' like 'a!%' escape '!'", True), ("'ab' like 'a!%' escape '!'", False), ("s || null", None),
        ("reverse(s)", "olläH"), ("contains(s, 'äl')", True), ("starts_with(s, 'H')", True), ("ends_with(s, 'H')", False),
        ("year(ts)", 2024), ("hour(ts)", 13), ("second(ts)", 15), ("week(day)", 1), ("day_of_week(day)", 1), ("day_of_year(day)", 365),
        ("quarter(day)", 4), ("date_trunc('week', day)", dt.date(2024, 12, 30)), ("date_trunc('hour', ts)", dt.datetime(2024, 2, 29, 13)),
        ("date_trunc('month', ts)", dt.datetime(2024, 2, 1)), ("epoch(TIMESTAMP '1970-01-02')", 86400.0), ("day - '2024-12-01'", 29),
        ("day + 2", dt.date(2025, 1, 1)), ("ts - interval '1' day", dt.datetime(2024, 2, 28, 13, 14, 15, 16)),
        ("ts - date_trunc('day', ts) > interval '13' hour", True), ("cast('12' as int) + 1", 13), ("cast(2.5e0 as int)", 2),
        ("cast(2.5 as int)", 3), ("cast(d as varchar)", "12.34"), ("cast(f as varchar)", "2.5"), ("cast('yes' as boolean)", True),
        ("cast(day as timestamp)", dt.datetime(2024, 12, 30)), ("cast('1e3' as double)", 1000.0),
        ("cast('1.005' as decimal(5, 2))", Decimal("1.01")),
        ("case i when 7 then 'a' else 'b' end", "a"), ("case when b then 1 end", None), ("if(i > 5, 1, 0)", 1), ("nan = nan", False),
        ("nan <> nan", True), ("nan > 1", False), ("'a' < 'ä'", True),
    ],
)  # fmt: skip
def test_values(text, wanted):
    found = value(text)
    assert (found, type(found)) == (wanted, type(wanted))


@pytest.mark.parametrize(
    "text",
    [
        "big + 1", "-big - 2", "big * 2", "-(-big - 1)", "abs(-big - 1)", "cast(1e30 as bigint)", "cast('x' as int)", "cast(nan as int)",
        "cast(100000 as smallint)", "cast(d as decimal(3, 2))", "cast('2024-02-30' as date)", "cast('2024-01-01Z' as timestamp)",
        "cast('never' as interval)", "day + 10000000", "big * 1.5", "big + 0.5",
    ],
)  # fmt: skip
def test_what_cannot_be_held_is_an_error(text):
    with pytest.raises(DataError):
        value(text)


def test_errors_matter_only_where_the_value_does():
    assert value("case when i > 0 then 1 else big + 1 end") == 1
    assert value("coalesce(i, big + 1)") == 7
    assert value("i < 0 and big + 1 > 0") is False
    assert value("big + 1 > 0 and i < 0") is False
    assert value("big + 1 > 0 or i > 0") is True
    with pytest.raises(DataError):
        value("big + 1 > 0 and i > 0")


def test_a_match_is_seen_through_the_context():
    assert evaluate(infer(Nav("A", Anchor.LAST, 0, 0, parse_expression("i + 1")), SCHEMA), Context()) == 8
    assert evaluate(infer(Nav("A", Anchor.LAST, 1, 0, Literal(5)), SCHEMA), Context()) is None
    total = Call("add", (Aggregate("sum", "A", Field("i")), MatchNumber()))
    assert evaluate(infer(total, SCHEMA), Context()) == 4
    assert evaluate(infer(Classifier(), SCHEMA), Context()) == "A"
