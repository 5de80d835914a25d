"""What is joined is what TPStream means: however rows are cut, mixed up, or the session is saved in between, in both latencies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.tpstream_meaning import meaning
from tests.property.tpstream_texts import Written, written

from ostinato.base.errors import UnsupportedError
from ostinato.compiler import compile
from ostinato.hosts import embedded
from ostinato.program.intervals import IntervalPattern
from ostinato.query import Query
from ostinato.runtime.intervals import work_division
from ostinato.runtime.row_code import batch_tuning

pytestmark = pytest.mark.filterwarnings("ignore::ostinato.lang.streams.explosion.ExplosionWarning")
Rows = list[dict[str, Any]]
RANDOM = st.randoms(use_true_random=False)


@settings(max_examples=60, deadline=None)
@given(written(), RANDOM)
def test_in_time_and_saved_in_between(case: Written, random: Random) -> None:
    """Moments are cut anywhere; results come in the order that the language says, over all calls."""
    query = compiled(case)
    if query is None:
        return
    assert alike(found_in_time(query, case, random), expected(case))


@settings(max_examples=40, deadline=None)
@given(written(read=(("s",),)), RANDOM)
def test_mixed_up_within_the_lateness(case: Written, random: Random) -> None:
    """Rows wait until the watermark passes them; those of one time stay in their order."""
    query = compiled(case)
    if query is None:
        return
    table = case.tables["s"]
    session = query.open(lateness=None)
    outputs = [session.push("s", piece) for piece in _mixed_up(table, random)]
    outputs.append(session.close())
    assert alike(pa.concat_tables(outputs).to_pylist(), expected(case))


@settings(max_examples=40, deadline=None)
@given(written(most_rows=40))
def test_by_the_host(case: Written) -> None:
    if compiled(case) is None:
        return
    table = embedded.match(case.text, streams=case.tables, **case.options).to_arrow()
    assert alike(table.to_pylist(), expected(case))
    lazy = embedded.match(case.text, streams=case.tables, lazy=True, **case.options)
    assert sum(batch.num_rows for batch in lazy.batches()) == table.num_rows


@settings(max_examples=40, deadline=None)
@given(written(most_rows=40), RANDOM)
def test_quiet_rows_change_nothing(case: Written, random: Random) -> None:
    """Neither what is found, nor what is kept and was kept at the most."""
    query = compiled(case)
    if query is None:
        return
    pieces = list(in_time(query, case, random))
    plain = compile(case.text, {name: table.schema for name, table in case.tables.items()}, without=("quiet_rows",), **case.options)
    (found, metrics), (wanted, wanted_metrics) = (_run(one, pieces) for one in (query, plain))
    assert found.equals(wanted)
    assert metrics == wanted_metrics


@settings(max_examples=60, deadline=None)
@given(written(most_rows=40), st.integers(1, 3), st.sampled_from((1, 2, 4, 8)))
def test_threads_and_batches_change_nothing(case: Written, threads: int, size: int) -> None:
    """Wherever rows are cut into batches that are derived beside one another."""
    if compiled(case) is None:
        return
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {"SMALLEST": size, "LARGEST": size, "WORTH": 1e-12}.items():
            patched.setattr(batch_tuning, name, value)
        table = embedded.match(case.text, streams=case.tables, threads=threads, **case.options).to_arrow()
    assert alike(table.to_pylist(), expected(case))


@settings(max_examples=100, deadline=None)
@given(written(most_rows=40), RANDOM, st.integers(2, 4), st.sampled_from((0.0, 1e9)))
def test_matching_by_several_threads_changes_nothing(case: Written, random: Random, threads: int, ratio: float) -> None:
    """Neither what is found, and in which order, nor what is kept and counted; partitions are cut by time, or none is."""
    query = compiled(case)
    if query is None:
        return
    query = replace(query, pattern=replace(query.pattern, adapts=False)) if isinstance(query.pattern, IntervalPattern) else query
    pieces = list(in_time(query, case, random)) if random.random() < 0.5 else list(in_time(query, case, random, most=99))
    found, counted = _run(query, pieces)
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {"LEAST": 1, "WORTH": 1e-15, "COPYING": 0.0, "RATIO": ratio}.items():
            patched.setattr(work_division, name, value)
        divided, counted_again = _run(query, pieces, threads)
    assert divided.equals(found)
    assert counted_again == counted


def _run(query: Query, pieces: list[tuple[str, pa.Table]], threads: int = 1) -> tuple[pa.Table, dict[str, int]]:
    session = query.open(lateness=0, threads=threads)
    outputs = [session.push(stream, piece) for stream, piece in pieces]
    outputs.append(session.close())
    kept = ("situations", "situations_made", "peak_situations", "purged_situations", "partnerless_situations", "visited_situations")
    return pa.concat_tables(outputs), {name: session.metrics()[name] for name in kept}


def compiled(case: Written) -> Query | None:
    """None: it is refused, which is said of what is not evaluated."""
    try:
        return compile(case.text, {name: table.schema for name, table in case.tables.items()}, **case.options)
    except UnsupportedError as error:
        assert "not evaluated here" in error.message
        return None


def expected(case: Written) -> Rows:
    return meaning(case.text, case.tables, latency=case.latency)


def alike(found: Rows, wanted: Rows) -> bool:
    """In the same order; deviations are added up in another one."""
    return len(found) == len(wanted) and all(map(_same, found, wanted))


def _same(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return found.keys() == wanted.keys() and all(
        math.isclose(value, wanted[name], rel_tol=1e-9, abs_tol=1e-9)
        if isinstance(value, float) and isinstance(wanted[name], float)
        else value == wanted[name]
        for name, value in found.items()
    )


def _time(table: pa.Table) -> str:
    return "ts" if "ts" in table.column_names else "ended"


def found_in_time(query: Query, case: Written, random: Random) -> list[dict[str, Any]]:
    """By a session that is pushed pieces in order of time, and is sometimes saved and opened again."""
    session = query.open(lateness=0)
    outputs = []
    for stream, piece in in_time(query, case, random):
        outputs.append(session.push(stream, piece))
        if random.random() < 0.2:
            session = query.open(snapshot=session.snapshot())
    outputs.append(session.close())
    found: list[dict[str, Any]] = pa.concat_tables(outputs).to_pylist()
    return found


def in_time(query: Query, case: Written, random: Random, most: int = 4) -> Iterator[tuple[str, pa.Table]]:
    """The rows of all streams by time, then by stream, a few at a time."""
    read = {reads.stream for reads in query.program.inputs} | {s.stream for reads in query.program.inputs for s in reads.sources}
    places = [
        (time, number, row, name)
        for number, (name, table) in enumerate(case.tables.items())
        if name in read
        for row, time in enumerate(table.column(_time(table)).to_pylist())
    ]
    waiting = sorted(places, key=lambda place: place[:3])
    while waiting:
        name, size = waiting[0][3], random.randint(1, most)
        count = next((i for i, place in enumerate(waiting[:size]) if place[3] != name), min(size, len(waiting)))
        yield name, case.tables[name].take([row for _, _, row, _ in waiting[:count]])
        waiting = waiting[count:]


def _mixed_up(table: pa.Table, random: Random) -> Iterator[pa.Table]:
    """Pieces of one time each, in any order."""
    times = table.column("ts").to_pylist()
    groups = {time: [i for i, own in enumerate(times) if own == time] for time in times}
    chosen = list(groups.values())
    random.shuffle(chosen)
    return (table.take(rows) for rows in chosen)
