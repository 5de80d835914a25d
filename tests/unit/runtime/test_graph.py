"""Several queries in one session: what one returns are rows of the next, however rows come, across snapshots, and as if each query were
run over the whole result of the one before it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program.program import Result
from ostinato.runtime.limits.budget import Budget

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("s", pa.string()), ("v", pa.int64())])
RISE = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { [k] and b.v > a.v } WITHIN 6 RETURN P(a.k, b.v, a.s)"
QUIET = "PATTERN SEQ(t a, ~(t x)) WHERE skip_till_any_match(a, x) { [k] and a.v > 3 and x.v > a.v } WITHIN 5 RETURN P(a.k, a.v, a.s)"
FALL = (
    "PATTERN SEQ(t a, t b, ~(t x)) WHERE skip_till_next_match(a, b, x) { [k] and b.v < a.v and x.v = 0 } WITHIN 4 RETURN Q(a.k, b.v, a.s)"
)
PAIRS = """PATTERN SEQ(P x, P y) WHERE skip_till_any_match(x, y) { [s] and y.v > x.v } WITHIN 9
    RETURN x.k AS first, y.k AS second, x.v AS low, y.v AS high, y.ts AS at"""
TEXTS = {
    "a chain": (RISE, PAIRS),
    "decided by time": (QUIET, PAIRS),
    "at the time of the first event": (RISE.replace("a.s)", "a.s, a.ts)"), PAIRS),
    "matches apart": (RISE.replace("a.s)", "a.s) OUTPUT nonoverlapping"), PAIRS.replace("WITHIN 9", "WITHIN 30")),
    "without a window": (RISE.replace("WITHIN 6", "").replace("a.s)", "a.s, a.ts)"), PAIRS.replace("WITHIN 9", "")),
    "beside a stream": (
        RISE,
        "PATTERN SEQ(P x, t y) WHERE skip_till_any_match(x, y) { [k] and y.v < x.v } WITHIN 9 RETURN x.v AS low, y.v AS high, y.ts AS at",
    ),
    "forbidden beside a stream": (
        QUIET,
        "PATTERN SEQ(t y, ~(P x)) WHERE skip_till_any_match(y, x) { [k] and y.v > 1 and x.v > y.v } WITHIN 4 RETURN y.v AS v, y.ts AS at",
    ),
    "one input for two": (
        RISE,
        FALL,
        "PATTERN SEQ(P x, Q y) WHERE skip_till_any_match(x, y) { [s] } WITHIN 12 RETURN x.v AS low, y.v AS high, y.ts AS at",
    ),
    "three in a chain": (
        RISE,
        "PATTERN SEQ(P x, ~(P n)) WHERE skip_till_any_match(x, n) { [s] and n.v > x.v } WITHIN 3 RETURN Q(x.k, x.v, x.s)",
        "PATTERN SEQ(Q x, Q y, t z) WHERE skip_till_any_match(x, y, z) { [k] } WITHIN 15 RETURN x.v AS a, y.v AS b, z.v AS c, z.ts AS at",
    ),
}
AT_ONCE = [name for name, texts in TEXTS.items() if not any("~(" in text for text in texts[:-1])]


def rows(count: int, seed: int, steps: tuple[int, ...] = (1, 1, 2, 4)) -> pa.Table:
    generator, time, made = random.Random(seed), 0, []
    for _ in range(count):
        time += generator.choice(steps)
        key = None if generator.random() < 0.05 else generator.randrange(5)
        made.append({"ts": time, "k": key, "s": generator.choice("xy"), "v": generator.randrange(8)})
    return pa.Table.from_pylist(made, SCHEMA)


def compiled(name: str) -> ost.Query:
    return ost.compile("; ".join(TEXTS[name]), {"t": SCHEMA})


def one_by_one(name: str, table: pa.Table) -> list[str]:
    """Each query over the whole result of those before it, by itself."""
    streams = {"t": table}
    for text in TEXTS[name]:
        read = {stream: given for stream, given in streams.items() if f"({stream} " in text or f", {stream} " in text}
        found = ost.match(text, streams=read).to_arrow()
        streams[text.partition("RETURN ")[2][0]] = found
    return listed(found)


def listed(*tables: pa.Table) -> list[str]:
    return sorted(str(row) for table in tables for row in table.to_pylist())


def pieces(table: pa.Table, generator: random.Random) -> Iterator[pa.Table]:
    at = 0
    while at < table.num_rows:
        size = generator.choice([1, 1, 2, 3, 7, 25])
        yield table.slice(at, size)
        at += size


def disordered(table: pa.Table, most: int, generator: random.Random) -> pa.Table:
    """No row comes later than `most` behind another; those of one time stay as they are."""
    times = table["ts"].to_pylist()
    moved = {time: time + generator.uniform(0, 0.95 * most) for time in dict.fromkeys(times)}
    return table.take(pa.array(sorted(range(len(times)), key=lambda row: (moved[times[row]], row))))


def pushed(query: ost.Query, table: pa.Table, generator: random.Random, stop: bool, **told: object) -> list[str]:
    """`stop`: saved and restored after every push. With lateness=None the watermark follows now and then."""
    session, found, left = query.open(**told), [], table["ts"].to_pylist()
    for piece in pieces(table, generator):
        found.append(session.push("T", piece) if generator.random() < 0.5 else session.push(piece))
        left = left[piece.num_rows :]
        if told.get("lateness", 0) is None and left and generator.random() < 0.4:
            found.append(session.advance(min(left)))
        if stop:
            session = query.open(snapshot=session.snapshot())
    found.append(session.close())
    assert session.metrics()["late_rows"] == 0
    return listed(*found)


@pytest.mark.parametrize("name", TEXTS)
def test_at_once_it_is_query_by_query(name: str) -> None:
    table = rows(200, 1)
    wanted = one_by_one(name, table)
    assert len(wanted) > 3
    text = "; ".join(TEXTS[name])
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(200)))
    assert listed(ost.match(text, t=mixed).to_arrow()) == wanted
    assert listed(*ost.match(text, t=table, lazy=True).batches()) == wanted
    assert listed(ost.match(text, t=disordered(table, 5, random.Random(1)), lateness=5).to_arrow()) == wanted


@pytest.mark.parametrize("stop", [False, True], ids=["", "saved and restored"])
@pytest.mark.parametrize("name", TEXTS)
def test_in_any_split(name: str, stop: bool) -> None:
    table, generator = rows(90, 2), random.Random(f"{name} {stop}")
    query, wanted = compiled(name), one_by_one(name, table)
    assert pushed(query, table, generator, stop) == wanted
    assert pushed(query, table, generator, stop, ordered=True) == wanted


@pytest.mark.parametrize("stop", [False, True], ids=["", "saved and restored"])
@pytest.mark.parametrize("name", TEXTS)
def test_rows_out_of_order(name: str, stop: bool) -> None:
    table, generator = rows(90, 3), random.Random(f"{name} {stop}")
    query, wanted = compiled(name), one_by_one(name, table)
    assert pushed(query, disordered(table, 6, generator), generator, stop, lateness=6) == wanted
    assert pushed(query, disordered(table, 20, generator), generator, stop, lateness=None) == wanted


@pytest.mark.parametrize("name", AT_ONCE)
def test_simultaneous_rows(name: str) -> None:
    """Events that are decided at once stand in the order of the rows that completed them."""
    table, generator = rows(90, 4, steps=(0, 0, 1, 2)), random.Random(name)
    query, wanted = compiled(name), one_by_one(name, table)
    assert listed(ost.match("; ".join(TEXTS[name]), t=table).to_arrow()) == wanted
    for told in ({}, {"ordered": True}, {"lateness": 6}):
        given = disordered(table, 6, generator) if "lateness" in told else table
        assert pushed(query, given, generator, True, **told) == wanted


@pytest.mark.parametrize("name", TEXTS)
def test_in_parts(name: str) -> None:
    table = rows(90, 5)
    session = compiled(name).open(lateness=2)
    found = [part for piece in pieces(table, random.Random(name)) for part in session.push_in_parts(piece)]
    found += list(session.advance_in_parts(table["ts"][-1].as_py())) + list(session.close_in_parts())
    assert listed(*found) == one_by_one(name, table)
    with pytest.raises(ost.StateError, match="the session is closed"):
        session.push(table)


def test_events_are_handed_on_as_soon_as_none_before_them_can_come() -> None:
    session = compiled("a chain").open()
    up = pa.table({"ts": [1, 2, 3, 4], "k": [1, 1, 2, 2], "s": ["x"] * 4, "v": [1, 2, 1, 5]}, schema=SCHEMA)
    assert session.push(up).num_rows == 0
    assert session.metrics()["waiting_rows"] == 1  # that of time 4: another may come
    assert session.push(pa.table({"ts": [5], "k": [9], "s": ["x"], "v": [0]}, schema=SCHEMA))["at"].to_pylist() == [4]
    assert session.close().num_rows == 0


def test_without_a_window_readers_wait_until_the_end() -> None:
    """An event may then be as old as anything."""
    table = rows(90, 6)
    session = compiled("without a window").open()
    assert sum(session.push(piece).num_rows for piece in pieces(table, random.Random(6))) == 0
    assert session.advance(table["ts"][-1].as_py() + 100).num_rows == 0
    assert session.metrics()["waiting_rows"] > 10
    assert listed(session.close()) == one_by_one("without a window", table)


@pytest.mark.parametrize("told", [{}, {"ordered": True}, {"lateness": 1}], ids=["in order", "ordered", "late"])
def test_time_passes_for_partitions_that_get_no_rows(told: dict) -> None:
    """Their events come when they are looked at again: nobody has been told before that they are through."""
    keys = list(range(40))
    table = pa.table({"ts": keys, "k": keys, "s": ["x"] * 40, "v": [4 + key % 4 for key in keys]}, schema=SCHEMA)
    more = pa.table({"ts": range(40, 100), "k": [99] * 60, "s": ["y"] * 60, "v": [0] * 60}, schema=SCHEMA)
    session = compiled("decided by time").open(**told)
    found = [session.push(table)] + [session.push(more.slice(at, 1)) for at in range(60)]
    if told != {"ordered": True}:
        assert sum(part.num_rows for part in found) > 5
    assert listed(*found, session.close()) == one_by_one("decided by time", pa.concat_tables([table, more]))


def test_the_one_stream_goes_to_all_that_read_it() -> None:
    query = compiled("beside a stream")
    assert [[source.operator for source in reads.sources] for reads in query.program.inputs] == [[], [-1, 0]]
    table = rows(60, 7)
    wanted = one_by_one("beside a stream", table)
    for name in (None, "t", "T"):
        session = query.open()
        found = session.push(table) if name is None else session.push(name, table)
        assert listed(found, session.close()) == wanted != []
        assert session.metrics()["matches"] == len(wanted) + len(ost.match(RISE, t=table))


def test_several_streams() -> None:
    other = pa.schema([("at", pa.int32()), ("k", pa.int64()), ("w", pa.float64())])
    text = f"{RISE}; PATTERN SEQ(P x, u y) WHERE skip_till_any_match(x, y) {{ [k] and y.w < x.v }} WITHIN 9 RETURN x.v AS v, y.w AS w, y.at"
    table, generator = rows(80, 8), random.Random(8)
    beside = pa.Table.from_pylist([{"at": 2 * i, "k": generator.randrange(5), "w": generator.randrange(9) / 2} for i in range(80)], other)
    query = ost.compile(text, {"t": SCHEMA, "u": other}, time={"u": "at"})
    wanted = listed(ost.match(text, t=table, u=beside, time={"u": "at"}).to_arrow())
    rises = ost.match(RISE, t=table).to_arrow()
    assert listed(ost.match(text.partition("; ")[2], P=rises, u=beside, time={"u": "at"}).to_arrow()) == wanted != []
    for ahead in (1, 10, 80):  # one stream may run ahead of the other
        session, found = query.open(), []
        for at in range(0, 80, ahead):
            found += [session.push("u", beside.slice(at, ahead)), session.push("t", table.slice(at, ahead))]
            session = query.open(snapshot=session.snapshot())
        assert sum(part.num_rows for part in found) > 0 or ahead == 80
        assert listed(*found, session.close()) == wanted
    with pytest.raises(ost.UnknownNameError, match="reads the streams t, u"):
        query.open().push(table)
    with pytest.raises(ost.UnknownNameError, match="reads no stream `P`"):
        query.open().push("P", rises)


def test_times_of_two_units() -> None:
    micros, nanos = (pa.schema([("ts", pa.timestamp(unit)), ("k", pa.int64())]) for unit in ("us", "ns"))
    text = (
        "PATTERN SEQ(t a, t b) WHERE [k] WITHIN 5 seconds RETURN P(a.k); PATTERN SEQ(P x, u y) WHERE [k] WITHIN 9 seconds RETURN x.ts, y.k"
    )
    query = ost.compile(text, {"t": micros, "u": nanos})
    second = 1_000_000
    start = 1_700_000_000 * second
    table = pa.table({"ts": [start, start + second, start + 20 * second], "k": [1, 1, 2]}, schema=micros)
    beside = pa.table({"ts": [(start + i * second) * 1000 + 1 for i in (2, 30)], "k": [1, 3]}, schema=nanos)
    session = query.open()
    found = [session.push("t", table), session.push("u", beside)]
    assert sum(part.num_rows for part in found) == 1  # not at the end alone
    assert listed(*found, session.close()) == listed(ost.match(text, t=table, u=beside).to_arrow())
    for lateness in (5, "5 seconds"):
        with pytest.raises(ost.UnsupportedError, match="times of different units"):
            query.open(lateness=lateness)


@pytest.mark.parametrize("name", ["a chain", "beside a stream"])
def test_rows_that_come_too_late(name: str) -> None:
    table, generator = rows(90, 9), random.Random(9)
    given = disordered(table, 12, generator)
    times = given["ts"].to_numpy()
    late = times < np.maximum.accumulate(np.concatenate([[-100], times[:-1]])) - 3
    assert 0 < late.sum() < 45
    session = compiled(name).open(lateness=3)
    found = [session.push(given.slice(row, 1)) for row in range(90)]
    assert listed(*found, session.close()) == one_by_one(name, given.filter(pa.array(~late)).sort_by("ts"))
    inputs = sum(any(source.operator < 0 for source in reads.sources) or not reads.sources for reads in session.program.inputs)
    assert session.metrics()["late_rows"] == inputs * late.sum()  # once where it is read


def test_rows_are_stored_once_for_queries_that_read_them_alike() -> None:
    query = compiled("one input for two")
    assert len(query.program.inputs) == 2 and [operator.ports for operator in query.program.operators] == [(0,), (0,), (1,)]
    table = rows(60, 10)
    session, alone = query.open(), ost.compile(FALL, {"t": SCHEMA}).open()
    for piece in pieces(table, random.Random(10)):
        session.push(piece)
        alone.push(piece)
    assert session.graph.inputs[0].rows_in == 60
    assert 0 < alone.metrics()["retained_rows"] <= int(session.graph.inputs[0].rows.length.sum())


def test_events_that_wait_are_within_the_budget() -> None:
    table = rows(4000, 11, steps=(1,))
    session = compiled("without a window").open(budget=Budget(bytes=100_000))
    with pytest.raises(ost.BudgetError, match="rows that wait"):
        for at in range(0, 4000, 100):
            session.push(table.slice(at, 100))
    with pytest.raises(ost.StateError, match="stopped at an error"):
        session.push(table)


def test_an_error_half_way_ends_the_session() -> None:
    """The first query has had the rows that the second cannot compute with."""
    query = ost.compile(f"{RISE}; PATTERN SEQ(P x, t y) WHERE [k] and y.v * 4 > 8 and x.v > 0 WITHIN 9", {"t": SCHEMA})
    table = pa.table({"ts": [1, 2, 3, 9], "k": [1, 1, 1, 1], "s": ["x"] * 4, "v": [1, 2, 3, 2**62]}, schema=SCHEMA)
    session = query.open(lateness=2)
    session.push(table.slice(0, 3))
    before = session.snapshot()
    with pytest.raises(ost.DataError, match="64 bits"):
        session.push(table.slice(3))
    with pytest.raises(ost.StateError, match="stopped at an error"):
        session.close()
    again = query.open(snapshot=before)
    assert again.push(table.slice(3).set_column(1, "k", pa.array([None], pa.int64()))).num_rows + again.close().num_rows == 1


def test_rows_that_come_too_late_are_not_computed() -> None:
    query = ost.compile(f"{RISE}; PATTERN SEQ(P x, t y) WHERE [k] and y.v * 4 > 8 and x.v > 0 WITHIN 9", {"t": SCHEMA})
    session = query.open(lateness=0)
    session.push(pa.table({"ts": [1, 5], "k": [1, 2], "s": ["x", "x"], "v": [1, 1]}, schema=SCHEMA))
    session.push(pa.table({"ts": [4], "k": [1], "s": ["x"], "v": [2**62]}, schema=SCHEMA))
    assert session.close().num_rows == 0 and session.metrics()["late_rows"] == 2


def test_a_session_returns_one_result() -> None:
    program = compiled("a chain").program
    with pytest.raises(ost.StateError, match="has 2 results"):
        ost.Session(replace(program, results=(Result("a", 0), Result("b", 1))))
    first = ost.Session(replace(program, results=(Result("a", 0),)))
    table = rows(60, 12)
    assert listed(first.push(table), first.close()) == listed(ost.match(RISE, t=table).to_arrow())


SIMULTANEOUS = """PATTERN SEQ(P x, P y) WHERE skip_till_any_match(x, y) { x.ts = y.ts } WITHIN 9
    RETURN x.k AS first, y.k AS second, x.v AS low, y.v AS high, y.ts AS at"""


def test_simultaneous_events_that_time_decides_stand_in_the_order_of_completion() -> None:
    """The second is decided first: a row of its key comes behind its window."""
    query = ost.compile(f"{QUIET}; {SIMULTANEOUS}", {"t": SCHEMA})
    table = pa.table({"ts": [1, 1, 20, 40], "k": [1, 2, 2, 2], "s": ["x"] * 4, "v": [5, 6, 0, 0]}, schema=SCHEMA)
    for size in (4, 2, 1):
        session = query.open()
        found = [session.push(table.slice(at, size)) for at in range(0, 4, size)]
        assert [(row["first"], row["second"]) for one in (*found, session.close()) for row in one.to_pylist()] == [(1, 2)], size


@pytest.mark.parametrize(
    "first",
    [QUIET, QUIET.replace("a.s)", "a.s, a.ts)"), FALL.replace("RETURN Q(", "RETURN P("), FALL.replace("RETURN Q(", "RETURN P(a.ts, ")],
)
def test_events_that_time_decides_stand_in_the_order_of_completion_however_rows_are_cut(first: str) -> None:
    query = ost.compile(f"{first}; {SIMULTANEOUS}", {"t": SCHEMA})
    table = rows(150, 5, steps=(0, 0, 1, 2))
    expected = listed(ost.match(f"{first}; {SIMULTANEOUS}", t=table).to_arrow())
    assert len(expected) > 10
    for size in (150, 7, 1):
        session = query.open(lateness=2)
        session.take_row_by_row()
        found = [session.push(table.slice(at, size)) for at in range(0, 150, size)]
        assert listed(*found, session.close()) == expected, size
