"""Where simultaneous events do not follow one another, the order of simultaneous rows changes nothing about negation: not in a batch, not
however a stream is cut, disordered, saved and restored; and it means the same in SASE+ and NEEL."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_negation_equals_reference import check, inside

import ostinato as ost
from ostinato import reference
from ostinato.algebra.policies import Ties
from ostinato.algebra.query import MatchQuery
from ostinato.testing.negations import negated_queries
from ostinato.testing.strategies import streams

pytestmark = pytest.mark.filterwarnings("ignore::ostinato.ExplosionWarning")
Rows = list[dict[str, Any]]
some = settings(max_examples=60, deadline=None)
cuts = st.lists(st.integers(0, 12), max_size=4)
SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("v", pa.int64()), ("id", pa.int64())])
PATTERNS = {  # of SASE+ and of NEEL
    "first": ("SEQ(~(X x), A a, B b)", "SEQ(!X x, A a, B b)"),
    "inside": ("SEQ(A a, ~(X x), B b)", "SEQ(A a, !X x, B b)"),
    "last": ("SEQ(A a, B b, ~(X x))", "SEQ(A a, B b, !X x)"),
    "a sequence": ("SEQ(A a, ~(SEQ(X x, Y y)), B b)", "SEQ(A a, !SEQ(X x, Y y), B b)"),
    "a sequence first": ("SEQ(~(SEQ(X x, Y y)), A a, B b)", "SEQ(!SEQ(X x, Y y), A a, B b)"),
    "a sequence last": ("SEQ(A a, B b, ~(SEQ(X x, Y y)))", "SEQ(A a, B b, !SEQ(X x, Y y))"),
    "of their own kind": ("SEQ(A a, ~(A x), B b, ~(B y))", "SEQ(A a, !A x, B b, !B y)"),
    "everywhere": ("SEQ(~(X x), A a, ~(Y y), B b, ~(X z))", "SEQ(!X x, A a, !Y y, B b, !X z)"),
}
VARIABLES = {name: [part.split(")")[0].split()[1] for part in sase.split(",")] for name, (sase, _) in PATTERNS.items()}
CONDITIONS = ("", "x.v < 2", "x.v = a.v", "x.v < b.v", "x.k = a.k")


def crowded(rows: Rows) -> Rows:
    """With many rows of each time."""
    return [{**row, "ts": row["ts"] // 3} for row in rows]


@some
@given(negated_queries(), streams(max_size=9).map(crowded), cuts, st.sampled_from((None, "runs", "backtrack")))
def test_the_reference_agrees(query: MatchQuery, rows: Rows, places: list[int], strategy: str | None) -> None:
    check(replace(query, ties=Ties.EPOCH), rows, cuts=inside(places, rows), restarts=True, strategy=strategy)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", PATTERNS)
def test_the_order_of_simultaneous_rows_changes_nothing(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    for _ in range(4):
        rows, condition = drawn_rows(rng), rng.choice(CONDITIONS)
        query = compiled(name, condition, rng.choice((2, 4, 5)), rng)
        expected = Counter((row["a"], row["b"]) for row in reference.output(query.algebra, rows))
        for _ in range(3):
            assert found(query, shuffled(rows, rng), rng) == expected, f"{query.text}\n{rows}"
        assert counted(query, rows, rng) == expected.total()


@pytest.mark.parametrize("name", PATTERNS)
def test_the_same_in_neel(name: str) -> None:
    rng = random.Random(name)
    texts = [f"PATTERN {pattern} WITHIN 4 RETURN a.id AS a, b.id AS b" for pattern in PATTERNS[name]]
    matches = 0
    for _ in range(6):
        table = pa.Table.from_pylist(drawn_rows(rng), SCHEMA)
        sase = ost.match(texts[0].replace("WITHIN", f"{selecting(name)} {{ }} WITHIN"), events=table, type_by="kind", ties="epoch")
        neel = ost.match(texts[1], language="neel", events=table, type_by="kind")
        assert pairs(sase.to_arrow()) == pairs(neel.to_arrow())
        matches += len(sase)
    assert matches


def drawn_rows(rng: random.Random) -> Rows:
    times = sorted(rng.randint(0, 4) for _ in range(rng.randint(4, 14)))
    return [
        {"ts": time, "kind": rng.choice("AABBXY"), "k": rng.choice("pq"), "v": rng.choice((0, 1, 2, 3, None)), "id": number}
        for number, time in enumerate(times)
    ]


def selecting(name: str) -> str:
    return f"WHERE skip_till_any_match({', '.join(VARIABLES[name])})"


def compiled(name: str, condition: str, within: int, rng: random.Random) -> ost.Query:
    conditions = " and ".join(part for part in (rng.choice(("", "[k]")), condition) if part)
    text = f"PATTERN {PATTERNS[name][0]} {selecting(name)} {{ {conditions} }} WITHIN {within} RETURN a.id AS a, b.id AS b"
    return ost.compile(text, {"events": SCHEMA}, type_by="kind", ties="epoch")


def shuffled(rows: Rows, rng: random.Random) -> Rows:
    return sorted(rng.sample(rows, len(rows)), key=lambda row: row["ts"])


def disordered(rows: Rows, lateness: int, rng: random.Random) -> Rows:
    """Out of order, and no row later than that."""
    return sorted(rows, key=lambda row: row["ts"] + rng.random() * lateness)


def found(query: ost.Query, rows: Rows, rng: random.Random) -> Counter[tuple[int, int]]:
    """In pushes of any size, saved and restored, in order or with disorder."""
    lateness = rng.choice((0, 0, 1, 3))
    arriving = disordered(rows, lateness, rng) if lateness else rows
    session = query.open(lateness=lateness)
    tables = []
    while arriving:
        size = rng.choice((1, 2, 3, 8))
        tables.append(session.push(pa.Table.from_pylist(arriving[:size], SCHEMA)))
        arriving = arriving[size:]
        if rng.random() < 0.3:
            session = query.open(lateness=lateness, snapshot=session.snapshot())
    result = pa.concat_tables([*tables, session.close()])
    assert session.metrics()["late_rows"] == 0
    return pairs(result)


def counted(query: ost.Query, rows: Rows, rng: random.Random) -> int:
    text = query.text[: query.text.index("RETURN")] + "OUTPUT count"
    session = ost.compile(text, {"events": SCHEMA}, type_by="kind", ties="epoch").open()
    session.push(pa.Table.from_pylist(shuffled(rows, rng), SCHEMA))
    return session.close().to_pylist()[0]["count"]


def pairs(table: pa.Table) -> Counter[tuple[int, int]]:
    return Counter(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
