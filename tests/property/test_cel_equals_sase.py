"""Patterns that CEL and SASE+ can both express: NEXT is skip till next match, FOLD a list with running aggregates. Times differ, and
nothing is null: for simultaneous events and sums over nulls the languages have rules of their own."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ostinato as ost

SCHEMA = pa.schema([(name, pa.int64()) for name in ("ts", "id", "price", "volume", "kind")])
NUMBERS = ("price", "volume")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
SEEDS = st.integers(0, 2**32).map(Random)


def rows(random: Random, most: int = 14) -> pa.Table:
    found, time = [], 0
    for number in range(random.randint(most // 2, most)):
        time += random.choice((1, 1, 2, 4))
        values = {name: random.randint(0, 4) for name in ("price", "volume")}
        found.append({"ts": time, "id": number + 1, **values, "kind": random.randint(0, 2)})
    return pa.Table.from_pylist(found, SCHEMA)


def conditions(random: Random, new: tuple[str, str], olds: list[tuple[str, str]], constants: bool = True) -> tuple[str, str]:
    """The same conjuncts in CEL and in SASE+ about a new event and those before it; names of events are given in both languages. What is
    said about a[i] and `constants` would hold for the first event of a list, too."""
    pairs = []
    for _ in range(random.choice((1, 1, 2))):
        attribute, operator = random.choice(NUMBERS), random.choice(COMPARISONS)
        if not olds or (constants and random.random() < 0.3):
            value = str(random.randint(0, 4))
            pairs.append(tuple(f"{event}.{attribute} {operator} {value}" for event in new))
        else:
            old, other = random.choice(olds), random.choice(NUMBERS)
            more = random.choice(("", "", " + 1"))
            pairs.append(tuple(f"{own}.{attribute} {operator} {before}.{other}{more}" for own, before in zip(new, old, strict=True)))
    cel, sase = (" AND ".join(terms) for terms in zip(*pairs, strict=True))
    return cel, sase


def both(cel: str, sase: str, table: pa.Table) -> tuple[list[str], list[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ost.match(cel, language="cel", s=table).to_arrow().drop_columns(["start_ts", "end_ts"])
        twin = ost.match(sase, language="sase", s=table).to_arrow()
    assert found.column_names == twin.column_names
    return bag(found), bag(twin)


def bag(table: pa.Table) -> list[str]:
    return sorted(str(list(row.values())) for row in table.to_pylist())


def renamed(place: int) -> str:
    return ", ".join(f"{name} AS {name}{place}" for name in ("id", *NUMBERS))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(2, 4))
def test_next_is_skip_till_next_match(random: Random, length: int) -> None:
    """`s NEXT {...} s NEXT {...} s` and SEQ(s v1, s v2, s v3)."""
    first = conditions(random, ("$1", "v1"), [])
    cel = f"(SELECT {renamed(1)} FROM FILTER {{{first[0]}}} (s))"
    sase = [first[1]]
    for place in range(2, length + 1):
        # what CEL calls price2 is an attribute of v2
        link = conditions(random, ("$2", f"v{place}"), [(f"$1@{before}", f"v{before}") for before in range(1, place)])
        written = link[0]
        for before in range(1, place):
            for name in NUMBERS:
                written = written.replace(f"$1@{before}.{name}", f"$1.{name}{before}")
        kept = ", ".join(f"{name}{before}" for before in range(1, place) for name in ("id", *NUMBERS))
        cel = f"(SELECT {kept}, {renamed(place)} FROM {cel} NEXT {{{written}}} s)"
        sase.append(link[1])
    variables = [f"v{place}" for place in range(1, length + 1)]
    ids = ", ".join(f"v{place}.id AS id{place}" for place in range(1, length + 1))
    pattern = f"PATTERN SEQ({', '.join(f's {name}' for name in variables)})"
    text = f"{pattern} WHERE skip_till_next_match({', '.join(variables)}) {{ {' AND '.join(sase)} }} RETURN {ids}"
    found, twin = both(f"SELECT {', '.join(f'id{place}' for place in range(1, length + 1))} FROM {cel}", text, rows(random))
    assert found == twin


def fold_conditions(random: Random) -> tuple[str, str]:
    """About an event of the chain, the one before it, the first one, and what was there before."""
    cel, sase = conditions(random, ("$2", "a[i]"), [("$", "a[i-1]")], constants=False)
    running = random.choice(
        (
            None,
            ("$2.price >= $.high", "a[i].price >= max(a[..i-1].price)"),
            ("$2.volume < $.total", "a[i].volume < sum(a[..i-1].price)"),
            ("$2.price * $.n > $.total", "a[i].price > avg(a[..i-1].price)"),
            ("$2.price != $1.price + $.volume", "a[i].price != a[1].price + a[i-1].volume"),
            ("$.n < 3", "count(a[..i-1]) < 3"),
        )
    )
    return (cel, sase) if running is None else (f"{cel} AND {running[0]}", f"{sase} AND {running[1]}")


AGGREGATES = "$.n + 1 AS n, $.total + $2.price AS total, greatest($.high, $2.price) AS high"


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_fold_is_a_list_with_running_aggregates(random: Random) -> None:
    """What is not relevant is passed over in both; every step is a result in both. SASE+ has lists of one event, too."""
    first, step = conditions(random, ("$1", "a[1]"), []), fold_conditions(random)
    carried = "id, price, volume, 1 AS n, price AS total, price AS high"
    cel = f"""
        SELECT id_1 AS first, id AS last, n, total, high FROM
          (SELECT {carried} FROM FILTER {{{first[0]}}} (s)) FOLD {{{step[0]}, TRUE, {AGGREGATES}}} (SELECT id, price, volume FROM s)"""
    returned = "a[1].id AS first, a[a.LEN].id AS last, a.LEN AS n, sum(a[].price) AS total, max(a[].price) AS high"
    sase = f"PATTERN SEQ(s+ a[ ]) WHERE skip_till_next_match(a[ ]) {{ {first[1]} AND {step[1]} AND a.LEN >= 2 }} RETURN {returned}"
    found, twin = both(cel, sase, rows(random))
    assert found == twin


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_next_and_fold(random: Random) -> None:
    """An event, and a list behind it."""
    begin, link = conditions(random, ("$1", "b"), []), conditions(random, ("$2", "a[1]"), [("$1", "b")])
    step = fold_conditions(random)
    cel = f"""
        SELECT begin, id_1 AS first, id AS last, n, total, high FROM
          (SELECT id_1 AS begin, id, price, volume, 1 AS n, price AS total, price AS high FROM
             (SELECT id, price, volume FROM FILTER {{{begin[0]}}} (s)) NEXT {{{link[0]}}} (SELECT id, price, volume FROM s))
          FOLD {{{step[0]}, TRUE, {AGGREGATES}}} (SELECT id, price, volume FROM s)"""
    returned = "b.id AS begin, a[1].id AS first, a[a.LEN].id AS last, a.LEN AS n, sum(a[].price) AS total, max(a[].price) AS high"
    where = f"skip_till_next_match(b, a[ ]) {{ {begin[1]} AND {link[1]} AND {step[1]} AND a.LEN >= 2 }}"
    found, twin = both(cel, f"PATTERN SEQ(s b, s+ a[ ]) WHERE {where} RETURN {returned}", rows(random))
    assert found == twin


def test_they_find_something() -> None:
    random: Any = Random(1)
    cel = "SELECT id_1, id FROM (SELECT id, price FROM s) NEXT {$2.price > $1.price} (SELECT id, price FROM s)"
    sase = "PATTERN SEQ(s a, s b) WHERE skip_till_next_match(a, b) { b.price > a.price } RETURN a.id AS id_1, b.id AS id"
    found, twin = both(cel, sase, rows(random))
    assert found == twin and len(found) > 3
