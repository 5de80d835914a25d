"""Rows of equal time come out as in one batch, however they are cut into pushes and from whichever stream they come."""

from __future__ import annotations

import datetime
import random

import pyarrow as pa
import pytest

import ostinato as ost

TICKS = pa.table({"ts": [1, 1, 2, 2, 2, 3], "n": [2, 1, 3, 1, 2, 0]})
LISTED = "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts, n DESC MEASURES ARRAY_AGG(n) AS n PATTERN (A+) DEFINE A AS true)"
A = pa.table({"ts": [1, 2, 2], "n": [1, 2, 3]})
B = pa.table({"ts": [1, 2], "n": [4, 5]})
FOLLOWS = "PATTERN SEQ(A a, B b) RETURN a.n AS a, b.n AS b"


def pushed(session: ost.Session, *pushes: tuple[str, pa.Table]) -> list[dict]:
    found = [row for stream, table in pushes for row in session.push(stream, table).to_pylist()]
    return found + session.close().to_pylist()


def test_later_order_columns_count_between_pushes() -> None:
    expected = ost.sql(LISTED, ticks=TICKS).to_arrow().to_pylist()
    assert expected == [{"n": [2, 1, 3, 2, 1, 0]}]
    session = ost.compile(LISTED, {"ticks": TICKS.schema}).open()
    assert pushed(session, *(("ticks", TICKS.slice(i, 1)) for i in range(6))) == expected


def test_what_is_ordered_by_time_alone_does_not_wait() -> None:
    query = ost.compile(
        "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES n AS n PATTERN (A) DEFINE A AS true)", {"ticks": TICKS.schema}
    )
    assert query.open().push(TICKS.slice(0, 1)).to_pylist() == [{"n": 2}]


@pytest.mark.parametrize("given", [{"a": A, "b": B}, {"b": B, "a": A}])
def test_simultaneous_rows_of_several_streams_stand_in_the_order_of_the_streams(given: dict[str, pa.Table]) -> None:
    expected = ost.match(FOLLOWS, **given).to_arrow().to_pylist()
    query = ost.compile(FOLLOWS, {name: table.schema for name, table in given.items()})
    for names in ("ab", "ba"):
        by_name = [(name, given[name]) for name in names]
        assert pushed(query.open(lateness=None), *by_name) == expected
        by_time = [(name, given[name].filter(pa.compute.equal(given[name]["ts"], time))) for time in (1, 2) for name in names]
        assert pushed(query.open(), *by_time) == expected


def test_which_stream_a_row_is_of_is_not_shown() -> None:
    found = ost.match("PATTERN SEQ(A a, B b)", a=A, b=B).to_arrow()
    assert [field.name for field in found.schema.field("a").type] == ["ts", "n", "event_type", "seq"]
    taken = A.append_column("stream_number", pa.array([7, 8, 9]))
    (first, *_) = ost.match("PATTERN SEQ(A a, B b) RETURN a.stream_number", a=taken, b=B).to_arrow().to_pylist()
    assert first == {"stream_number": 7}


def test_rows_that_have_no_time_must_come_in_order() -> None:
    """Nothing says when a row could no longer come before others, so that nothing can wait."""
    query = ost.compile(LISTED.replace("ORDER BY ts, n DESC", "ORDER BY n DESC"), {"ticks": TICKS.schema})
    session = query.open()
    session.push(TICKS.slice(2, 2))
    session = query.open(snapshot=session.snapshot())
    with pytest.raises(ost.DataError, match="before the last row of an earlier batch"):
        session.push(TICKS.slice(4, 1))
    assert session.push(TICKS.slice(1, 1)).num_rows == 0
    assert session.close().to_pylist() == [{"n": [3, 1, 1]}]


@pytest.mark.parametrize("seed", range(12))
def test_random_ties_and_cuts(seed: int) -> None:
    rng = random.Random(seed)
    start = rng.choice((-50, 0, 10**15))
    given = {}
    for name in rng.sample("abc", 3):
        times = sorted(start + rng.randint(0, 6) for _ in range(rng.randint(1, 9)))
        given[name] = pa.table({"ts": times, "n": [rng.randint(0, 3) for _ in times]})
    text = rng.choice(
        (
            "PATTERN SEQ(a x, b+ y[], c z) WITHIN 3 RETURN x.n AS x, sum(y[].n) AS y, z.n AS z",
            "PATTERN SEQ(a x, ~(b y), c z) WITHIN 4 RETURN x.n AS x, z.n AS z",
            "PATTERN SEQ(a x, (b y | c z)) WHERE strict_contiguity(x, y, z) { } RETURN x.n AS x, y.n AS y, z.n AS z",
        )
    )
    expected = ost.match(text, **given).to_arrow().to_pylist()
    query = ost.compile(text, {name: table.schema for name, table in given.items()})
    session, found, latest = query.open(), [], start
    at = dict.fromkeys(given, 0)
    while any(at[name] < table.num_rows for name, table in given.items()):
        """Of one stream the rows up to a time that none of the others has passed, so that none is late."""
        reached = min(table["ts"][at[name]].as_py() for name, table in given.items() if at[name] < table.num_rows)
        name = rng.choice([n for n, table in given.items() if at[n] < table.num_rows and table["ts"][at[n]].as_py() == reached])
        here = sum(time == reached for time in given[name]["ts"].to_pylist()[at[name] :])
        taken = rng.randint(1, here)
        found += session.push(name, given[name].slice(at[name], taken)).to_pylist()
        at[name] += taken
        latest = reached
        if rng.random() < 0.3:
            session = query.open(snapshot=session.snapshot())
        if rng.random() < 0.2:
            found += session.advance(latest).to_pylist()
    assert found + session.close().to_pylist() == expected and session.metrics()["late_rows"] == 0


@pytest.mark.parametrize("times", [[-(2**63) + 1, -(2**63) + 2], [-5, 2**63 - 7], [-(2**63), 2**63 - 1], [-(2**62), 0], [0, 2**62]])
def test_times_and_windows_that_64_bits_cannot_compute_with_are_refused(times: list[int]) -> None:
    """They wrapped around: matches were lost or invented, and kernels read where nothing is."""
    rows = pa.table({"ts": times, "n": [1, 2]})
    text = "PATTERN SEQ(A x, A y) WITHIN 7 RETURN x.n AS x"
    session = ost.compile(text, {"a": rows.schema}).open()
    with pytest.raises(ost.DataError, match="beyond what can be calculated with"):
        session.push(rows)
    with pytest.raises(ost.DataError, match="does not fit 64 bits"):
        session.advance(2**63)
    with pytest.raises(ost.QuerySyntaxError, match="window is too long"):
        ost.compile(text.replace("7", str(2**62 + 1)), {"a": rows.schema})
    longest = ost.compile(text.replace("7", str(2**62)), {"a": rows.schema}).open()
    assert longest.push(pa.table({"ts": [1 - 2**62, 0, 2**62 - 1], "n": [1, 2, 3]})).to_pylist() == [{"x": 1}, {"x": 2}]


def test_times_before_1970() -> None:
    moon = datetime.datetime(1969, 7, 20, 20, 17, tzinfo=datetime.UTC)
    times = pa.array([moon, moon + datetime.timedelta(seconds=1)])
    landed, walked = pa.table({"ts": times, "n": [1, 2]}), pa.table({"ts": times, "n": [3, 4]})
    text = "PATTERN SEQ(a x, b y) WITHIN 1 second RETURN x.n AS x, y.n AS y"
    session = ost.compile(text, {"a": landed.schema, "b": walked.schema}).open(lateness=None)
    found = session.push("b", walked).to_pylist() + session.push("a", landed).to_pylist()
    assert found == []
    found = session.advance(moon + datetime.timedelta(seconds=2)).to_pylist()
    assert found == ost.match(text, a=landed, b=walked).to_arrow().to_pylist() and len(found) == 2
