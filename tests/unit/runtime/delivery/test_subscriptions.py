"""Each subscriber gets the matches of the queries that it asks for, whatever the others do."""

from __future__ import annotations

import asyncio
import logging
import threading

import pyarrow as pa
import pytest

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("v", pa.int64())])


def over(limit: int) -> str:
    return f"PATTERN SEQ(t a) WHERE skip_till_next_match(a) {{ a.v > {limit} }} RETURN a.ts AS at"


def made() -> ost.QuerySet:
    queries = ost.QuerySet({"t": SCHEMA})
    for name, limit in (("price-low", 0), ("price-high", 5), ("volume", 3)):
        queries.add(name, over(limit))
    return queries


def batch(*values: int, first: int = 0) -> pa.Table:
    return pa.table({"ts": range(first, first + len(values)), "v": values}, schema=SCHEMA)


@pytest.mark.parametrize(
    ("wants", "expected"),
    [
        ("volume", ["volume"]),
        ("price-*", ["price-low", "price-high"]),
        ("*", ["price-low", "price-high", "volume"]),
        (["volume", "price-?ow"], ["price-low", "volume"]),
        ("price-[h]*", ["price-high"]),
        ("PRICE-*", []),
    ],
)
def test_names_and_patterns(wants, expected):
    session, got = made().open(), []
    session.subscribe(wants, lambda query, matches: got.append((query, matches["at"].to_pylist())))
    found = session.push("t", batch(1, 4, 6))
    assert got == [(query, found[query]["at"].to_pylist()) for query in expected]


def test_matches_of_every_call_arrive_also_of_queries_that_come_later():
    queries = made()
    session, got = queries.open(lateness=2), []
    subscription = session.subscribe(["later", "volume"], lambda query, matches: got.append((query, matches["at"].to_pylist())))
    session.push("t", batch(4, 0, 0, 0))
    queries.add("later", over(8))
    session.push("t", batch(9, first=4))
    session.advance(5)
    assert got == [("volume", [0]), ("volume", [4]), ("later", [4])]
    session.push("t", batch(9, 9, first=5))
    subscription.unsubscribe()
    session.close()
    assert len(got) == 3


def test_one_that_raises_stops_nobody(caplog):
    session, got = made().open(), []

    def fail(query, matches):
        raise ValueError(query)

    bad = session.subscribe("*", fail)
    session.subscribe("*", lambda query, matches: got.append(query))
    with caplog.at_level(logging.WARNING, "ostinato"):
        found = session.push("t", batch(9))
        session.push("t", batch(9, first=1))
    assert got == [*found, *found] and bad.errors == 6 and str(bad.error) == "volume"
    assert [record.getMessage() for record in caplog.records] == ["a subscriber of 'price-low' has failed: ValueError: price-low"]


def test_a_callback_may_unsubscribe_and_subscribe():
    session, got = made().open(), []

    def once(query, matches):
        got.append(query)
        subscription.unsubscribe()
        session.subscribe("volume", lambda query, matches: got.append("new " + query))

    subscription = session.subscribe("price-low", once)
    session.push("t", batch(9))
    session.push("t", batch(9, first=1))
    assert got == ["price-low", "new volume", "new volume"] or got == ["price-low", "new volume"]
    assert got.count("price-low") == 1


def test_subscribers_come_and_go_while_it_runs():
    session = made().open()
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            session.subscribe("*", lambda query, matches: None).unsubscribe()

    thread = threading.Thread(target=come_and_go)
    got: list[int] = []
    session.subscribe("volume", lambda query, matches: got.append(matches.num_rows))
    thread.start()
    for number in range(50):
        session.push("t", batch(9, first=number))
    stop.set()
    thread.join()
    assert got == [1] * 50


@pytest.mark.parametrize("wants", ["", [], [3], None, 7])
def test_what_names_no_query_is_refused(wants):
    with pytest.raises((ost.OstinatoError, TypeError)):
        made().open().subscribe(wants, print)
    with pytest.raises(ost.OstinatoError, match="cannot be called"):
        made().open().subscribe("*", 3)


def test_an_asyncio_task_reads_what_another_thread_pushes():
    async def run() -> list[tuple[str, list[int]]]:
        session = made().open()
        got = []
        async with session.listen("price-*") as stream:

            async def read() -> None:
                async for query, matches in stream:
                    got.append((query, matches["at"].to_pylist()))

            reading = asyncio.create_task(read())
            await asyncio.to_thread(session.push, "t", batch(1, 9))
            await asyncio.to_thread(session.push, "t", batch(9, first=2))
            stream.unsubscribe()
            await reading
        await asyncio.to_thread(session.push, "t", batch(9, first=3))
        return got

    assert asyncio.run(run()) == [("price-low", [0, 1]), ("price-high", [1]), ("price-low", [2]), ("price-high", [2])]


def test_who_reads_too_slowly_is_told_and_holds_up_nobody():
    async def run() -> None:
        session = made().open()
        stream, other = session.listen("volume", limit=2), session.listen("volume")
        for number in range(5):
            session.push("t", batch(9, first=number))
        assert [(await stream.get())[1]["at"].to_pylist() for _ in range(2)] == [[0], [1]]
        with pytest.raises(ost.BudgetError, match="3 results were missed"):
            await stream.get()
        session.push("t", batch(9, first=5))
        assert stream.missed == 3
        assert [(await other.get())[1]["at"].to_pylist() for _ in range(6)] == [[n] for n in range(6)]
        other.unsubscribe()
        with pytest.raises(ost.StateError, match="has ended"):
            await other.get()

    asyncio.run(run())


def test_a_loop_that_is_closed_is_forgotten():
    session = made().open()

    async def subscribe() -> None:
        session.listen("*")

    asyncio.run(subscribe())
    assert session.push("t", batch(9)) and len(session._subscriptions) == 0
