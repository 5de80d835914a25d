"""All evaluations of nested patterns find what the definition says: on random texts and streams, however the input is cut, saved or
delayed, by key and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from random import Random
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.neel_texts import KINDS, queries, texts

import ostinato as ost
from ostinato import reference
from ostinato.compiler import TREE_SWITCHES
from ostinato.plan.planner import TREE_EVALUATIONS
from ostinato.program.analysis.event_sequence import event_sequence
from ostinato.query import Query
from ostinato.runtime.tree.evaluation_choice import EvaluationChoice
from ostinato.runtime.tree.event_rates import all_alike

Rows = list[dict[str, Any]]
Found = list[tuple[Any, ...]]
Drawn = tuple[str, Rows]
NUMBER, TEXT = pa.int64(), pa.string()
SCHEMA = pa.schema([("x", NUMBER), ("y", NUMBER), ("s", TEXT), ("id", NUMBER), ("ts", NUMBER), ("kind", TEXT)])
cuts = st.lists(st.integers(0, 12), max_size=4)


def many(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None)


def compiled(text: str, strategy: str | None = None, by_key: bool = True, **options: Any) -> Query:
    without = () if by_key else ("equality_key",)
    return ost.compile(text, {"events": SCHEMA}, language="neel", type_by="kind", strategy=strategy, without=without, **options)


def all_plans(text: str) -> Iterator[Query]:
    for strategy in TREE_EVALUATIONS:
        query = compiled(text, strategy)
        yield query
        if query.pattern.reads.keys:
            yield compiled(text, strategy, by_key=False)


def expected(query: Query, rows: Rows) -> Found:
    """As the definition lists them: first and last time, and the ids of the events that are shown."""
    matches = zip(reference.evaluate(query.algebra, rows), reference.output(query.algebra, rows), strict=True)
    return [
        (
            *(rows[place]["ts"] for place in (match.positions[0], match.positions[-1])),
            *(tuple(rows[at]["id"] for at in shown) for shown in row.values()),
        )
        for match, row in matches
    ]


def of_table(table: pa.Table) -> Found:
    shown = [name for name in table.column_names if name not in ("match_id", "start_ts", "end_ts")]
    return [(row["start_ts"], row["end_ts"], *(_ids(row[name]) for name in shown)) for row in table.to_pylist()]


def _ids(value: Any) -> tuple[int, ...]:
    return tuple(event["id"] for event in (value if isinstance(value, list) else [] if value is None else [value]))


def batches(rows: Rows, places: Sequence[int]) -> list[pa.Table]:
    table = pa.Table.from_pylist(rows, SCHEMA)
    bounds = [0, *sorted(min(place, len(rows)) for place in places), len(rows)]
    return [table.slice(start, end - start) for start, end in zip(bounds, bounds[1:], strict=False)]


def found(query: Query, rows: Rows, places: Sequence[int] = (), restarts: bool = False, **opened: Any) -> Found:
    session = query.open(**opened)
    tables = []
    for batch in batches(rows, places):
        tables.append(session.push(batch))
        if restarts:
            session = query.open(snapshot=session.snapshot())
    return of_table(pa.concat_tables([*tables, session.close()]))


def check(text: str, rows: Rows, given_rows: Rows | None = None, places: Sequence[int] = (), restarts: bool = False, **opened: Any) -> None:
    wanted = sorted(expected(compiled(text), rows))
    for query in all_plans(text):
        matches = sorted(found(query, rows if given_rows is None else given_rows, places, restarts, **opened))
        assert matches == wanted, f"{query.pattern.evaluation}, keys {query.pattern.reads.key_names}: {text}"


@many(80)
@given(queries(bare=True))
def test_nested_to_any_depth(drawn: Drawn) -> None:
    check(*drawn)


@many(12)
@given(queries(depth=3, most=3, at_most=24, at_least=12, longest=20))
def test_longer_streams_and_windows(drawn: Drawn) -> None:
    check(*drawn, places=(6, 12, 18))


@many(25)
@given(queries(depth=3, lists=True, most=3, at_most=7))
def test_lists_with_running_conditions_and_aggregates(drawn: Drawn) -> None:
    check(*drawn)


@pytest.mark.parametrize("lists", [False, True])
@many(25)
@given(st.data())
def test_members_that_may_be_left_empty(lists: bool, data: st.DataObject) -> None:
    check(*data.draw(queries(depth=3, lists=lists, optional=True, bare=True, most=4, at_most=7)))


@many(40)
@given(queries(depth=3, most=4), st.sets(st.sampled_from(("equality_key", *TREE_SWITCHES)), min_size=1))
def test_parts_of_the_evaluation_can_be_left_out(drawn: Drawn, without: set[str]) -> None:
    text, rows = drawn
    query = ost.compile(text, {"events": SCHEMA}, language="neel", type_by="kind", without=tuple(sorted(without)))
    assert sorted(found(query, rows)) == sorted(expected(query, rows))


LONG_STREAMS = (
    "PATTERN SEQ(A a, B b, !AND(C c, D d, c.x = d.x = e.x), A e, a.x = b.x AND e.y = 1) WITHIN 40",
    "PATTERN SEQ(A a, AND(B b, C c, b.x = c.x), !SEQ(D d, B f, d.y = a.y), D e, a.x = b.x) WITHIN 30",
    "PATTERN AND(A a, SEQ(B b, !C c, D d, b.x = d.x), a.x = b.x) WITHIN 25",
)


@pytest.mark.parametrize("text", LONG_STREAMS)
@pytest.mark.parametrize("seed", range(3))
def test_orders_change_while_rows_come(text: str, seed: int) -> None:
    """Rates are measured, and other orders taken, in streams that are too long for the definition: all evaluations agree, and so do the
    parts that are left out."""
    random, rows, now = Random(seed), [], 0
    rates = random.choices((1, 3, 9), k=4)
    for number in range(1500):
        now += random.choice((0, 1, 1, 2))
        kind = random.choices("ABCD", rates[number // 750 * 2 :] + rates[: number // 750 * 2])[0]
        rows.append({"x": random.randrange(6), "y": random.randrange(4), "s": "p", "id": number, "ts": now, "kind": kind})
    wanted = sorted(found(compiled(text, "iterative", by_key=False), rows))
    assert wanted
    for without in ((), ("equality_chains",), ("join_order",), ("negation_cut",)):
        query = ost.compile(text, {"events": SCHEMA}, language="neel", type_by="kind", without=without)
        assert sorted(found(query, rows, places=(100, 400, 401, 1100))) == wanted, without


@pytest.mark.parametrize("restarts", [False, True])
@many(10)
@given(queries(depth=3, lists=True, bare=True, optional=True, most=4, at_most=8), cuts)
def test_any_split_into_batches(restarts: bool, drawn: Drawn, places: list[int]) -> None:
    check(*drawn, places=places, restarts=restarts)


@many(10)
@given(queries(depth=3, most=4, at_most=9), st.randoms(use_true_random=False))
def test_late_rows_wait_for_their_place(drawn: Drawn, random: Any) -> None:
    text, rows = drawn
    places = {row["ts"]: random.random() for row in rows}
    shuffled = sorted(rows, key=lambda row: places[row["ts"]])
    lateness = (rows[-1]["ts"] - rows[0]["ts"] if rows else 0) + 1
    check(text, rows, shuffled, places=range(1, len(rows)), lateness=lateness)


@many(10)
@given(queries(depth=3, most=4, windows="time", optional=True), cuts)
def test_the_watermark_decides(drawn: Drawn, places: list[int]) -> None:
    """Matches come out once; what it has decided is right, and nothing is left to wait for behind the last window."""
    text, rows = drawn
    wanted = sorted(expected(compiled(text), rows))
    for query in all_plans(text):
        session = query.open(lateness=None)
        tables = []
        for batch in batches(rows, places):
            tables.append(session.push(batch))
            if batch.num_rows:
                tables.append(session.advance(batch.column("ts")[0].as_py()))
        if rows:
            tables.append(session.advance(rows[-1]["ts"] + 1000))
            assert session.metrics()["waiting_matches"] == 0
        assert sorted(of_table(pa.concat_tables(tables) if tables else session.close())) == wanted, f"{query.pattern.evaluation}: {text}"
        assert session.close().num_rows == 0


@many(10)
@given(queries(depth=3, most=4, lists=True, optional=True, at_most=8), cuts)
def test_ordered_input_gives_matches_as_they_are_listed(drawn: Drawn, places: list[int]) -> None:
    text, rows = drawn
    wanted = expected(compiled(text), rows)
    for query in all_plans(text):
        assert found(query, rows, places, ordered=True) == wanted, f"{query.pattern.evaluation}: {text}"


@many(10)
@given(queries(depth=3, most=4, lists=True, bare=True, optional=True, at_most=8), cuts)
def test_counting_is_the_number_of_matches(drawn: Drawn, places: list[int]) -> None:
    text, rows = drawn
    wanted = len(expected(compiled(text), rows))
    for strategy in (None, *TREE_EVALUATIONS):
        session = compiled(text, strategy, output="count").open()
        for batch in batches(rows, places):
            session.push(batch)
        assert session.close().column("count").to_pylist() == [wanted], f"{strategy}: {text}"


FLAT = ("SEQ(A a, B b)", "SEQ(A a, SEQ(A b, B c), C d)", "SEQ(A a, B+ b[], C c)", "A a", "SEQ(A a, B b, C c, a.x = b.x = c.x)",
        "SEQ(A a, A b, a.y > 1 AND b.x <= 2)", "SEQ(A a, B? b, SEQ(C c), b.x > 1)", "SEQ(A? a, B* b[], b[i].y > 0)",
        "SEQ(A a, B? b, C c, a.x = b.x AND a.x = c.x)")  # fmt: skip
ALTERNATIVES = ("SEQ(A a, OR(B b, SEQ(C c, A d)), B* e[])", "OR(A a, SEQ(B b, C+ c[]))", "SEQ(OR(A a, B b), OR(A c, C d, D e), D? f)")
COMPARED = ("SEQ(SEQ(A+ a[]), A+ b[], a[i].x > a[i-1].x)", "SEQ(A a, B b, A c, a.x < c.x)")
LEFT_OUT = ("SEQ(A? a, A b, a.x < b.x)", "SEQ(A a, B? b, count(b) = a.y)")
counted_rows = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("ABCD"), st.sampled_from((None, 1, 2, 3)), st.integers(0, 3)), max_size=9
)
windows = st.sampled_from((" WITHIN 3", " WITHIN 5", " WITHIN 4 events", ""))


def few_events(drawn: Any) -> Rows:
    """Of (time since the one before, kind, x, y)."""
    times = [sum(gap for gap, *_ in drawn[: place + 1]) for place in range(len(drawn))]
    return [
        {"x": x, "y": y, "s": "p", "id": number, "ts": time, "kind": kind}
        for number, (time, (_, kind, x, y)) in enumerate(zip(times, drawn, strict=True))
    ]


@pytest.mark.parametrize("pattern", (*FLAT, *COMPARED, *LEFT_OUT))
@many(12)
@given(counted_rows, windows, cuts)
@pytest.mark.filterwarnings("ignore")
def test_sequences_are_counted_by_the_evaluations_of_event_patterns(pattern: str, drawn: Any, window: str, places: list[int]) -> None:
    """Simultaneous events follow each other in no order there either. Without WITHIN that is what is taken unasked."""
    text, rows = f"PATTERN {pattern}{window}", few_events(drawn)
    wanted = len(expected(compiled(text), rows))
    followed = pattern in FLAT and not ("b.x" in pattern and "a.x" in pattern and "events" in window)
    strategies = (None, *(("compact",) if followed else ()), *(("runs",) if followed or pattern in COMPARED else ()))
    chosen = compiled(text, output="count")
    assert chosen.pattern.evaluation == ("compact" if followed and not window else "joins")
    for query in (*(compiled(text, strategy, output="count") for strategy in strategies), compiled(text, output="count", by_key=False)):
        for restarts in (False, True):
            assert _counted(query, rows, places, restarts) == wanted, f"{query.pattern.evaluation}: {text}"


@pytest.mark.parametrize("pattern", (*FLAT, *ALTERNATIVES))
@many(12)
@given(counted_rows, windows, cuts)
@pytest.mark.filterwarnings("ignore")
def test_sequences_are_listed_by_compact(pattern: str, drawn: Any, window: str, places: list[int]) -> None:
    text, rows = f"PATTERN {pattern}{window}", few_events(drawn)
    if "b.x" in pattern and "a.x" in pattern and "events" in window:
        with pytest.raises(ost.UnsupportedError, match="look at other events"):
            compiled(text, "compact")
        return
    query = compiled(text, "compact")
    wanted = expected(query, rows)
    assert found(query, rows, places, ordered=True) == wanted
    for restarts in (False, True):
        assert sorted(found(query, rows, places, restarts)) == sorted(wanted), text


@pytest.mark.parametrize("output", ["all", "count"])
@pytest.mark.parametrize("pattern", (*FLAT, *ALTERNATIVES))
@many(12)
@given(counted_rows, windows, cuts, st.booleans())
@pytest.mark.filterwarnings("ignore")
def test_evaluations_take_turns(output: str, pattern: str, drawn: Any, window: str, places: list[int], restarts: bool) -> None:
    """Nothing is lost, and nothing found twice, when rates say something else after each batch."""
    text, rows = f"PATTERN {pattern}{window}", few_events(drawn)
    query = compiled(text, "joins", output=output)
    follows = not isinstance(event_sequence(query.pattern), str)
    evaluations = cycle(("compact", "joins", "compact", "iterative") if follows else ("joins", "iterative"))
    with mock.patch.object(EvaluationChoice, "reconsider", lambda choice, *_: take_turns(choice, next(evaluations))):
        if output == "count":
            assert _counted(query, rows, places, restarts) == len(expected(compiled(text), rows))
        else:
            assert sorted(found(query, rows, places, restarts)) == sorted(expected(query, rows))


def take_turns(choice: EvaluationChoice, evaluation: str) -> bool:
    changed = evaluation != choice.pattern.evaluation
    choice.pattern = replace(choice.pattern, evaluation=evaluation)
    choice.arrays = choice._written(choice.pattern, all_alike(choice.pattern))
    return changed


def _counted(query: Query, rows: Rows, places: Sequence[int], restarts: bool) -> int:
    session = query.open()
    for batch in batches(rows, places):
        session.push(batch)
        if restarts:
            session = query.open(snapshot=session.snapshot())
    return int(session.close().column("count")[0].as_py())


@many(8)
@given(queries(depth=3, most=4))
def test_a_stream_per_type(drawn: Drawn) -> None:
    """Streams are interleaved by time; of simultaneous events those of the first stream come first."""
    text, rows = drawn
    tables = {kind: pa.Table.from_pylist([row for row in rows if row["kind"] == kind], SCHEMA) for kind in KINDS}
    together = [row for row in sorted(rows, key=lambda row: (row["ts"], row["kind"])) if row["kind"] in KINDS]
    named = {kind for kind in KINDS if f"{kind} " in text or f"{kind})" in text}
    together = [row for row in together if row["kind"] in named]
    wanted = expected(compiled(text), together)
    streams = {kind: tables[kind] for kind in sorted(named)}
    assert of_table(ost.match(text, language="neel", **streams).to_arrow()) == wanted, text


@many(10)
@given(texts(depth=3, most=3, longest=30), st.integers(0, 1000))
def test_evaluations_agree_on_streams_that_outgrow_their_room(text: str, seed: int) -> None:
    """Caches, links and stacks grow, and give up what the window has left behind; the definition would take too long here."""
    random = Random(seed)
    rows, time = [], 0
    for number in range(600):
        time += random.choice((0, 1, 1, 2))
        x, y = (random.choice((None, *range(12))) for _ in "xy")
        rows.append({"id": number, "ts": time, "kind": random.choice("ABCDZZ"), "x": x, "y": y, "s": random.choice("pq")})
    counts = {}
    for strategy in TREE_EVALUATIONS:
        session = compiled(text, strategy, output="count").open()
        for batch in batches(rows, range(50, 600, 50)):
            session.push(batch)
        counts[strategy] = session.close().column("count").to_pylist()
    assert len({*map(tuple, counts.values())}) == 1, (text, counts)
