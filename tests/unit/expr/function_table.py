"""What every scalar function gives at the edges of its domain, written down by hand: the text, the columns that it reads, and rows of
their values with the result behind them."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

D = Decimal
INF, NAN = math.inf, math.nan
MAX, MIN = 2**63 - 1, -(2**63)
FAILS = "fails"

COLUMNS: dict[str, pa.DataType] = {
    "i": pa.int64(), "i2": pa.int64(), "i3": pa.int64(), "f": pa.float64(), "f2": pa.float64(), "d": pa.decimal128(10, 2),
    "d2": pa.decimal128(10, 2), "b": pa.bool_(), "b2": pa.bool_(), "s": pa.string(), "s2": pa.string(), "s3": pa.string(),
    "ts": pa.timestamp("us"), "ts2": pa.timestamp("us"), "day": pa.date32(), "day2": pa.date32(), "iv": pa.duration("us"),
}  # fmt: skip


def at(*parts: int) -> dt.datetime:
    return dt.datetime(*parts)


def on(*parts: int) -> dt.date:
    return dt.date(*parts)


def lasting(**parts: int) -> dt.timedelta:
    return dt.timedelta(**parts)


BEFORE_1970 = at(1969, 12, 31, 23, 59, 59, 999_999)
LEAP = at(2024, 2, 29, 23, 59, 59, 999_999)

Rows = list[tuple[Any, ...]]
TABLE: list[tuple[str, str, Rows]] = [
    # logic of three values
    ("b and b2", "b b2", [(True, True, True), (True, False, False), (None, True, None), (None, False, False), (None, None, None)]),
    ("b or b2", "b b2", [(False, False, False), (True, False, True), (None, True, True), (None, False, None), (None, None, None)]),
    ("not b", "b", [(True, False), (False, True), (None, None)]),
    ("b is true", "b", [(True, True), (False, False), (None, False)]),
    ("b is false", "b", [(True, False), (False, True), (None, False)]),
    ("b is not true", "b", [(True, False), (False, True), (None, True)]),
    ("i is null", "i", [(0, False), (None, True)]),
    ("i is not null", "i", [(0, True), (None, False)]),
    # comparisons
    ("i = i2", "i i2", [(MAX, MAX, True), (MAX, MAX - 1, False), (None, None, None)]),
    ("i <> i2", "i i2", [(MIN, MIN, False), (MIN, MIN + 1, True), (1, None, None)]),
    ("i < i2", "i i2", [(1, 2, True), (2, 2, False), (MIN, MAX, True)]),
    ("i <= i2", "i i2", [(2, 2, True), (3, 2, False)]),
    ("i > i2", "i i2", [(2, 2, False), (3, 2, True), (MAX, MIN, True)]),
    ("i >= i2", "i i2", [(2, 2, True), (1, 2, False)]),
    ("f < f2", "f f2", [(-0.0, 0.0, False), (-INF, INF, True), (NAN, 1.0, False), (1.0, NAN, False)]),
    ("f = f2", "f f2", [(-0.0, 0.0, True), (NAN, NAN, False), (INF, INF, True)]),
    ("s < s2", "s s2", [("a", "ä", True), ("", "a", True), ("a", "a", False), ("Z", "a", True), ("ab", "b", True)]),
    ("i is distinct from i2", "i i2", [(1, 1, False), (1, 2, True), (None, None, False), (None, 1, True), (1, None, True)]),
    ("i in (1, 2)", "i", [(1, True), (3, False), (None, None)]),
    ("i in (1, i2)", "i i2", [(1, None, True), (2, None, None), (2, 2, True)]),
    # arithmetic
    ("i + i2", "i i2", [(MAX - 1, 1, MAX), (MAX, 1, FAILS), (MIN, -1, FAILS), (MIN, MAX, -1), (None, 1, None)]),
    ("i - i2", "i i2", [(MIN + 1, 1, MIN), (MIN, 1, FAILS), (MAX, -1, FAILS), (-1, MAX, MIN), (0, MIN, FAILS)]),
    ("i * i2", "i i2", [(MAX, 1, MAX), (MIN, 1, MIN), (MIN, -1, FAILS), (2**32, 2**31, FAILS), (2**32, -(2**31), MIN), (0, MIN, 0)]),
    ("d + d2", "d d2", [(D("0.05"), D("0.95"), D("1.00")), (D("99999999.99"), D("0.01"), D("100000000.00"))]),
    ("d * d2", "d d2", [(D("0.01"), D("0.01"), D("0.0001")), (D("-1.50"), D("1.50"), D("-2.2500"))]),
    ("i / i2", "i i2", [(7, 2, 3.5), (-7, 2, -3.5), (1, 0, None), (0, 0, None), (0, 5, 0.0)]),
    ("f / f2", "f f2", [(1.0, 0.0, None), (1.0, -0.0, None), (INF, 2.0, INF), (1.0, INF, 0.0)]),
    ("i % i2", "i i2", [(7, 3, 1), (-7, 3, -1), (7, -3, 1), (-7, -3, -1), (7, 0, None), (MIN, -1, 0), (6, 3, 0)]),
    ("f % f2", "f f2", [(7.5, 2.0, 1.5), (-7.5, 2.0, -1.5), (1.0, 0.0, None), (INF, 2.0, NAN), (2.0, INF, 2.0)]),
    ("d % d2", "d d2", [(D("-7.50"), D("2.00"), D("-1.50")), (D("1.00"), D("0.00"), None)]),
    ("-i", "i", [(MAX, -MAX), (MIN, FAILS), (0, 0)]),
    ("abs(i)", "i", [(-3, 3), (MIN + 1, MAX), (MIN, FAILS)]),
    ("abs(f)", "f", [(-0.5, 0.5), (-INF, INF), (NAN, NAN)]),
    ("sign(f)", "f", [(-0.1, -1), (0.0, 0), (-0.0, 0), (INF, 1)]),
    ("sign(d)", "d", [(D("-0.01"), -1), (D("0.00"), 0), (D("0.01"), 1)]),
    # rounding
    ("round(f)", "f", [(0.5, 1.0), (1.5, 2.0), (2.5, 3.0), (-0.5, -1.0), (-2.5, -3.0), (0.49999999999999994, 0.0), (2.4999, 2.0),
                       (4503599627370497.0, 4503599627370497.0), (INF, INF), (NAN, NAN)]),
    ("round(f, 1)", "f", [(0.25, 0.3), (-0.25, -0.3), (0.24, 0.2), (1e308, 1e308)]),
    ("round(f, -2)", "f", [(150.0, 200.0), (149.9, 100.0), (-150.0, -200.0), (49.0, 0.0)]),
    ("round(d)", "d", [(D("0.49"), D(0)), (D("0.50"), D(1)), (D("0.51"), D(1)), (D("1.50"), D(2)), (D("2.50"), D(3)), (D("-0.49"), D(0)),
                       (D("-0.50"), D(-1)), (D("-1.49"), D(-1)), (D("-2.50"), D(-3)), (D("99999999.50"), D(100000000)), (None, None)]),
    ("round(d, 1)", "d", [(D("0.04"), D("0.0")), (D("0.05"), D("0.1")), (D("-0.05"), D("-0.1")), (D("-0.04"), D("0.0"))]),
    ("round(i, -1)", "i", [(4, 0), (5, 10), (-5, -10), (-4, 0), (14, 10), (15, 20), (25, 30), (MAX, FAILS), (MAX - 7, MAX - 7)]),
    ("round(i, -2)", "i", [(49, 0), (50, 100), (-50, -100), (149, 100), (150, 200)]),
    ("floor(f)", "f", [(-0.5, -1.0), (0.5, 0.0), (-2.0, -2.0), (INF, INF), (NAN, NAN)]),
    ("floor(d)", "d", [(D("-0.01"), D(-1)), (D("0.99"), D(0)), (D("-1.00"), D(-1)), (D("1.00"), D(1))]),
    ("ceil(f)", "f", [(0.5, 1.0), (-1.5, -1.0), (2.0, 2.0), (-INF, -INF)]),
    ("ceil(d)", "d", [(D("0.01"), D(1)), (D("-0.99"), D(0)), (D("1.00"), D(1)), (D("-1.00"), D(-1))]),
    # outside of their domains functions are null
    ("sqrt(f)", "f", [(0.0, 0.0), (2.25, 1.5), (-1e-300, None), (INF, INF)]),
    ("exp(f)", "f", [(0.0, 1.0), (1000.0, INF), (-1000.0, 0.0)]),
    ("ln(f)", "f", [(1.0, 0.0), (0.0, None), (-1.0, None), (INF, INF)]),
    ("log10(f)", "f", [(1000.0, 3.0), (1.0, 0.0), (0.0, None), (-1.0, None)]),
    ("power(f, f2)", "f f2", [(2.0, 10.0, 1024.0), (0.0, -1.0, None), (0.0, 0.0, 1.0), (-8.0, 0.5, None), (-2.0, 3.0, -8.0),
                              (10.0, 400.0, INF),
                              (-10.0, 401.0, -INF)]),
    # the one or the other
    ("greatest(i, i2, i3)", "i i2 i3", [(1, 3, 2, 3), (None, 1, None, 1), (None, None, None, None), (MIN, MAX, 0, MAX)]),
    ("least(i, i2, i3)", "i i2 i3", [(2, 3, 1, 1), (None, 1, None, 1), (None, None, None, None), (MIN, MAX, 0, MIN)]),
    ("greatest(s, s2)", "s s2", [("a", "b", "b"), ("", None, ""), ("ä", "z", "ä")]),
    ("least(f, f2)", "f f2", [(NAN, 1.0, 1.0), (1.0, NAN, 1.0), (NAN, NAN, NAN), (None, 2.0, 2.0)]),
    ("coalesce(i, i2, i3)", "i i2 i3", [(None, None, 3, 3), (None, 2, 3, 2), (0, 2, 3, 0), (None, None, None, None)]),
    ("nullif(i, i2)", "i i2", [(1, 1, None), (1, 2, 1), (None, 1, None), (1, None, 1)]),
    # strings
    ("concat(s, s2)", "s s2", [("a", "b", "ab"), ("", "", ""), ("a", None, None)]),
    ("upper(s)", "s", [("straße", "STRASSE"), ("äß", "ÄSS"), ("", "")]),
    ("lower(s)", "s", [("ÄB", "äb"), ("", "")]),
    ("reverse(s)", "s", [("abc", "cba"), ("", ""), ("äb", "bä")]),
    ("trim(s)", "s", [("  x y ", "x y"), ("   ", ""), ("\tx", "\tx")]),
    ("trim(s, s2)", "s s2", [("xyx", "x", "y"), ("xyx", "", "xyx"), ("abcba", "ab", "c"), ("xx", "x", "")]),
    ("ltrim(s)", "s", [("  x ", "x "), ("", "")]),
    ("ltrim(s, s2)", "s s2", [("xyx", "x", "yx"), ("xyx", "", "xyx")]),
    ("rtrim(s)", "s", [("  x ", "  x"), ("", "")]),
    ("rtrim(s, s2)", "s s2", [("xyx", "x", "xy"), ("xyx", "", "xyx")]),
    ("replace(s, s2, s3)", "s s2 s3", [("aaa", "aa", "b", "ba"), ("aaa", "", "b", "aaa"), ("abc", "b", "", "ac"),
                                       ("abc", "x", "y", "abc")]),
    ("length(s)", "s", [("", 0), ("ä", 1), ("a b", 3), ("\U0001f600", 1)]),
    ("strpos(s, s2)", "s s2", [("abcb", "b", 2), ("abc", "x", 0), ("abc", "", 1), ("äöü", "ü", 3), ("", "a", 0)]),
    ("starts_with(s, s2)", "s s2", [("abc", "ab", True), ("abc", "b", False), ("abc", "", True), ("", "a", False)]),
    ("ends_with(s, s2)", "s s2", [("abc", "bc", True), ("abc", "b", False), ("abc", "", True)]),
    ("contains(s, s2)", "s s2", [("abc", "b", True), ("abc", "", True), ("abc", "ac", False)]),
    ("s like s2", "s s2", [("abc", "a%", True), ("abc", "_b_", True), ("abc", "b%", False), ("", "%", True), ("", "_", False),
                           ("a\nb", "a%b", True), ("ab", "a", False), ("a.c", "a.c", True), ("abc", "a.c", False), (None, "%", None)]),
    ("s like s2 escape '!'", "s s2", [("a%", "a!%", True), ("ab", "a!%", False), ("a!", "a!!", True), ("a_", "a!_", True)]),
    ("substring(s, i)", "s i", [("abc", 1, "abc"), ("abc", 0, "abc"), ("abc", 2, "bc"), ("abc", 3, "c"), ("abc", 4, ""), ("abc", -1, "c"),
                                ("abc", -3, "abc"), ("abc", -4, "abc")]),
    ("substring(s, i, i2)", "s i i2", [("abcd", 2, 2, "bc"), ("abcd", 0, 2, "ab"), ("abcd", -3, 2, "bc"), ("abcd", -5, 2, "a"),
                                       ("abcd", 2, 0, ""), ("abcd", 2, -1, ""), ("abcd", 3, 9, "cd"), ("äöü", 2, 1, "ö")]),
    ("left(s, i)", "s i", [("abc", 2, "ab"), ("abc", 0, ""), ("abc", -1, "ab"), ("abc", -3, ""), ("abc", 9, "abc"), ("abc", -9, "")]),
    ("right(s, i)", "s i", [("abc", 2, "bc"), ("abc", 0, ""), ("abc", -1, "bc"), ("abc", -3, ""), ("abc", 9, "abc"), ("abc", -9, "")]),
    # parts of times
    ("year(ts)", "ts", [(BEFORE_1970, 1969), (at(1970, 1, 1), 1970), (LEAP, 2024), (at(1, 1, 1), 1)]),
    ("quarter(day)", "day", [(on(2024, 3, 31), 1), (on(2024, 4, 1), 2), (on(2024, 6, 30), 2), (on(2024, 7, 1), 3), (on(2024, 9, 30), 3),
                             (on(2024, 10, 1), 4), (on(1969, 12, 31), 4), (on(1970, 1, 1), 1)]),
    ("month(ts)", "ts", [(BEFORE_1970, 12), (LEAP, 2), (at(2024, 3, 1), 3), (at(1970, 1, 1), 1)]),
    ("week(day)", "day", [(on(2024, 12, 30), 1), (on(2024, 12, 29), 52), (on(2021, 1, 3), 53), (on(2021, 1, 4), 1), (on(2020, 12, 31), 53),
                          (on(1969, 12, 28), 52), (on(1969, 12, 29), 1)]),
    ("day(ts)", "ts", [(LEAP, 29), (BEFORE_1970, 31), (at(2024, 3, 1), 1)]),
    ("day_of_week(day)", "day", [(on(2024, 1, 1), 1), (on(2024, 1, 7), 7), (on(1969, 12, 28), 7), (on(1969, 12, 29), 1),
                                 (on(1970, 1, 1), 4)]),
    ("day_of_year(day)", "day", [(on(2024, 12, 31), 366), (on(2023, 12, 31), 365), (on(2024, 1, 1), 1), (on(1969, 12, 31), 365)]),
    ("hour(ts)", "ts", [(BEFORE_1970, 23), (at(2024, 1, 1), 0), (at(2024, 1, 1, 12, 59, 59), 12)]),
    ("minute(ts)", "ts", [(BEFORE_1970, 59), (at(2024, 1, 1, 1), 0), (at(2024, 1, 1, 1, 30, 59), 30)]),
    ("second(ts)", "ts", [(BEFORE_1970, 59), (at(2024, 1, 1, 1, 1), 0), (at(2024, 1, 1, 1, 1, 7, 999_999), 7)]),
    ("epoch(ts)", "ts", [(at(1970, 1, 2), 86400.0), (at(1969, 12, 31, 23, 59, 59, 500_000), -0.5), (at(1970, 1, 1), 0.0)]),
    ("epoch(iv)", "iv", [(lasting(minutes=1), 60.0), (lasting(milliseconds=-1500), -1.5)]),
    ("epoch_us(ts)", "ts", [(BEFORE_1970, -1), (at(1970, 1, 1, 0, 0, 1), 1_000_000)]),
    ("epoch_ns(ts)", "ts", [(BEFORE_1970, -1000), (at(1970, 1, 1, 0, 0, 1), 10**9), (at(1, 1, 1), FAILS)]),
    ("date_trunc('year', ts)", "ts", [(LEAP, at(2024, 1, 1)), (BEFORE_1970, at(1969, 1, 1)), (at(2024, 1, 1), at(2024, 1, 1))]),
    ("date_trunc('quarter', day)", "day", [(on(2024, 3, 31), on(2024, 1, 1)), (on(2024, 4, 1), on(2024, 4, 1)),
                                           (on(2024, 6, 30), on(2024, 4, 1)),
                                           (on(2024, 9, 30), on(2024, 7, 1)), (on(2024, 11, 15), on(2024, 10, 1)),
                                           (on(1969, 12, 31), on(1969, 10, 1)), (on(1969, 2, 1), on(1969, 1, 1))]),
    ("date_trunc('quarter', ts)", "ts", [(LEAP, at(2024, 1, 1)), (BEFORE_1970, at(1969, 10, 1)), (at(2024, 5, 31, 12), at(2024, 4, 1))]),
    ("date_trunc('month', day)", "day", [(on(2024, 2, 29), on(2024, 2, 1)), (on(1969, 12, 31), on(1969, 12, 1))]),
    ("date_trunc('week', day)", "day", [(on(2024, 1, 7), on(2024, 1, 1)), (on(2024, 1, 1), on(2024, 1, 1)),
                                        (on(1970, 1, 1), on(1969, 12, 29))]),
    ("date_trunc('day', ts)", "ts", [(LEAP, at(2024, 2, 29)), (BEFORE_1970, at(1969, 12, 31))]),
    ("date_trunc('hour', ts)", "ts", [(BEFORE_1970, at(1969, 12, 31, 23)), (LEAP, at(2024, 2, 29, 23))]),
    ("date_trunc('minute', ts)", "ts", [(BEFORE_1970, at(1969, 12, 31, 23, 59))]),
    ("date_trunc('second', ts)", "ts", [(BEFORE_1970, at(1969, 12, 31, 23, 59, 59))]),
    ("date_trunc('hour', day)", "day", [(on(2024, 2, 29), on(2024, 2, 29))]),
    ("day - day2", "day day2", [(on(2024, 3, 1), on(2024, 2, 28), 2), (on(1969, 12, 31), on(1970, 1, 1), -1)]),
    ("ts - ts2", "ts ts2", [(at(2024, 3, 1), LEAP, lasting(microseconds=1)), (at(1970, 1, 1), at(1970, 1, 2), lasting(days=-1))]),
    ("day + i", "day i", [(on(2024, 2, 28), 2, on(2024, 3, 1)), (on(1970, 1, 1), -1, on(1969, 12, 31))]),
    ("ts + iv", "ts iv", [(LEAP, lasting(microseconds=1), at(2024, 3, 1)), (at(1970, 1, 1), lasting(microseconds=-1), BEFORE_1970)]),
    ("iv * i", "iv i", [(lasting(hours=1), 24, lasting(days=1)), (lasting(hours=1), -1, lasting(hours=-1))]),
    # conversions
    ("cast(f as bigint)", "f", [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (9.3e18, FAILS), (-(2.0**63), MIN), (NAN, FAILS)]),
    ("cast(d as bigint)", "d", [(D("0.50"), 1), (D("0.49"), 0), (D("-0.50"), -1), (D("-0.49"), 0), (D("2.50"), 3)]),
    ("cast(d as decimal(9, 1))", "d", [(D("0.05"), D("0.1")), (D("-0.05"), D("-0.1")), (D("0.04"), D("0.0"))]),
    ("cast(i as smallint)", "i", [(2**15 - 1, 2**15 - 1), (2**15, FAILS), (-(2**15), -(2**15)), (-(2**15) - 1, FAILS)]),
    ("cast(i as decimal(3, 1))", "i", [(99, D("99.0")), (100, FAILS), (-99, D("-99.0")), (-100, FAILS)]),
    ("cast(ts as date)", "ts", [(BEFORE_1970, on(1969, 12, 31)), (LEAP, on(2024, 2, 29))]),
    ("cast(s as bigint)", "s", [(" 12 ", 12), ("-0", 0), ("9223372036854775807", MAX), ("9223372036854775808", FAILS), ("1.0", FAILS),
                                ("", FAILS)]),
    ("cast(s as boolean)", "s", [("yes", True), ("F", False), (" 1 ", True), ("0", False), ("maybe", FAILS)]),
    ("cast(b as varchar)", "b", [(True, "true"), (False, "false"), (None, None)]),
]  # fmt: skip
