"""Queries of shapes, evaluated as one over an index, return what each of them returns alone: whatever comes, goes, waits or is restored."""

from __future__ import annotations

import math
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato import query_store
from ostinato.runtime.queries import query_index

pytestmark = pytest.mark.filterwarnings("ignore")

SCHEMA = pa.schema(
    [
        ("ts", pa.int64()),
        ("k", pa.string()),
        ("x", pa.float64()),
        ("n", pa.int64()),
        ("d", pa.decimal128(9, 2)),
        ("at", pa.timestamp("us")),
        ("on", pa.bool_()),
        ("i", pa.int32()),
    ]
)
SYMBOLS = ("a", "b", "ä", "日本", "it''s", "")
DOUBLES = (0.0, -0.0, 1.0, 2.0, 2.5, 3.0, -1.0)


@pytest.fixture(autouse=True)
def _share_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_store, "SHARED_FROM", 1)


def _rows(draw: Random, count: int) -> pa.Table:
    rows, time = [], 0
    for _ in range(count):
        time += draw.choice((0, 1, 1, 2))
        rows.append(
            {
                "ts": time,
                "k": draw.choice(("a", "b", "ä", "日本", "it's", "", None)),
                "x": draw.choice((*DOUBLES, math.nan, math.inf, None)),
                "n": draw.choice((0, 1, 2, 3, -1, None)),
                "d": draw.choice((Decimal("0.00"), Decimal("1.50"), Decimal("2.25"), Decimal("-1.00"), None)),
                "at": draw.choice((0, 1_000_000, 86_400_000_000, None)),
                "on": draw.choice((True, False, None)),
                "i": draw.choice((0, 1, 2, -3, 2**31 - 1, -(2**31), None)),
            }
        )
    return pa.Table.from_pylist(rows, SCHEMA)


RELATIONS = ("=", "<", "<=", ">", ">=")


def comparison(draw: Random, variable: str) -> str:
    """About one row, with a constant; the column may be of another type than the constant."""
    relation = draw.choice(RELATIONS)
    kind = draw.choice(("k", "x", "x", "n", "n", "d", "at", "on", "mirrored", "n of a double", "x of an integer", "calculated"))
    if kind == "k":
        return f"{variable}.k = '{draw.choice(SYMBOLS)}'"
    if kind == "on":
        return f"{variable}.on = {draw.choice(('TRUE', 'FALSE'))}"
    if kind == "at":
        return f"{variable}.at {relation} TIMESTAMP '1970-01-0{draw.choice((1, 2))} 00:00:0{draw.choice((0, 1))}'"
    if kind == "d":
        return f"{variable}.d {relation} {draw.choice(('0', '1.5', '2.25', '-1'))}"
    if kind == "n of a double":
        return f"{variable}.n {relation} {draw.choice(('0.5', '1.0', '2.5', '-0.5'))}"
    if kind == "x of an integer":
        return f"{variable}.x {relation} {draw.randint(-1, 3)}"
    if kind == "calculated":
        value = draw.choice((0, 3, 2**31, -(2**32)))
        return f"{variable}.i * {draw.choice((2, 3, 2**31 - 1, 2**31))} + {draw.choice((1, 2, 5_000_000_000))} {relation} {value}"
    if kind == "mirrored":
        return f"{draw.randint(-1, 3)} {relation} {variable}.n"
    value = draw.choice(DOUBLES) if kind == "x" else draw.randint(-1, 3)
    return f"{variable}.{kind} {relation} {value}"


def conditions(draw: Random, variable: str, least: int = 1) -> list[str]:
    return [comparison(draw, variable) for _ in range(draw.randint(least, 3))]


def sase(draw: Random) -> str:
    strategy = draw.choice(("skip_till_next_match", "skip_till_any_match", "partition_contiguity"))
    items, names = ["t a"], ["a"]
    parts = ["[k]"] if strategy == "partition_contiguity" or draw.random() < 0.5 else []
    parts += conditions(draw, "a")
    if draw.randint(0, 3) == 0 and strategy != "partition_contiguity":
        items.append("~(t m)")
        names.append("m")
        parts += conditions(draw, "m")
    if draw.randint(0, 3):
        items.append("t b")
        names.append("b")
        parts += conditions(draw, "b", 0)
        if draw.random() < 0.5:
            parts.append(draw.choice((f"b.x > a.x - {draw.choice(DOUBLES)}", f"b.i > a.i - {draw.choice((1, 2, 2**40))}")))
    elif "m" in names:
        items.append("t b")
        names.append("b")
    shown = draw.choice(("", f" RETURN a.ts AS first, {names[-1]}.ts AS last, {draw.randint(0, 3)} AS tag"))
    window = f" WITHIN {draw.choice((3, 6))}"
    return f"PATTERN SEQ({', '.join(items)}) WHERE {strategy}({', '.join(names)}) {{ {' and '.join(parts)} }}{window}{shown}"


def sql(draw: Random) -> str:
    partition = draw.choice(("PARTITION BY k ", ""))
    first = " AND ".join(conditions(draw, "A")).replace("A.", "")
    pattern = draw.choice(("A", "A B", "A B+ C", "A B*? C", "(A | B) C"))
    defined = [f"A AS {first}"]
    if "B" in pattern:
        both = " AND ".join(conditions(draw, "B")).replace("B.", "")
        defined.append(f"B AS {both}" if "|" in pattern or draw.random() < 0.5 else "B AS x < PREV(x)")
    if "C" in pattern:
        defined.append(f"C AS x > {draw.choice(DOUBLES)} + A.x" if "|" not in pattern else f"C AS n > {draw.randint(0, 2)}")
    skip = draw.choice(("", "AFTER MATCH SKIP TO NEXT ROW "))
    return (
        f"SELECT * FROM t MATCH_RECOGNIZE ({partition}ORDER BY ts MEASURES A.ts AS first, LAST(ts) AS last, MATCH_NUMBER() AS tag {skip}"
        f"PATTERN ({pattern}) WITHIN {draw.choice((3, 6))} DEFINE {', '.join(defined)})"
    )


def neel(draw: Random) -> str:
    joined = draw.choice(("SEQ", "AND"))
    parts = [*conditions(draw, "a"), *conditions(draw, "b")]
    if draw.random() < 0.5:
        parts.append("a.k = b.k")
    negated = f"!SEQ(t m, {' AND '.join(conditions(draw, 'm'))}), " if joined == "SEQ" and draw.random() < 0.5 else ""
    return (
        f"PATTERN {joined}(t a, {negated}t b, {' AND '.join(parts)}) WITHIN {draw.choice((3, 6))} "
        "RETURN a.ts AS first, b.ts AS last, a.n AS tag"
    )


def cel(draw: Random) -> str:
    """A filter, an event after it, or events that go on."""
    first = " AND ".join(conditions(draw, "a")).replace("a.", "")
    filtered = f"FILTER {{{first}}}(t)"
    kind = draw.choice(("", "NEXT", "FOLD"))
    same = "$2.k = $1.k AND " if draw.random() < 0.7 else ""
    more = " AND ".join(conditions(draw, "$2"))
    if kind == "NEXT":
        filtered += f" NEXT {{{same}{more}}} t"
    elif kind == "FOLD":
        again = same.replace("$1.", "$.")
        filtered += f" FOLD {{{again}{more}, $2.x > $.x - {draw.choice(DOUBLES[:4])}}} t"
    return f"SELECT k AS tag_k, x AS tag_x FROM {filtered}"


def texts(draw: Random, count: int) -> list[str]:
    return [draw.choice((sase, sql, neel, cel))(draw) for _ in range(count)]


def _shown(tables: list[pa.Table]) -> list[str]:
    return sorted(repr(row) for table in tables for row in table.to_pylist())


class Alone:
    """Every query in a session of its own, opened when it is added."""

    def __init__(self, **told: object) -> None:
        self._told = told
        self.sessions: dict[str, object] = {}

    def add(self, name: str, text: str) -> None:
        self.sessions[name] = ost.compile(text, {"t": SCHEMA}).open(**self._told)

    def call(self, name: str, *args: object) -> dict[str, list[str]]:
        found = {query: getattr(session, name)(*args) for query, session in self.sessions.items()}
        return {query: _shown([table]) for query, table in found.items() if table.num_rows}


def runs(draw: Random) -> list[tuple[str, object]]:
    """A stream in batches, with queries that come and go and snapshots between them."""
    first = texts(draw, draw.randint(1, 4))
    table = _rows(draw, draw.randint(1, 24))
    steps: list[tuple[str, object]] = [("add", text) for text in first]
    at = 0
    while at < len(table):
        size = draw.randint(1, 8)
        steps.append(("push", table.slice(at, size)))
        at += size
        kind = draw.choice(("", "", "add", "same", "remove", "restore", "advance"))
        if kind == "add":
            steps.append(("add", texts(draw, 1)[0]))
        elif kind == "same":
            steps.append(("add", first[0]))
        elif kind == "advance" and at < len(table):
            steps.append(("advance", table["ts"][at].as_py()))
        elif kind in ("remove", "restore"):
            steps.append((kind, None))
    return steps


def disordered(steps: list[tuple[str, object]], draw: Random) -> list[tuple[str, object]]:
    """The same with rows that come up to three units too late, over all batches, and no word about time."""
    whole = pa.concat_tables([given_ for kind, given_ in steps if kind == "push"])
    moved = sorted(range(len(whole)), key=lambda row: whole["ts"][row].as_py() + draw.randint(0, 3))
    whole, at, found = whole.take(moved), 0, []
    for kind, given_ in steps:
        if kind == "push":
            found.append(("push", whole.slice(at, len(given_))))
            at += len(given_)
        elif kind != "advance":
            found.append((kind, given_))
    return found


def _check(steps: list[tuple[str, object]], without: tuple[str, ...], **told: object) -> None:
    queries, alone, number = ost.QuerySet({"t": SCHEMA}, without=without), Alone(**told), 0
    session = None
    for kind, given_ in steps:
        if kind == "add":
            queries.add(f"q{number}", given_)
            alone.add(f"q{number}", given_)
            number += 1
            continue
        session = session or queries.open(**told)
        if kind == "push":
            found, expected = session.push("t", given_), alone.call("push", given_)
        elif kind == "advance":
            found, expected = session.advance(given_), alone.call("advance", given_)
        elif kind == "restore":
            session = queries.open(snapshot=session.snapshot())
            continue
        else:
            if len(queries) > 1:
                gone = next(iter(queries))
                queries.remove(gone)
                del alone.sessions[gone]
            continue
        assert {query: _shown([table]) for query, table in found.items()} == expected
    session = session or queries.open(**told)
    assert {query: _shown([table]) for query, table in session.close().items()} == alone.call("close")


@pytest.mark.parametrize("seed", [*range(16), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(16, 40))])
def test_whatever_comes_and_goes(seed: int) -> None:
    _check(runs(Random(seed)), ())


@pytest.mark.parametrize("left_out", ["query_index", "shapes", "learned_texts"])
@pytest.mark.parametrize("seed", range(1000, 1008))
def test_with_each_of_it_left_out(seed: int, left_out: str) -> None:
    _check(runs(Random(seed)), (left_out,))


@pytest.mark.parametrize("seed", range(5_000, 5_012))
def test_rows_that_wait(seed: int) -> None:
    """A query sees what comes since it is there, also of rows that wait for others."""
    _check(disordered(runs(Random(seed)), Random(seed)), (), lateness=3)


@pytest.mark.parametrize("seed", range(6_000, 6_008))
def test_few_pairs_at_a_time(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that concern many queries are held back behind the first of them, and time with them."""
    monkeypatch.setattr(query_index, "FIRST_PAIRS", 1)
    monkeypatch.setattr(query_index, "MOST_PAIRS", 1 + seed % 5)
    _check(runs(Random(seed)), ())
    _check(disordered(runs(Random(seed)), Random(seed)), (), lateness=3)


@pytest.mark.slow
def test_very_many() -> None:
    for seed in range(2_000, 3_000):
        _check(runs(Random(seed)), ())
        _check(disordered(runs(Random(seed)), Random(seed)), (), lateness=3)
