"""A query that fails is put aside with its error; the others return what they return alone."""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.test_query_set import SHAPES, alone, gathered, rows, same_rows, whole_set

import ostinato as ost

BIG = "4611686018427387904"  # 2^62: three times it leaves 64 bits
SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("v", pa.int64())])
GOOD = {
    "pairs": "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and a.v > 1 and b.v > 0 } WITHIN 6 RETURN a.ts AS a, b.ts AS b",
    "rows": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a PATTERN (A B+) DEFINE A AS v > 0, B AS v > 1)",
    "ahead": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a PATTERN (A) DEFINE A AS v < NEXT(v))",
    "absent": "PATTERN SEQ(t a, ~(t n)) WHERE skip_till_next_match(a, n) { [k] and a.v > 1 and n.v > 1 } WITHIN 4 RETURN a.ts AS a",
    "composed": "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and a.v > 0 and b.v > 0 } WITHIN 4 "
    "RETURN Pair(a.k AS k, b.v AS v); PATTERN SEQ(Pair x, Pair y) WHERE skip_till_next_match(x, y) { [k] } WITHIN 9 RETURN x.v AS first",
}  # fmt: skip
FAILING = {
    "row": f"PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ [k] and a.v * {BIG} > 0 and b.v > 0 }} WITHIN 6 RETURN a.ts AS a",
    "same row": f"PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ a.v * {BIG} > 0 and b.v > 0 }} WITHIN 6 RETURN a.ts AS a",
    "neighbour": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a PATTERN (A) "
    f"DEFINE A AS v < NEXT(v) * {BIG})",
    "measure": f"PATTERN SEQ(t a) WHERE skip_till_next_match(a) {{ a.v > 2 }} RETURN a.v * {BIG} AS big",
    "dynamic": f"PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) {{ [k] and (b.v - a.v) * {BIG} > 9 }} WITHIN 6 RETURN a.ts AS a",
    "first step": f"PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ [k] and a.v * {BIG} > 0 }} WITHIN 4 "
    "RETURN Bad(a.k AS k, b.v AS v); PATTERN SEQ(Bad x, Bad y) WHERE skip_till_next_match(x, y) { [k] } WITHIN 9 RETURN x.v AS first",
    "second step": "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and a.v > 0 and b.v > 0 } WITHIN 4 "
    f"RETURN Fine(a.k AS k, b.v AS v); PATTERN SEQ(Fine x, Fine y) WHERE skip_till_next_match(x, y) {{ [k] and x.v * {BIG} > 0 }} WITHIN 9 "
    "RETURN x.v AS first",
}  # fmt: skip


def events(count: int, seed: int, bad: int, keys: int = 3) -> pa.Table:
    """From row `bad` on there are values that the failing ones cannot compute."""
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 2, count)
    values[bad:] = generator.integers(0, 5, max(count - bad, 0))
    return pa.table({"ts": np.arange(count), "k": [f"k{n}" for n in generator.integers(0, keys, count)], "v": values}, schema=SCHEMA)


def made(names) -> ost.QuerySet:
    queries = ost.QuerySet({"t": SCHEMA})
    for name in names:
        queries.add(name, (GOOD | FAILING)[name])
    return queries


def drive(queries: ost.QuerySet, batches, restored: bool = False, **told) -> tuple[dict[str, pa.Table], set[str]]:
    session = queries.open(**told)
    found = []
    for batch in batches:
        found.append(session.push("t", batch))
        if restored:
            before = {query: str(error) for query, error in session.quarantined.items()}
            session = queries.open(snapshot=session.snapshot())
            assert {query: str(error) for query, error in session.quarantined.items()} == before
    found.append(session.close())
    return gathered(found), set(session.quarantined)


@lru_cache
def compiled(name: str) -> ost.Query:
    return ost.compile(GOOD.get(name) or FAILING[name], {"t": SCHEMA})


def apart(name: str, batches, **told) -> tuple[pa.Table, bool]:
    """What it returns alone, and whether it fails."""
    session = compiled(name).open(**told)
    found = [session.schema.empty_table()]
    try:
        for batch in batches:
            found.append(session.push("t", batch))
        found.append(session.close())
    except ost.DataError:
        return pa.concat_tables(found), True
    return pa.concat_tables(found), False


@settings(max_examples=12, deadline=None)
@given(
    names=st.permutations([*GOOD, *FAILING]).flatmap(lambda names: st.integers(2, len(names)).map(lambda count: names[:count])),
    seed=st.integers(0, 1000),
    bad=st.sampled_from([0, 10, 25, 40]),
    size=st.sampled_from([1, 7, 40]),
    restored=st.booleans(),
    lateness=st.sampled_from([0, 5]),
)
def test_the_others_return_what_they_return_alone(names, seed, bad, size, restored, lateness):
    batches = events(40, seed, bad).to_batches(max_chunksize=size)
    found, quarantined = drive(made(names), batches, restored, lateness=lateness)
    for name in names:
        expected, fails = apart(name, batches, lateness=lateness)
        assert (name in quarantined) == fails, name
        assert same_rows(found.get(name, expected.schema.empty_table()), expected), name


def test_its_error_is_there_and_what_it_found_in_that_call_is_not():
    queries = made(["pairs", "row", "measure"])
    session = queries.open()
    session.push("t", events(10, 1, bad=10))
    assert session.quarantined == {}
    found = session.push("t", pa.table({"ts": [20, 21, 22], "k": ["x"] * 3, "v": [1, 1, 3]}, schema=SCHEMA))
    assert set(session.quarantined) == {"row", "measure"} and not {"row", "measure"} & set(found)
    assert isinstance(session.quarantined["row"], ost.DataError) and "64 bits" in str(session.quarantined["row"])
    assert session.queries == ("pairs", "row", "measure")


def test_one_that_is_added_again_begins_anew():
    queries = made(["pairs", "row"])
    session = queries.open()
    batches = events(40, 3, bad=0).to_batches(max_chunksize=20)
    first = session.push("t", batches[0])
    assert set(session.quarantined) == {"row"}
    text = FAILING["row"].replace(BIG, "2")
    queries.remove("row")
    queries.add("row", text)
    assert session.quarantined == {}
    together = gathered([first, session.push("t", batches[1]), session.close()])
    expected = ost.compile(text, {"t": SCHEMA}).open()
    assert same_rows(together["row"], pa.concat_tables([expected.push("t", batches[1]), expected.close()]))
    assert same_rows(together["pairs"], apart("pairs", batches)[0])


def test_queries_come_and_go_while_one_is_in_quarantine():
    queries = made(["row", "pairs", "same row", "rows"])
    session = queries.open()
    batches = events(60, 4, bad=0).to_batches(max_chunksize=20)
    found = [session.push("t", batches[0])]
    queries.remove("rows")
    queries.add("absent", GOOD["absent"])
    assert set(session.quarantined) == {"row", "same row"}
    found.append(session.push("t", batches[1]))
    session = queries.open(snapshot=session.snapshot())
    queries.remove("row")
    assert set(session.quarantined) == {"same row"}
    together = gathered([*found, session.push("t", batches[2]), session.close()])
    assert same_rows(together["pairs"], apart("pairs", batches)[0])
    assert same_rows(together["absent"], apart("absent", batches[1:])[0])


def test_when_all_have_failed_rows_are_not_kept():
    session = made(["row", "same row"]).open()
    for batch in events(600, 5, bad=0).to_batches(max_chunksize=100):
        assert session.push("t", batch) == {}
    assert set(session.quarantined) == {"row", "same row"} and session.metrics()["retained_rows"] == 0


def test_a_budget_of_its_own():
    queries = whole_set(("runs", "scan"))
    exploding = "PATTERN SEQ(t+ a[], t b) WHERE skip_till_any_match(a[], b) { [k] and a[i].p >= 0 and b.p > a[1].p } RETURN b.ts AS b"
    with pytest.warns(ost.ExplosionWarning):
        queries.add("exploding", exploding)
    batches = rows(90, 1).to_batches(max_chunksize=30)
    session = queries.open(budget=ost.Budget(runs=1_000))
    together = gathered([*(session.push("t", batch) for batch in batches), session.close()])
    assert isinstance(session.quarantined["exploding"], ost.BudgetError)
    for name in ("runs", "scan"):
        assert same_rows(together[name], alone(SHAPES[name], batches)), name


def test_an_error_stops_the_session_where_that_is_asked_for():
    session = made(["pairs", "measure"]).open(on_error="raise")
    with pytest.raises(ost.DataError, match="64 bits"):
        session.push("t", events(30, 1, bad=0))
    with pytest.raises(ost.StateError, match="stopped at an error"):
        session.push("t", events(30, 1, bad=0))
    with pytest.raises(ost.OstinatoError, match="on_error='ignore' is unknown"):
        made(["pairs"]).open(on_error="ignore")


def test_data_that_no_query_can_read_is_still_refused():
    session = made(["pairs", "row"]).open()
    with pytest.raises(ost.SchemaError):
        session.push("t", pa.table({"ts": [1], "k": ["x"]}))
    assert session.quarantined == {}
    assert session.push("t", events(20, 1, bad=20)) is not None


def test_a_query_that_is_gone_refuses_no_rows():
    """Rows that wait are looked at when they come, for the queries that are there."""
    queries = made(["pairs", "row"])
    session = queries.open(lateness=5, on_error="raise")
    session.push("t", events(10, 1, bad=10))
    queries.remove("row")
    batches = [pa.table({"ts": [20 + n], "k": ["x"], "v": [3]}, schema=SCHEMA) for n in range(3)]
    found = [*(session.push("t", batch) for batch in batches), session.close()]
    assert sum(table.num_rows for table in itertools.chain.from_iterable(one.values() for one in found)) > 0


@pytest.mark.parametrize(
    "stored",
    [{"other": ["DataError", "m", None, None]}, {"row": ["DataError", 3, None, None]}, {"row": ["DataError"]}, ["row"], {"row": None}],
)
def test_forged_quarantines_are_refused(stored):
    session = made(["pairs", "row"]).open()
    session.graph.quarantine.state = lambda: stored
    with pytest.raises(ost.StateError, match="not valid"):
        made(["pairs", "row"]).open(snapshot=session.snapshot())


def many(count: int, **without) -> ost.QuerySet:
    """Queries of one shape, with arithmetic of doubles, and one that can fail."""
    queries = ost.QuerySet({"t": SCHEMA}, **without)
    for number in range(count):
        text = f"PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) {{ [k] and a.v * 1.5e0 > {number % 5}.5e0 and b.v > 1 }} WITHIN 6"
        queries.add(f"q{number}", f"{text} RETURN a.ts AS a, b.ts AS b")
    queries.add("failing", FAILING["row"])
    return queries


@pytest.mark.parametrize("lateness", [0, 5])
def test_beside_queries_of_one_shape(lateness):
    batches = events(80, 6, bad=30).to_batches(max_chunksize=20)
    found, quarantined = drive(many(12), batches, lateness=lateness)
    apart_found, apart_quarantined = drive(many(12, without=("shapes",)), batches, lateness=lateness)
    assert quarantined == apart_quarantined == {"failing"} and set(found) == set(apart_found)
    assert all(same_rows(found[name], apart_found[name]) for name in found)


def test_queries_that_can_fail_are_evaluated_by_themselves():
    queries = ost.QuerySet({"t": SCHEMA})
    for number in range(8):
        queries.add(f"q{number}", FAILING["dynamic"].replace("> 9", f"> {number}"))
        queries.add(f"m{number}", FAILING["measure"].replace("a.v > 2", f"a.v > {number}"))
    assert "evaluated as one" not in queries.explain() and "may fail" in queries.explain()
    session = queries.open()
    session.push("t", pa.table({"ts": [1], "k": ["x"], "v": [4]}, schema=SCHEMA))
    assert set(session.quarantined) == {"m0", "m1", "m2", "m3"}


def test_an_error_of_a_shape_is_one_of_the_call():
    """Its queries have one budget together."""
    queries = ost.QuerySet({"t": SCHEMA})
    for number in range(6):
        where = f"[k] and a.v > {number}.5e0 and b.v > a.v and c.v > b.v + 9e0"
        queries.add(
            f"q{number}", f"PATTERN SEQ(t a, t b, t c) WHERE skip_till_any_match(a, b, c) {{ {where} }} WITHIN 100 RETURN a.ts AS a"
        )
    session = queries.open(budget=ost.Budget(runs=20))
    with pytest.raises(ost.BudgetError):
        for batch in events(200, 7, bad=0).to_batches(max_chunksize=50):
            session.push("t", batch)
    with pytest.raises(ost.StateError, match="stopped at an error"):
        session.push("t", events(1, 7, bad=0))
