"""Sets of queries: each gives what it gives alone, however they share, come and go."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.session import idle_keys

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("p", pa.float64()), ("kind", pa.string())])
SHAPES = {
    "tree": "PATTERN SEQ(t a, !(t n, n.k = a.k AND n.p < 2), AND(t b, t c, b.p < c.p), a.k = b.k = c.k AND a.p > 7) WITHIN 9 "
    "RETURN a.ts AS a, b.ts AS b",
    "scan": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a, LAST(B.ts) AS b PATTERN (A B+) "
    "DEFINE A AS p > 6, B AS p < PREV(p))",
    "threads": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a, C.ts AS b PATTERN (A B* C) "
    "DEFINE A AS p > 7, C AS p > A.p)",
    "neighbours": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a PATTERN (A) DEFINE A AS p > NEXT(p) + 3)",
    "unmatched": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES CLASSIFIER() AS c ALL ROWS PER MATCH "
    "WITH UNMATCHED ROWS PATTERN (A B) DEFINE A AS p > 8, B AS p < 3)",
    "one key": "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS a, B.ts AS b PATTERN (A B) DEFINE A AS p > 8, B AS p > 5)",
    "anchor": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a PATTERN (^ A) DEFINE A AS p > 4)",
    "runs": "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and a.p > 6 and b.p > a.p } WITHIN 30 "
    "RETURN a.ts AS a, b.ts AS b",
    "compact": "PATTERN SEQ(t a, t+ b[], t c) WHERE skip_till_any_match(a, b[], c) { [k] and a.p > 6 and b[i].p < 4 and c.p > 6 } "
    "WITHIN 15 RETURN a.ts AS a, c.ts AS b",
    "negation": "PATTERN SEQ(t a, ~(t n), t c) WHERE skip_till_next_match(a, n, c) { [k] and a.p > 7 and n.p < 1 and c.p > 7 } WITHIN 15 "
    "RETURN a.ts AS a, c.ts AS b",
    "trailing": "PATTERN SEQ(t a, ~(t n)) WHERE skip_till_next_match(a, n) { [k] and a.p > 8 and n.p > 8 } WITHIN 6 RETURN a.ts AS a",
    "strict": "PATTERN SEQ(t a, t b) WHERE strict_contiguity(a, b) { [k] and a.p > 5 and b.p > 5 } WITHIN 15 RETURN a.ts AS a, b.ts AS b",
    "count": "PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) { [k] and a.p > 8 and b.p > 8 } WITHIN 9 OUTPUT count",
    "next": "SELECT k, q FROM (SELECT k, p FROM FILTER {p > 6} (t)) NEXT {$2.m = $1.k AND $2.q < $1.p} (SELECT k AS m, p AS q FROM t)",
    "fold": "SELECT k, n FROM FILTER {n > 2 AND DUR < 40} ((SELECT k, p, 1 AS n FROM FILTER {p > 6} (t)) "
    "FOLD {$2.k = $.k AND $2.p < $.p, TRUE, $.n + 1 AS n} (SELECT k, p FROM t))",
    "published": "SELECT k, q FROM (SELECT k, p FROM FILTER {p > 6} (t)) NEXT {$2.q < $1.p} (SELECT p AS q FROM t) PUBLISH falls; "
    "SELECT k, q, m FROM FILTER {DUR < 20} (falls) NEXT {$2.m != $1.k} (SELECT k AS m FROM FILTER {p > 8} (t))",
    "composed": "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and a.p > 6 and b.p > 6 } WITHIN 9 "
    "RETURN Pair(a.k AS k, b.p AS p); "
    "PATTERN SEQ(Pair x, Pair y) WHERE skip_till_next_match(x, y) { [k] } WITHIN 20 RETURN x.p AS first, y.p AS last",
}  # fmt: skip


def rows(count: int, seed: int, keys: int = 3, first: int = 0, nulls: bool = True) -> pa.Table:
    generator = np.random.default_rng(seed)
    names = [f"k{n}" for n in range(keys)] + ([None] if nulls else [])
    return pa.table(
        {
            "ts": np.arange(first, first + count),
            "k": [names[n] for n in generator.integers(0, len(names), count)],
            "p": generator.integers(0, 10, count).astype(float),
            "kind": [f"e{n}" for n in generator.integers(0, 3, count)],
        },
        schema=SCHEMA,
    )


def whole_set(names=tuple(SHAPES)) -> ost.QuerySet:
    queries = ost.QuerySet({"t": SCHEMA})
    for name in names:
        queries.add(name, SHAPES[name])
    return queries


def alone(text: str, batches, **options) -> pa.Table:
    session = ost.compile(text, {"t": SCHEMA}, **options).open()
    return pa.concat_tables([*(session.push("t", batch) for batch in batches), session.close()])


def same_rows(one: pa.Table, other: pa.Table) -> bool:
    """In any order: when time decides in a partition that gets no rows depends on how many partitions there are."""
    return one.schema == other.schema and sorted(map(repr, one.to_pylist())) == sorted(map(repr, other.to_pylist()))


def gathered(found) -> dict[str, pa.Table]:
    tables: dict[str, list[pa.Table]] = {}
    for name, table in itertools.chain.from_iterable(one.items() for one in found):
        assert table.num_rows > 0
        tables.setdefault(name, []).append(table)
    return {name: pa.concat_tables(listed) for name, listed in tables.items()}


@pytest.mark.parametrize(("size", "seed"), [(1, 0), (7, 1), (1000, 2)])
def test_each_query_gives_what_it_gives_alone(size, seed):
    table = rows(90, seed)
    batches = table.to_batches(max_chunksize=size)
    queries = whole_set()
    session = queries.open()
    found = []
    for number, batch in enumerate(batches):
        found.append(session.push("t", batch))
        if number % 8 == 7 or size > 1:
            session = queries.open(snapshot=session.snapshot())
    together = gathered([*found, session.close()])
    for name, text in SHAPES.items():
        expected = alone(text, batches)
        assert same_rows(together.get(name, expected.schema.empty_table()), expected), name


@pytest.mark.parametrize("seed", range(3))
def test_in_one_shot_too(seed):
    table = rows(200, seed)
    found = ost.match_all(whole_set(), t=table)
    for name, text in SHAPES.items():
        expected = (ost.sql if "MATCH_RECOGNIZE" in text else ost.match)(text, t=table).to_arrow()
        assert found.get(name, expected.schema.empty_table()).to_pylist() == expected.to_pylist(), name


def test_situations_come_in_the_order_of_detection():
    """Whatever partition they are of, and whatever else is in the set."""
    rows = pa.table({"ts": [0, 2, 4], "k": [1, 2, 2], "f": [True, True, True]})
    made = ost.QuerySet({"a": rows.schema})
    made.add("by key", "FROM a PARTITION BY k DEFINE A AS f PATTERN A WITHIN 100", language="tpstream")
    made.add("latest first", "SELECT * FROM a MATCH_RECOGNIZE (ORDER BY ts DESC MEASURES X.ts AS x PATTERN (X) DEFINE X AS f)")
    found = ost.match_all(made, a=rows)
    assert found["by key"]["detected_ts"].to_pylist() == [0, 2] and found["latest first"]["x"].to_pylist() == [4, 2, 0]


def test_rows_are_read_once_and_predicates_evaluated_once():
    queries = ost.QuerySet({"t": SCHEMA}, without=("shapes",))
    for number in range(100):  # 101 distinct predicates: more than a word of bits
        text = f"PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ [k] and a.p > {number} and b.p < 1 }} WITHIN 5 RETURN a.ts AS a"
        queries.add(f"q{number}", text)
    queries.add("sql", SHAPES["scan"])
    session = queries.open()
    (source,) = session.graph.inputs
    assert set(source.stored) == {"p", "ts"} and len(session.graph.operators) == 101
    (sharing,) = session.graph._sharing
    conditions = [op for op in sharing._code._evaluator._code.ops if op.op == "call" and op.params[0] in ("gt", "lt")]
    assert (
        len(conditions) == 102
    )  # 100 of the first events, `p < 1` of the second, `p < PREV(p)` of the row pattern, whose `p > 6` is one of these


def test_queries_come_and_go_and_the_others_do_not_notice():
    first, second, third = rows(60, 1), rows(60, 2, first=60), rows(60, 3, first=120)
    kept = ("scan", "threads", "runs", "compact", "negation", "unmatched")
    queries = whole_set((*kept, "strict"))
    session = queries.open()
    found = [session.push("t", first)]
    queries.remove("strict")
    queries.add("late", SHAPES["runs"])
    assert session.queries == (*kept, "late")
    found.append(session.push("t", second))
    session = queries.open(snapshot=session.snapshot())
    queries.remove("compact")
    queries.add("later", SHAPES["scan"])
    found += [session.push("t", third), session.close()]
    together = gathered(found)
    for name in kept:
        batches = [first, second] if name == "compact" else [first, second, third]
        query = ost.compile(SHAPES[name], {"t": SCHEMA}).open()
        parts = [query.push("t", batch) for batch in batches] + ([] if name == "compact" else [query.close()])
        assert same_rows(together[name], pa.concat_tables(parts)), name
    assert same_rows(together["late"], alone(SHAPES["runs"], [second, third]))
    assert same_rows(together["later"], alone(SHAPES["scan"], [third]))
    queries.add("strict", SHAPES["strict"])  # the session is closed: it is not disturbed


def test_removing_all_but_one_and_then_the_last():
    queries = whole_set(("scan", "runs"))
    session = queries.open()
    batches = [rows(40, 5), rows(40, 6, first=40)]
    found = [session.push("t", batches[0])]
    queries.remove("runs")
    found.append(session.push("t", batches[1]))
    assert gathered(found)["scan"].num_rows > 0
    queries.remove("scan")
    assert session.push("t", rows(10, 7, first=80)) == {}
    assert session.close() == {}


def test_a_set_that_differs_is_refused():
    snapshot = whole_set(("scan", "runs")).open().snapshot()
    with pytest.raises(ost.StateError, match=r"another set.*'runs'"):
        whole_set(("scan",)).open(snapshot=snapshot)
    other = ost.QuerySet({"t": SCHEMA})
    other.add("scan", SHAPES["scan"].replace("p > 6", "p > 5"))
    other.add("runs", SHAPES["runs"])
    with pytest.raises(ost.StateError, match=r"another set.*'scan'"):
        other.open(snapshot=snapshot)


def test_names_columns_and_streams_are_checked():
    queries = whole_set(("runs",))
    with pytest.raises(ost.OstinatoError, match="already"):
        queries.add("runs", SHAPES["scan"])
    with pytest.raises(ost.SchemaError, match=r"'shown' returns 'a' as struct.*'runs' as int64"):
        queries.add("shown", "PATTERN SEQ(t a, t c) WHERE skip_till_next_match(a, c) { a.p > c.p } WITHIN 5")
    with pytest.raises(ost.SchemaError, match="query_id"):
        queries.add("named", SHAPES["runs"].replace("a.ts AS a", "a.ts AS query_id"))
    with pytest.raises(ost.UnknownNameError, match="no query 'other'"):
        queries.remove("other")
    with pytest.raises(ost.OstinatoError, match="no name"):
        queries.add("a/b", SHAPES["scan"])
    with pytest.raises(ost.UnknownNameError, match="no stream `u`"):
        queries.open().push("u", rows(3, 1))
    assert queries.output_schema.names == ["query_id", "a", "b"]
    assert list(queries) == ["runs"] and "runs" in queries and len(queries) == 1


def test_streams_that_no_query_reads_and_sets_without_queries():
    queries = ost.QuerySet({"t": SCHEMA, "u": SCHEMA})
    session = queries.open()
    assert session.push("t", rows(5, 1)) == {} and session.close() == {}
    queries.add("scan", SHAPES["scan"])
    session = queries.open()
    assert session.push("u", rows(5, 1)) == {}
    assert session.push("t", rows(50, 1))["scan"].num_rows > 0


def test_disorder_lateness_and_metrics():
    table = rows(120, 4)
    shuffled = table.take(np.argsort(np.arange(120) + np.random.default_rng(3).integers(0, 8, 120), kind="stable"))
    queries = whole_set(("scan", "runs", "negation"))
    session = queries.open(lateness=10)
    together = gathered([*(session.push("t", batch) for batch in shuffled.to_batches(max_chunksize=9)), session.close()])
    for name in queries:
        assert same_rows(together[name], alone(SHAPES[name], [table])), name
    metrics = session.metrics()
    assert metrics["rows"] == 120 and metrics["late_rows"] == 0
    matches = dict(zip(*session.metrics(by="query").select(["query_id", "matches"]).to_pydict().values(), strict=True))
    assert matches == {name: together[name].num_rows for name in queries}
    assert metrics["matches"] >= sum(matches.values())


def test_idle_keys_are_forgotten_for_all(monkeypatch):
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 8)
    queries = whole_set(("runs", "compact", "negation"))
    session = queries.open()
    found = []
    for step in range(40):
        table = rows(30, step, first=30 * step)
        keys = pa.array([f"{step}-{n % 7}" for n in range(30)])
        found.append(session.push("t", table.set_column(1, "k", keys)))
    assert session.metrics()["keys"] < 60
    assert gathered(found)["runs"].num_rows > 0
