"""Queries of CEL that begin alike return what each of them returns alone: whatever comes, goes, fails or is restored."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import ostinato as ost

pytestmark = pytest.mark.filterwarnings("ignore")

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("x", pa.int64()), ("n", pa.float64())])
SWITCHES = ("shapes", "learned_texts")


def rows(draw: Random, count: int) -> pa.Table:
    found, time = [], 0
    for _ in range(count):
        time += draw.choice((0, 1, 1, 2))
        k, x = draw.choice(("a", "b", "ä", None)), draw.choice((0, 1, 2, 3, 4, None))
        found.append({"ts": time, "k": k, "x": x, "n": draw.choice((0.0, -0.0, 1.5, 2.0, float("nan"), None))})
    return pa.Table.from_pylist(found, SCHEMA)


def filtered(draw: Random, chain: str) -> str:
    kind = draw.choice(("", "", "DUR > 1", "DUR < 6", "x0 > 0", "x0 > 0 AND DUR < 4"))
    return f"FILTER {{{kind}}} ({chain})" if kind else chain


def begun(draw: Random) -> str:
    condition = draw.choice(("", "x > 0", "x > 0 AND n < 3", "n < 3 AND x > 0", "k = 'a'"))
    return f"(SELECT k AS k0, x AS x0, x, n, 0 AS c FROM {f'FILTER {{{condition}}} (t)' if condition else 't'})"


def step(draw: Random, chain: str) -> str:
    """One more event, or a repetition: attributes stay what they are called."""
    same = draw.choice(("$2.k1 = $1.k0 AND ", "$2.k1 = $1.k0 AND ", ""))
    if draw.random() < 0.5:
        condition = draw.choice(("$2.x1 > $1.x", "$2.x1 > $1.x0", "$2.x1 != 2", "$2.n1 > $1.n", "$1.x0 > 1"))
        joined = f"{chain} NEXT {{{same}{condition}}} (SELECT k AS k1, x AS x1, n AS n1 FROM t)"
        shown = draw.choice(("x1 AS x, n, c", "x1 AS x, n1 AS n, c", "x, n1 AS n, c + 1 AS c"))
        return filtered(draw, f"(SELECT k0, x0, {shown} FROM {joined})")
    further = draw.choice(("$2.x < $.x", "$2.x > $.x", "$.c < 2", "$2.x != $1.x0"))
    relevant = draw.choice(("$2.x >= 0", "$2.x > $1.x0", "TRUE"))
    change = draw.choice(("", ", $.c + 1 AS c", ", $.c + $2.x AS c"))
    return filtered(draw, f"(SELECT k0, x0, x, n, c FROM {chain} FOLD {{{relevant}, {further}{change}}} (SELECT x FROM t))")


def texts(draw: Random, count: int) -> list[str]:
    """Of which some begin like others, or are others with more behind them."""
    chains = [step(draw, begun(draw))]
    for _ in range(count):
        chains.append(step(draw, draw.choice(chains)) if draw.random() < 0.7 else step(draw, begun(draw)))
    found = []
    for chain in (draw.choice(chains) for _ in range(count)):
        name = draw.choice(("x", "last"))
        found.append(f"SELECT {draw.choice(('k0, c', 'k0 AS what', 'x0'))}, x AS {name} FROM {filtered(draw, chain)}")
    return found


def shown(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


class Alone:
    """Every query in a session of its own, opened when it is added."""

    def __init__(self, **told: object) -> None:
        self._told = told
        self.sessions: dict[str, ost.Session] = {}

    def add(self, name: str, text: str) -> None:
        self.sessions[name] = ost.compile(text, {"t": SCHEMA}, language="cel").open(**self._told)

    def call(self, name: str, *args: object) -> dict[str, list[str]]:
        found = {query: getattr(session, name)(*args) for query, session in self.sessions.items()}
        return {query: shown(table) for query, table in found.items() if table.num_rows}


def check(draw: Random, disordered: bool = False, changes: bool = True, **told: object) -> int:
    """Returns how many beginnings were shared."""
    queries, alone = ost.QuerySet({"t": SCHEMA}, without=SWITCHES), Alone(**told)
    for number, text in enumerate(texts(draw, draw.randint(2, 7))):
        queries.add(f"q{number}", text, language="cel")
        alone.add(f"q{number}", text)
    table = rows(draw, draw.randint(5, 60))
    if disordered:
        table = table.take(sorted(range(len(table)), key=lambda row: table["ts"][row].as_py() + draw.randint(0, 3)))
    session, most, at, number = queries.open(**told), 0, 0, len(queries)
    while at < len(table):
        batch = table.slice(at, draw.randint(1, 9))
        at += len(batch)
        assert {query: shown(found) for query, found in session.push("t", batch).items()} == alone.call("push", batch)
        most = max(most, session.metrics().get("shared_beginnings", 0))
        kind = draw.choice(("", "", "add", "remove", "restore")) if changes else ""
        if kind == "add":
            for text in texts(draw, 2):
                queries.add(f"q{number}", text, language="cel")
                alone.add(f"q{number}", text)
                number += 1
        elif kind == "remove" and len(queries) > 1:
            gone = draw.choice(list(queries))
            queries.remove(gone)
            del alone.sessions[gone]
        elif kind == "restore":
            session = queries.open(snapshot=session.snapshot())
    assert {query: shown(found) for query, found in session.close().items()} == alone.call("close")
    return most


@pytest.mark.parametrize("seed", [*range(24), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(24, 200))])
def test_whatever_comes_and_goes(seed: int) -> None:
    check(Random(seed))


@pytest.mark.parametrize("seed", range(1_000, 1_008))
def test_rows_that_wait(seed: int) -> None:
    check(Random(seed), disordered=True, lateness=3)


def test_beginnings_are_shared() -> None:
    assert sum(check(Random(seed), changes=False) for seed in range(2_000, 2_010)) > 10
