"""Strings are forgotten when nothing refers to them, and what remains keeps its meaning."""

import random

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.session.heap.string_sweep import StringSweep

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("s", pa.string()), ("x", pa.int64())])
QUERIES = {
    "join by text": """PATTERN SEQ(Feed a, Feed b) WHERE skip_till_any_match(a, b) { b.s = a.s and b.x > a.x } WITHIN 40
        RETURN a.s AS s, a.ts AS first, b.ts AS last""",
    "order of texts": """PATTERN SEQ(Feed a, Feed+ b[], Feed c) WHERE skip_till_next_match(a, b[], c)
        { [k] and b[i].s > max(b[..i-1].s) and c.s < a.s and a.s <> 's5' } WITHIN 30 RETURN a.k AS k, b.LEN AS n, c.s AS s""",
    "negation": """PATTERN SEQ(~(Feed x), Feed a, ~(Feed y), Feed b, ~(Feed z)) WHERE skip_till_any_match(x, a, y, b, z)
        { a.s = b.s and x.s = a.s and y.s > a.s and z.s = a.s and z.x > 7 } WITHIN 20 RETURN a.s AS s, a.ts AS first, b.ts AS last""",
    "threads": """SELECT * FROM feed MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.s AS s, A.ts AS first, C.ts AS last
        PATTERN (A B* C) WITHIN 90 DEFINE B AS s <> A.s OR s IS NULL, C AS s = A.s AND x > A.x)""",
    "threads in order": """SELECT * FROM feed MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES MIN(B.s) AS s, A.ts AS first
        AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+ C) WITHIN 90 DEFINE B AS s > MAX(A.s) AND s >= MIN(s), C AS s < A.s)""",
    "nested": """PATTERN SEQ(Feed a, !(Feed n, n.s = a.s AND n.x > 8), AND(Feed b, Feed c, b.s < c.s),
        a.k = b.k = c.k AND a.x > 5 AND b.s = a.s)
        WITHIN 15 RETURN a.s AS s, b.ts AS first, c.ts AS last""",
    "whole events": "PATTERN SEQ(Feed a, Feed b) WHERE partition_contiguity(a, b) { [k] and b.x > 5 and a.s LIKE 's%' } WITHIN 30",
}
EVENTS = ("join by text", "order of texts", "negation", "whole events")


def batches(count=40, rows=30, seed=7):
    generator = random.Random(seed)
    for number in range(count):
        made = []
        for i in range(rows):
            at = number * rows + i
            text = None if generator.random() < 0.1 else f"s{generator.randrange(6)}" if generator.random() < 0.5 else f"t{at}"
            made.append({"ts": at, "k": f"k{generator.randrange(3) + number // 4}", "s": text, "x": generator.randrange(10)})
        yield pa.Table.from_pylist(made, SCHEMA)


@pytest.mark.parametrize(
    ("name", "strategy", "seed"),
    [
        *((name, None, 7) for name in QUERIES),
        *((name, "backtrack", 7) for name in EVENTS),
        *((name, None, seed) for name in ("threads", "threads in order", "nested") for seed in range(3)),
    ],
)
def test_matches_are_the_same_and_the_pool_stays_small(name, strategy, seed):
    query = ost.compile(QUERIES[name], {"feed": SCHEMA}, strategy=strategy)
    plain, swept = query.open(), query.open()
    swept.graph.texts[0] = StringSweep(first=32)
    found = 0
    for batch in batches(seed=seed):
        wanted = plain.push(batch)
        assert swept.push(batch).to_pylist() == wanted.to_pylist()
        found += wanted.num_rows
    assert found > 3
    assert len(swept.graph.inputs[0].pool) < 200 < len(plain.graph.inputs[0].pool)
    assert swept.close().to_pylist() == plain.close().to_pylist()


def test_a_snapshot_in_between():
    query = ost.compile(QUERIES["join by text"], {"feed": SCHEMA})
    plain, swept = query.open(), query.open()
    for batch in batches():
        swept.graph.texts[0] = StringSweep(first=32)
        assert swept.push(batch).to_pylist() == plain.push(batch).to_pylist()
        swept = query.open(snapshot=swept.snapshot())


def test_aggregates_over_all_matches():
    text = """PATTERN SEQ(Feed a, Feed b) WHERE skip_till_next_match(a, b) { [k] and b.s = a.s } WITHIN 30
        RETURN max(b.s) AS s, count(*) AS n OUTPUT aggregates"""
    query = ost.compile(text, {"feed": SCHEMA})
    plain, swept = query.open(), query.open()
    swept.graph.texts[0] = StringSweep(first=32)
    for batch in batches():
        plain.push(batch)
        swept.push(batch)
    assert len(swept.graph.inputs[0].pool) < 200 < len(plain.graph.inputs[0].pool)
    assert swept.close().to_pylist() == plain.close().to_pylist()


def test_long_strings_are_forgotten_by_their_bytes():
    query = ost.compile(QUERIES["join by text"], {"feed": SCHEMA})
    session = query.open()
    session.graph.texts[0] = StringSweep(first_bytes=1 << 20)
    for number in range(60):
        texts = [f"{number} {row} " + "x" * 10_000 for row in range(20)]
        session.push(pa.table({"ts": range(20 * number, 20 * number + 20), "k": ["k"] * 20, "s": texts, "x": range(20)}, schema=SCHEMA))
        assert session.graph.inputs[0].pool.bytes < 3 << 20
