"""Whatever visits more rows than a constant number per row of the input and of the matches is warned about: random conditions over random
patterns, over rows that make searches long."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost

SCHEMA = pa.schema({"ts": pa.int64(), "v": pa.float64(), "n": pa.int64()})
PATTERNS = (
    "A B* C",
    "A B+? C",
    "A B* C D",
    "A B* C D?",
    "A B* (C | D)",
    "A B* C D* E",
    "(A B)+ C",
    "A (B C)+ D",
    "A (B+ C)+",
    "B* C A",
    "A B{2,} C{1,2}",
    "A B* C $",
)
OF_A = (
    "{x}.v > {y}.v + {c}",
    "{x}.v < {y}.v - {c}",
    "{x}.v BETWEEN {y}.v + {c} AND {y}.v + {c} + 1e-9",
    "ABS({x}.v - {y}.v - {c}) < 1e-9",
    "ABS({x}.v - {y}.v) > {c}",
    "{x}.v <> {y}.v",
    "{x}.v <> {x}.v + {y}.v - {y}.v",
    "{x}.n = {y}.n + 1000",
    "{x}.v - {y}.v = {c}",
    "{x}.v > {y}.v + {c} AND {x}.n < {y}.n",
    "{x}.v > {y}.v OR {x}.n > {y}.n + 1000",
    "{x}.v > {y}.v + {c} AND {x}.n > 3",
    "{x}.n > 4",
    "{x}.v > PREV({x}.v)",
)
OF_LOOPS = ("AVG({y}.v) > {c}", "SUM({y}.n) > 1000000", "{x}.v > LAST({y}.v) + {c}", "{x}.v > FIRST({y}.v) + {c}", "COUNT({y}.v) > 100000")


def random_query(seed):
    rng = random.Random(seed)
    pattern = rng.choice(PATTERNS)
    names = sorted({name for name in pattern if name.isalpha()})
    define = []
    for name in names[1:]:
        before = names[rng.randrange(names.index(name))]
        form = rng.choice(OF_A if rng.random() < 0.75 else OF_LOOPS)
        if rng.random() < 0.8 or name == names[-1]:
            define.append(f"{name} AS {form.format(x=name, y=before if rng.random() < 0.3 else 'A', c=rng.choice((0, 1, 1000)))}")
    skip = rng.choice(("PAST LAST ROW", "TO NEXT ROW"))
    return (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS length "
        f"AFTER MATCH SKIP {skip} PATTERN ({pattern}) DEFINE {', '.join(define)})"
    )


def shapes(count):
    """Values that jump about, all the same, rising, falling, and with one that is greater at the end."""
    rng = np.random.default_rng(count)
    steps, last = np.arange(count), np.zeros(count)
    last[-1] = 5000
    for v in (rng.normal(0, 1, count), np.zeros(count), steps / 7, -steps / 7, last):
        yield pa.table({"ts": steps, "v": v, "n": rng.integers(0, 9, count)}, schema=SCHEMA)


def visits(query, table):
    """Per row of the input and of the matches."""
    session = query.open(ordered=True)
    lengths = [*session.push(table).to_pydict()["length"], *session.close().to_pydict()["length"]]
    counted = session.metrics()
    return (counted.get("thread_steps", 0) + counted.get("searched", 0)) / (len(table) + sum(lengths))


def compiled(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ost.QuadraticWarning)
        return ost.compile(text, {"t": SCHEMA})


@pytest.mark.parametrize("part", range(6))
def test_what_is_not_warned_about_visits_each_row_a_few_times(part):
    silent = 0
    for seed in range(part * 25, part * 25 + 25):
        text = random_query(seed)
        query = compiled(text)
        if query.warning is None and query.pattern.evaluation == "threads":
            silent += 1
            for few, many in zip(shapes(500), shapes(3_000), strict=True):
                assert visits(query, many) < 2 * visits(query, few) + 40, text
    assert silent > 2


@pytest.mark.parametrize(
    "define", ["C AS C.v BETWEEN A.v AND A.v + 1e-9", "C AS ABS(C.v - A.v) < 1e-9", "C AS C.v - A.v = 0.5 AND C.v > A.v"]
)
def test_a_band_is_found_among_values_that_jump_about(define):
    text = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS length PATTERN (A B+ C) DEFINE {define})"
    query = compiled(text)
    assert query.warning is None
    many, more = (visits(query, next(shapes(count))) for count in (5_000, 40_000))
    assert more < 400 and more < 1.5 * many
