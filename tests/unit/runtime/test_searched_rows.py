"""Row patterns whose conditions compare a row with values fixed before are searched: what is visited grows with the rows, not with their
square, and what is found is what a scan finds."""

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato import reference
from ostinato.testing.compare_rows import difference

CLAUSE = (
    "SELECT * FROM t MATCH_RECOGNIZE ({keys} ORDER BY ts {measures} AFTER MATCH SKIP {skip} PATTERN ({pattern}) {within} DEFINE {define})"
)
SCHEMA = pa.schema({"ts": pa.int64(), "k": pa.int64(), "v": pa.float64(), "n": pa.int64()})


def query(define, pattern="A B+ C", skip="PAST LAST ROW", within="", keys="", without=()):
    measures = "MEASURES FIRST(ts) AS a, LAST(ts) AS c, COUNT(*) AS rows_, LAST(CLASSIFIER()) AS last_"
    text = CLAUSE.format(keys=keys, measures=measures, skip=skip, pattern=pattern, within=within, define=define)
    return ost.compile(text, {"t": SCHEMA}, without=without)


def table(v, n=None, k=None):
    rows = len(v)
    columns = [np.arange(rows), np.zeros(rows, int) if k is None else k, v, np.zeros(rows, int) if n is None else n]
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def visited(compiled, rows):
    session = compiled.open()
    session.push(rows)
    session.close()
    counted = session.metrics()
    return counted["thread_steps"] + counted.get("searched", 0)


@pytest.mark.parametrize(
    ("define", "pattern"),
    [
        ("C AS C.v > 2 * A.v", "A B+ C"),
        ("C AS C.v > 2 * A.v", "A B*? C"),
        ("C AS 2 * A.v < C.v AND n = 0", "A B+ C"),
        ("C AS C.v >= A.v + 1 AND C.v <= A.v + 2", "A B+ C"),
        ("C AS C.v BETWEEN A.v + 1 AND A.v + 2", "A B+ C"),
        ("B AS B.v < A.v + 1, C AS C.v > 2 * A.v", "A B+ C"),
        ("B AS B.v BETWEEN A.v - 1 AND A.v + 1, C AS C.v > 2 * A.v", "A B+ C"),
        ("B AS n = 0, C AS C.v > 2 * A.v", "A B* C"),
        ("C AS C.v - A.v > 1", "A B+ C"),
        ("C AS C.v / A.v > 2", "A B+ C"),
        ("C AS (C.v - A.v) / A.v > 1 AND n = 0", "A B* C"),
        ("C AS ABS(C.v - A.v - 1) < 0.09", "A B* C"),
        ("C AS C.v > 2 * A.v, E AS E.v < A.v - 1", "A (B* C D* E)"),
    ],
)
def test_starts_in_vain_are_given_up(define, pattern):
    rng = np.random.default_rng(7)
    counts = [visited(query(define, pattern), table(1 + 0.9 * rng.random(size))) / size for size in (2_000, 16_000)]
    assert counts[1] < min(200, 2 * counts[0]), counts


@pytest.mark.parametrize("define", ["C AS C.n = A.n", "C AS C.n = -A.n", "C AS C.n = A.n AND C.v > A.v"])
def test_equal_values_are_found_by_their_hash(define):
    rng = np.random.default_rng(3)
    counts = [visited(query(define, "A B* C"), table(np.zeros(size), 1 + rng.permutation(size))) / size for size in (2_000, 16_000)]
    assert counts[1] < 8, counts


def test_many_rows_of_one_value_are_each_passed_once():
    rows = table(np.zeros(8_000), np.arange(8_000) % 3)
    assert visited(query("C AS C.n = A.n AND C.v > 0", "A B* C", within="WITHIN 200"), rows) / 8_000 < 1_000
    assert visited(query("C AS C.n = A.n", "A B* C"), rows) / 8_000 < 10


def test_small_batches_do_not_build_the_index_again():
    rng = np.random.default_rng(7)
    rows = table(1 + 0.9 * rng.random(6_000))
    session = query("C AS C.v > 2 * A.v", within="WITHIN 3000").open()
    for at in range(0, 6_000, 3):
        session.push(rows.slice(at, 3))
    session.close()
    counted = session.metrics()
    assert counted["thread_steps"] + counted["searched"] < 200 * 6_000


@pytest.mark.parametrize(
    ("define", "pattern"),
    [
        ("C AS C.v BETWEEN A.v + 0.1 AND A.v + 0.1005", "A B* C"),
        ("C AS ABS(C.v - A.v) < 0.0004", "A B+? C"),
        ("C AS C.n BETWEEN A.n + 1 AND A.n + 2", "A B* C"),
        ("C AS C.n - A.n BETWEEN 1 AND 2 AND k = 1", "A B+? C"),
        ("C AS C.n = A.n", "A B B*? C"),
        ("C AS C.v - A.v = 0.25", "A B* C"),
    ],
)
@pytest.mark.parametrize("skip", ["PAST LAST ROW", "TO NEXT ROW"])
def test_rows_far_away_are_those_of_a_scan(define, pattern, skip):
    """Blocks have been put in order, links are followed, and the index has grown in between."""
    rng = np.random.default_rng(5)
    size = 3_000
    v = rng.normal(0, 1, size)
    v[rng.integers(0, size, 40)] = np.nan
    rows = table(v, rng.integers(0, 2**20, size), rng.integers(0, 2, size))
    rows = rows.set_column(3, SCHEMA.field("n"), pa.array(rows["n"].to_numpy(), mask=rng.random(size) < 0.02))
    compiled = [query(define, pattern, skip=skip, within="WITHIN 2500", without=without) for without in ((), ("search",))]
    results = []
    for one, pieces in ((compiled[0], (size,)), (compiled[0], (700, 1, 900, 1399)), (compiled[1], (size,))):
        session, found, at = one.open(ordered=True), [], 0
        for piece in pieces:
            found += session.push(rows.slice(at, piece)).to_pylist()
            at += piece
        results.append(found + session.close().to_pylist())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("pattern", ["A B+ C", "(A B{20,})+ C", "B+ A B+ C", "A? B+ C", "B{30,} (A | C) B* D"])
def test_rows_of_long_matches_are_found_from_either_end(pattern):
    """One row for A in each match, several, and none."""
    measures = "MEASURES A.ts AS a, FIRST(A.ts) AS f, LAST(A.ts, 0) AS l, PREV(A.ts) AS p, NEXT(A.ts) AS x, C.ts AS c, COUNT(A.ts) AS many"
    define = "A AS n = 1, B AS n = 0, C AS n = 2, D AS n = 2" if "D" in pattern else "A AS n = 1, B AS n = 0, C AS n = 2"
    text = CLAUSE.format(keys="", measures=measures, skip="PAST LAST ROW", pattern=pattern, within="", define=define)
    n = np.zeros(600, int)
    n[[3, 40, 75, 200, 270, 350, 480]] = 1
    n[[120, 255, 400, 530]] = 2
    rows = table(np.zeros(600), n)
    compiled = ost.compile(text, {"t": SCHEMA})
    session = compiled.open(ordered=True)
    found = session.push(rows).to_pylist() + session.close().to_pylist()
    assert found and not difference(reference.output(compiled.algebra, rows.to_pylist()), found)
