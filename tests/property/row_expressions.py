"""Random row expressions of a wanted kind, and random columns for them to look at."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from ostinato.expr.nodes import Call, Case, Cast, Expr, Field, Literal
from ostinato.expr.times.nanoseconds import Duration, Moment
from ostinato.expr.types import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    INTERVAL,
    INTERVAL_NS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMP_TZ,
    TIMESTAMP_TZ_NS,
    Kind,
    Type,
    decimal,
)
from ostinato.expr.typing.schema import Schema

COLUMNS: dict[str, tuple[Type, pa.DataType]] = {
    "i": (INT, pa.int64()),
    "j": (Type(Kind.INT, bits=16), pa.int16()),
    "f": (FLOAT, pa.float64()),
    "d": (decimal(10, 2), pa.decimal128(10, 2)),
    "b": (BOOL, pa.bool_()),
    "s": (STRING, pa.string()),
    "t": (STRING, pa.dictionary(pa.int32(), pa.string())),
    "ts": (TIMESTAMP, pa.timestamp("us")),
    "tz": (TIMESTAMP_TZ, pa.timestamp("us", "UTC")),
    "day": (DATE, pa.date32()),
    "iv": (INTERVAL, pa.duration("us")),
    "tn": (TIMESTAMP_NS, pa.timestamp("ns")),
    "zn": (TIMESTAMP_TZ_NS, pa.timestamp("ns", "UTC")),
    "ivn": (INTERVAL_NS, pa.duration("ns")),
}
SCHEMA = Schema(tuple((name, type_) for name, (type_, _) in COLUMNS.items()))

INTEGERS = st.one_of(st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1), st.sampled_from((-(2**63), 2**63 - 1)))
FLOATS = st.one_of(st.sampled_from((0.0, -0.0, 0.5, 2.5, -1.5, float("inf"), float("nan"))), st.floats(-1e6, 1e6))
DECIMALS = st.integers(-(10**10) + 1, 10**10 - 1).map(lambda n: Decimal(n).scaleb(-2))
TEXTS = st.one_of(st.sampled_from(("", "a", "ab", "Äß", "12", " x ", "a%b", "2024-02-29")), st.text("abÄ %_1€", max_size=4))
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))
DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))
LENGTHS = st.timedeltas(dt.timedelta(-400), dt.timedelta(400))
NANOS = st.integers(-(2**61), 2**61)
FINER = NANOS.filter(lambda nanos: nanos % 1000)

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i": INTEGERS,
    "j": st.integers(-(2**15), 2**15 - 1),
    "f": FLOATS,
    "d": DECIMALS,
    "b": st.booleans(),
    "s": TEXTS,
    "t": TEXTS,
    "ts": MOMENTS,
    "tz": MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
    "day": DAYS,
    "iv": LENGTHS,
    "tn": NANOS.map(Moment),
    "zn": NANOS.map(lambda nanos: Moment(nanos, True)),
    "ivn": NANOS.map(Duration),
}
LITERALS = {
    "int": INTEGERS,
    "float": FLOATS,
    "decimal": DECIMALS,
    "bool": st.booleans(),
    "string": TEXTS,
    "time": st.one_of(MOMENTS, st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 1, 1)), FINER.map(Moment)),
    "zoned": st.one_of(VALUES["tz"], FINER.map(lambda nanos: Moment(nanos, True))),
    "date": DAYS,
    "interval": st.one_of(LENGTHS, FINER.map(Duration)),
}
FIELDS = {
    "int": ("i", "j"), "float": ("f",), "decimal": ("d",), "bool": ("b",), "string": ("s", "t"), "time": ("ts", "tn"),
    "zoned": ("tz", "zn"), "date": ("day",), "interval": ("iv", "ivn"),
}  # fmt: skip
TYPED_NULLS = {"time": TIMESTAMP, "zoned": TIMESTAMP_TZ, "date": DATE, "interval": INTERVAL}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "distinct")
NUMERIC = ("int", "float", "decimal")

# name, kinds of the arguments: for every kind the calls that give it
CALLS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "int": (
        ("add", ("int", "int")), ("sub", ("int", "int")), ("mul", ("int", "int")), ("mod", ("int", "int")), ("neg", ("int",)),
        ("abs", ("int",)), ("floor", ("int",)), ("ceil", ("int",)), ("round", ("int",)), ("greatest", ("int", "int", "int")),
        ("least", ("int", "int")), ("coalesce", ("int", "int")), ("length", ("string",)), ("strpos", ("string", "string")),
        ("sign", ("float",)), ("sign", ("int",)), ("sign", ("decimal",)), ("sub", ("date", "date")), ("epoch_us", ("time",)),
        ("epoch_ns", ("time",)), ("epoch_ns", ("interval",)), ("epoch_us", ("interval",)),
        *((part, (kind,)) for part in ("year", "quarter", "month", "week", "day", "day_of_week", "day_of_year", "hour")
          for kind in ("date", "time", "zoned")),
        ("minute", ("time",)), ("second", ("zoned",)),
    ),
    "float": (
        *((name, (a, b)) for name in ("div", "power") for a in NUMERIC for b in NUMERIC), ("add", ("float", "int")),
        ("mul", ("decimal", "float")), ("sub", ("float", "float")), ("mod", ("float", "float")), ("neg", ("float",)), ("abs", ("float",)),
        ("floor", ("float",)), ("ceil", ("float",)), ("round", ("float",)), ("sqrt", ("float",)), ("exp", ("float",)), ("ln", ("float",)),
        ("log10", ("int",)), ("greatest", ("float", "int")), ("least", ("float", "float")), ("coalesce", ("float", "decimal")),
        ("epoch", ("time",)), ("epoch", ("date",)), ("epoch", ("interval",)),
    ),
    "decimal": (
        ("add", ("decimal", "int")), ("sub", ("decimal", "decimal")), ("mul", ("decimal", "int")), ("mod", ("decimal", "decimal")),
        ("neg", ("decimal",)), ("abs", ("decimal",)), ("floor", ("decimal",)), ("ceil", ("decimal",)), ("round", ("decimal",)),
        ("greatest", ("decimal", "int")), ("coalesce", ("int", "decimal")),
    ),
    "string": (
        *((name, ("string",)) for name in ("upper", "lower", "reverse", "trim", "ltrim", "rtrim")), ("trim", ("string", "string")),
        ("ltrim", ("string", "string")), ("rtrim", ("string", "string")), ("replace", ("string", "string", "string")),
        ("concat", ("string", "string")), ("concat", ("string", "string", "string")), ("substring", ("string", "int")),
        ("substring", ("string", "int", "int")), ("left", ("string", "int")), ("right", ("string", "int")),
        ("greatest", ("string", "string")), ("least", ("string", "string")), ("coalesce", ("string", "string")),
    ),
    "bool": (
        *((name, (kind, kind)) for name in COMPARISONS for kind in FIELDS), *((name, ("int", "decimal")) for name in COMPARISONS),
        *((name, ("float", "int")) for name in COMPARISONS), ("lt", ("date", "time")), ("and", ("bool", "bool")), ("or", ("bool", "bool")),
        ("and", ("bool", "bool", "bool")), ("not", ("bool",)), ("is_true", ("bool",)), ("is_false", ("bool",)),
        *((name, (kind,)) for name in ("is_null", "is_not_null") for kind in FIELDS),
        *(("in", (kind,) * n) for kind in FIELDS for n in (2, 3, 7)),
        *((name, ("string", "string")) for name in ("starts_with", "ends_with", "contains", "like")),
    ),
    "time": (("add", ("time", "interval")), ("sub", ("time", "interval")), ("add", ("interval", "date")), ("coalesce", ("date", "time"))),
    "zoned": (("add", ("zoned", "interval")), ("sub", ("zoned", "interval"))),
    "date": (("add", ("date", "int")), ("sub", ("date", "int")), ("least", ("date", "date"))),
    "interval": (
        ("sub", ("time", "time")), ("sub", ("zoned", "zoned")), ("sub", ("time", "date")), ("add", ("interval", "interval")),
        ("mul", ("interval", "int")), ("neg", ("interval",)), ("abs", ("interval",)),
    ),
}  # fmt: skip
CASTS: dict[str, tuple[tuple[str, Type], ...]] = {
    "int": tuple((kind, INT) for kind in (*NUMERIC, "bool", "string")) + (("int", Type(Kind.INT, bits=16)),),
    "float": tuple((kind, FLOAT) for kind in (*NUMERIC, "bool", "string")),
    "decimal": tuple((kind, decimal(10, 2)) for kind in (*NUMERIC, "string")) + (("decimal", decimal(6, 1)),),
    "bool": tuple((kind, BOOL) for kind in (*NUMERIC, "string")),
    "string": tuple((kind, STRING) for kind in FIELDS),
    "time": (
        ("date", TIMESTAMP),
        ("zoned", TIMESTAMP),
        ("string", TIMESTAMP),
        ("time", TIMESTAMP),
        ("time", TIMESTAMP_NS),
        ("date", TIMESTAMP_NS),
    ),
    "zoned": (("time", TIMESTAMP_TZ), ("date", TIMESTAMP_TZ), ("zoned", TIMESTAMP_TZ_NS)),
    "date": (("time", DATE), ("zoned", DATE), ("string", DATE)),
    "interval": (("string", INTERVAL), ("interval", INTERVAL), ("interval", INTERVAL_NS)),
}


@st.composite
def row_expressions(draw: st.DrawFn, kind: str | None = None, depth: int = 3) -> Expr:
    """An expression without types, of one of the kinds of `FIELDS`."""
    kind = kind or draw(st.sampled_from(tuple(FIELDS)))
    form = draw(st.integers(0, 9)) if depth else draw(st.integers(0, 2))
    if form <= 1:
        return Field(draw(st.sampled_from(FIELDS[kind])))
    if form == 2:
        value = draw(st.one_of(LITERALS[kind], LITERALS[kind], st.none()))
        # A null of no type takes one from its neighbour, which need not be the kind that is wanted here.
        return Cast(Literal(None), TYPED_NULLS[kind]) if value is None and kind in TYPED_NULLS else Literal(value)
    if form == 3:
        of, to = draw(st.sampled_from(CASTS[kind]))
        return Cast(draw(row_expressions(of, depth - 1)), to)
    if form == 4:
        condition, value, rest = (draw(row_expressions(k, depth - 1)) for k in ("bool", kind, kind))
        return Case(((condition, value),), draw(st.sampled_from((rest, None))))
    name, kinds = draw(st.sampled_from(CALLS[kind]))
    return Call(name, tuple(draw(row_expressions(k, depth - 1)) for k in kinds))


def rows(max_size: int = 8) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries({name: st.one_of(values, values, values, st.none()) for name, values in VALUES.items()})
    return st.lists(row, max_size=max_size)


def as_table(rows_: list[dict[str, Any]]) -> pa.Table:
    return pa.table({name: pa.array([_counted(row[name]) for row in rows_], type_) for name, (_, type_) in COLUMNS.items()})


def _counted(value: Any) -> Any:
    return value.nanos if isinstance(value, Moment | Duration) else value
