"""Ranges hold every value that code can compute, and no code that can fail is taken for one that cannot."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import OstinatoError
from ostinato.expr.types import Kind
from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.vector import from_arrow
from ostinato.program.analysis.failures.fallible_code import may_fail, rows_may_fail
from ostinato.program.analysis.failures.value_ranges import (
    Range,
    added,
    column_ranges,
    magnitude,
    multiplied,
    negated,
    of_type,
    quotient,
    remainder,
    subtracted,
)

SCHEMA = pa.schema(
    [
        ("ts", pa.int64()),
        ("b", pa.int8()),
        ("u", pa.uint16()),
        ("i", pa.int32()),
        ("n", pa.int64()),
        ("d", pa.decimal128(9, 2)),
        ("e", pa.decimal128(18, 4)),
    ]
)
SMALL = [Range(low, high) for low, high in product(range(-3, 4), repeat=2) if low <= high]


@pytest.mark.parametrize(
    ("computed", "exactly"),
    [
        (added, lambda x, y: x + y),
        (subtracted, lambda x, y: x - y),
        (multiplied, lambda x, y: x * y),
        (lambda a, b: negated(a), lambda x, y: -x),
        (lambda a, b: magnitude(a), lambda x, y: abs(x)),
        (lambda a, b: quotient(a), lambda x, y: int(x / y) if y else 0),
        (lambda a, b: remainder(a), lambda x, y: int(np.fmod(x, y)) if y else 0),
        (lambda a, b: a | b, lambda x, y: x),
    ],
)
def test_every_value_is_in_the_range(computed, exactly) -> None:
    for a, b in product(SMALL, repeat=2):
        found = computed(a, b)
        for x, y in product(range(a.low, a.high + 1), range(b.low, b.high + 1)):
            assert found.low <= exactly(x, y) <= found.high


def number(draw: Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(("b", "u", "i", "n", "d", "e", "3", "-7", "100000", "2.50", "4294967296"))
    kind = draw.choice(("+", "-", "*", "%", "ABS", "-1*", "CASE", "COALESCE", "GREATEST"))
    one, other = number(draw, depth - 1), number(draw, depth - 1)
    if kind == "ABS":
        return f"ABS({one})"
    if kind == "-1*":
        return f"-({one})"
    if kind == "CASE":
        return f"CASE WHEN i > 3 THEN {one} ELSE {other} END"
    return f"{kind}({one}, {other})" if kind in ("COALESCE", "GREATEST") else f"({one} {kind} {other})"


def extremes(draw: Random) -> pa.Table:
    """Rows with the least and the greatest values of the columns."""
    columns = {}
    for field in SCHEMA:
        if pa.types.is_decimal(field.type):
            most = 10**field.type.precision - 1
            values = [draw.choice((-most, most, 0, most // 2)) for _ in range(32)]
            columns[field.name] = pa.array(values, pa.decimal128(38, 0)).cast(pa.string())
            scaled = [str(pa.scalar(value).as_py()).zfill(1) for value in values]
            columns[field.name] = pa.array([f"{text}E-{field.type.scale}" for text in scaled]).cast(field.type)
        else:
            held = np.iinfo(field.type.to_pandas_dtype())
            columns[field.name] = pa.array([draw.choice((held.min, held.max, 0, 1)) for _ in range(32)], field.type)
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(60))
def test_what_cannot_fail_never_does(seed: int) -> None:
    draw = Random(seed)
    text = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS s PATTERN (A) DEFINE A AS {number(draw, 3)} > i)"
    try:
        pattern = ost.compile(text, {"t": SCHEMA}).pattern
    except OstinatoError:
        return
    code = pattern.rows.reduced_to(range(len(pattern.rows.ops)))
    ranges = column_ranges(code, lambda name, type_: of_type(type_))
    columns = {name: from_arrow(column) for name, column in zip(SCHEMA.names, extremes(draw).combine_chunks().columns, strict=True)}
    fails = rows_may_fail(pattern)
    try:
        values = evaluate(code, 32, columns.__getitem__)
    except OstinatoError:
        assert fails
        return
    if not fails:
        for found, value in zip(ranges, values, strict=True):
            if value.type.kind in (Kind.INT, Kind.DECIMAL):
                valid = value.data if value.valid is None else value.data[value.valid]
                assert not len(valid) or (found.low <= int(valid.min()) and int(valid.max()) <= found.high)


def test_some_of_it_cannot_fail() -> None:
    found = []
    for seed in range(60):
        text = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS s PATTERN (A) DEFINE A AS {number(Random(seed), 3)} > i)"
        try:
            found.append(rows_may_fail(ost.compile(text, {"t": SCHEMA}).pattern))
        except OstinatoError:
            continue
    assert 5 < sum(found) < len(found) - 5


SEQ = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ {} }} WITHIN 9 RETURN b.ts AS s"


@pytest.mark.parametrize(
    ("condition", "fails"),
    [
        ("b.i > a.i + 2", False),
        ("b.i * a.i > 3", False),
        ("b.i * a.i * a.b > 3", True),
        ("b.n - a.n > 3", True),
        ("ABS(b.i - a.i) > 3", False),
        ("b.d + a.d > 3", False),
        ("b.e + a.e > 3", False),
        ("b.e * a.d > 3", True),
        ("b.i - a.n > 3", True),
        ("b.n % a.n > 3", False),
    ],
)
def test_conditions_over_the_match(condition: str, fails: bool) -> None:
    assert may_fail(ost.compile(SEQ.format(condition), {"t": SCHEMA}).pattern) is fails


def test_what_grows_with_every_step_may_fail() -> None:
    grows = "SELECT c FROM (SELECT i, 0 AS c FROM t) FOLD {TRUE, TRUE, $.c + $2.i AS c} (SELECT i FROM t)"
    stays = "SELECT c FROM (SELECT i, 0 AS c FROM t) FOLD {TRUE, TRUE, GREATEST($.c, $2.i) AS c} (SELECT i FROM t)"
    assert may_fail(ost.compile(grows, {"t": SCHEMA}).pattern)
    assert not may_fail(ost.compile(stays, {"t": SCHEMA}).pattern)


def test_values_that_the_declared_type_has_not_are_refused() -> None:
    session = ost.compile("PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.i > 3 and a.d > 1.5 } RETURN a.ts AS s", {"t": SCHEMA}).open()
    rows = pa.table({name: [1] if name not in ("d", "e") else pa.array([2], pa.decimal128(5, 0)) for name in SCHEMA.names})
    large = rows.set_column(3, "i", pa.array([2**31]))
    wide = rows.set_column(3, "i", pa.array([2**31 - 1]))
    assert session.push(wide).num_rows == 1
    with pytest.raises(ost.DataError, match="does not fit int32"):
        session.push(large)


@pytest.mark.parametrize(("given", "found"), [("1.45", []), ("1.510", [1]), ("14.5000", [1])])
def test_decimals_with_other_digits_are_the_same_values(given: str, found: list[int]) -> None:
    """They were taken for others once: 1.450 for 14.50."""
    session = ost.compile("PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.d > 1.5 } RETURN a.ts AS s", {"t": SCHEMA}).open()
    digits = len(given.partition(".")[2])
    assert session.push(pa.table({"ts": [1], "d": pa.array([given]).cast(pa.decimal128(12, digits))})).column("s").to_pylist() == found


def test_decimals_that_would_lose_digits_are_refused() -> None:
    session = ost.compile("PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.d > 1.5 } RETURN a.ts AS s", {"t": SCHEMA}).open()
    with pytest.raises(ost.SchemaError, match="more digits"):
        session.push(pa.table({"ts": [1], "d": pa.array(["1.505"]).cast(pa.decimal128(12, 3))}))
