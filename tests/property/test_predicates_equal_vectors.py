"""What the kernel of comparisons writes for the rows of a session is what column code gives for them, however rows are cut into batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ostinato as ost
from ostinato.kernels.rows.grouping import ranges
from ostinato.program.pattern import Pattern
from ostinato.runtime.row_code.predicate_code import PredicateCode
from ostinato.runtime.row_code.row_code import RowCode
from ostinato.runtime.rows.pattern_rows import PatternRows
from ostinato.runtime.rows.string_pool import StringPool
from ostinato.runtime.session.pattern_operator import PatternOperator

SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("i", pa.int64()), ("j", pa.int32()), ("f", pa.float64()), ("g", pa.float64())])
SQL = """SELECT * FROM ticks MATCH_RECOGNIZE ({partition} ORDER BY ts MEASURES COUNT(*) AS n {skip} PATTERN (A B* C?)
    DEFINE A AS {a}, B AS {b}, C AS {c})"""
SASE = """PATTERN SEQ(ticks a, ticks b) WHERE skip_till_next_match(a, b) {{ {partition} {a} and b.i > a.i and b.f <= a.f }}
    WITHIN 9 RETURN a.i AS i"""

VALUES = (("i", "j", "PREV(i)", "PREV(i, 2)", "NEXT(j)", "3"), ("f", "g", "PREV(f)", "NEXT(g, 2)", "1.5e0", "PREV(g, 3)"))
RELATIONS = ("=", "<>", "<", "<=", ">", ">=")
COMPARED = st.sampled_from(VALUES).flatmap(
    lambda values: st.builds("{} {} {}".format, st.sampled_from(values), st.sampled_from(RELATIONS), st.sampled_from(values))
)
TESTED = st.builds("{} IS {}NULL".format, st.sampled_from(("i", "PREV(f)", "NEXT(j)")), st.sampled_from(("", "NOT ")))
CONDITIONS = st.recursive(
    st.one_of(COMPARED, TESTED),
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner), st.builds("({} OR {})".format, inner, inner), st.builds("(NOT {})".format, inner)
    ),
    max_leaves=6,
)
FLOATS = st.sampled_from((None, 0.0, -0.0, 1.5, 2.0, float("nan"), float("inf")))
WHOLE = st.one_of(st.none(), st.integers(0, 5))
ROWS = st.lists(st.tuples(st.integers(0, 3), WHOLE, WHOLE, FLOATS, FLOATS), min_size=1, max_size=40)


class Compared:
    """Evaluates the new rows of a pattern both ways, whenever a session does so once."""

    def __init__(self, operator: PatternOperator) -> None:
        assert operator.row_code is not None
        self.direct = PredicateCode.of(operator.pattern)
        self.vectors = by_vectors(operator.pattern, operator.source.pool)
        self.rows = 0
        operator.row_code = self  # type: ignore[assignment]

    def fill(self, rows: PatternRows, keys: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        self.vectors.evaluate(rows, keys, start, end)
        self.vectors.store(rows)
        new = ranges(rows.index_of(keys, start), np.maximum(end - start, 0))
        expected = self.of(rows, new)
        before = self.of(rows, np.setdiff1d(np.arange(len(rows.bits)), new))
        rows.bits[new] = ~rows.bits[new]
        assert self.direct is not None
        self.direct.run(rows, keys, np.ascontiguousarray(start), np.ascontiguousarray(end))
        assert self.of(rows, new) == expected
        assert self.of(rows, np.setdiff1d(np.arange(len(rows.bits)), new)) == before
        self.rows += len(new)

    @staticmethod
    def of(rows: PatternRows, at: np.ndarray) -> tuple[list[int], list[Any]]:
        flags = rows.slot_valid[at] if rows.slot_count else np.zeros((0, 0))
        values = np.where(flags != 0, rows.slots[at], 0) if rows.slot_count else flags
        return rows.bits[at].tolist(), [flags.tolist(), values.tolist()]


def by_vectors(pattern: Pattern, pool: StringPool) -> RowCode:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PredicateCode, "of", staticmethod(lambda pattern: None))
        return RowCode([pattern], pool)


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    return pa.table([columns[0], range(len(rows)), *columns[1:]], schema=SCHEMA)


def compare(text: str, rows: list[tuple[Any, ...]], cuts: list[int]) -> int:
    session = ost.compile(text, {"ticks": SCHEMA}).open()
    compared = Compared(session.operator)
    whole, begin = table(rows), 0
    for cut in [*sorted({cut % (len(rows) + 1) for cut in cuts}), len(rows)]:
        session.push(whole.slice(begin, cut - begin))
        begin = cut
    session.close()
    return compared.rows


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    a=CONDITIONS,
    b=CONDITIONS,
    c=CONDITIONS,
    rows=ROWS,
    cuts=st.lists(st.integers(0, 40), max_size=4),
    keyed=st.booleans(),
    skip=st.booleans(),
)
def test_row_patterns(a: str, b: str, c: str, rows: list[tuple[Any, ...]], cuts: list[int], keyed: bool, skip: bool) -> None:
    partition, after = "PARTITION BY k" if keyed else "", "AFTER MATCH SKIP TO NEXT ROW" if skip else ""
    text = SQL.format(partition=partition, skip=after, a=a, b=b, c=c)
    assert compare(text, rows, cuts) == len(rows)


@settings(deadline=None)
@given(threshold=st.integers(0, 5), rows=ROWS, cuts=st.lists(st.integers(0, 40), max_size=4), keyed=st.booleans())
def test_values_that_are_kept(threshold: int, rows: list[tuple[Any, ...]], cuts: list[int], keyed: bool) -> None:
    text = SASE.format(partition="[k] and" if keyed else "", a=f"a.i >= {threshold}")
    assert compare(text, rows, cuts) == sum(row[0] is not None for row in rows)


def test_more_rows_than_a_block_has() -> None:
    """Stretches that begin and end inside of blocks, and beside others whose rows were evaluated before."""
    generator = np.random.default_rng(3)
    rows = [(int(k), int(i), int(i) % 7, float(f), None) for k, i, f in zip(*generator.integers(0, 9, (3, 3000)), strict=True)]
    text = SQL.format(partition="PARTITION BY k", skip="", a="i > PREV(i, 2) AND j < 5", b="f < NEXT(f, 3) OR i = 4", c="PREV(f) IS NULL")
    assert compare(text, rows, [1200, 1210, 2000]) == 3000
    assert compare(text.replace("PARTITION BY k", ""), rows, [1, 2, 900, 1500]) == 3000


def test_code_that_asks_for_more() -> None:
    for condition in ("i + 1 > j", "i > f", "CASE WHEN i > 1 THEN TRUE ELSE FALSE END", "PREV(i) = NULL"):
        query = ost.compile(SQL.format(partition="", skip="", a=condition, b="TRUE", c="TRUE"), {"ticks": SCHEMA})
        assert PredicateCode.of(query.pattern) is None or condition == "PREV(i) = NULL", condition
