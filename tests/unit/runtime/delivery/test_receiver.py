"""Batches of several threads and tasks: each is taken in once, those of one producer in their order, errors where they belong."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("v", pa.int64())])
ALL = "PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.v >= 0 } RETURN a.ts AS at, a.v AS v"
PAIRS = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { a.v = 1 and b.v = 2 } WITHIN 100 RETURN a.ts AS at, b.ts AS v"


def batch(ts: int, v: int) -> pa.Table:
    return pa.table({"ts": [ts], "v": [v]}, schema=SCHEMA)


def single() -> ost.Session:
    return ost.compile(ALL, {"t": SCHEMA}).open()


class Gate:
    """A session that takes nothing before it is opened, and writes down what it takes."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.begun = threading.Event()
        self.taken: list[object] = []

    def push(self, stream, given):
        self.begun.set()
        self.opened.wait()
        self.taken.append(given)
        return given

    def advance(self, watermark):
        return self.push("", ("advance", watermark))


def test_batches_of_several_threads_are_taken_once_each_in_the_order_of_their_thread():
    session = ost.compile(ALL, {"t": SCHEMA}).open(lateness=None)
    with ost.Receiver(session, limit=3) as receiver, ThreadPoolExecutor(4) as pool:
        pending = list(pool.map(lambda n: [receiver.put("t", batch(n * 100 + i, n)) for i in range(20)], range(4)))
    assert all(one.result().num_rows == 0 for listed in pending for one in listed)
    found = session.close()
    assert found["at"].to_pylist() == [n * 100 + i for n in range(4) for i in range(20)]


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_order_of_arrival_holds_also_for_those_that_wait_for_a_place(limit):
    gate = Gate()
    receiver = ost.Receiver(gate, limit=limit)
    threads = []
    for number in range(12):
        thread = threading.Thread(target=receiver.put, args=("t", number))
        thread.start()
        threads.append(thread)
        while receiver.waiting + gate.begun.is_set() < number + 1:
            gate.begun.wait(0.001)
    gate.opened.set()
    receiver.close()
    for thread in threads:
        thread.join()
    assert gate.taken == list(range(12))


def test_a_full_queue_holds_up_who_brings_more():
    gate = Gate()
    receiver = ost.Receiver(gate, limit=1)
    receiver.put("t", 0)
    gate.begun.wait()
    receiver.put("t", 1)
    with pytest.raises(ost.StateError, match=r"no place in the queue for 0\.01 seconds"):
        receiver.put("t", 2, timeout=0.01)
    assert receiver.waiting == 1
    gate.opened.set()
    receiver.close()
    assert gate.taken == [0, 1]
    with pytest.raises(ost.StateError, match="receiver is closed"):
        receiver.put("t", 3)


def test_errors_are_those_of_the_caller():
    session = single()
    receiver = ost.Receiver(session)
    wrong, right = receiver.put("t", pa.table({"ts": [1]})), receiver.put("t", batch(1, 1))
    with pytest.raises(ost.SchemaError):
        wrong.result()
    assert right.result().num_rows == 1
    receiver.put("t", pa.table({"ts": [1]}))
    with pytest.raises(ost.SchemaError):  # nobody has asked
        receiver.close()
    assert session.push("t", batch(2, 2)).num_rows == 1  # the session is the caller's again


def test_other_calls_have_their_turn():
    queries = ost.QuerySet({"t": SCHEMA})
    queries.add("all", ALL)
    session = queries.open()
    with ost.Receiver(session) as receiver:
        receiver.put("t", batch(1, 1))
        changes = receiver.call(queries.sync, [{"id": "pairs", "text": PAIRS}])
        receiver.put("t", batch(2, 1))
        receiver.advance(3)
        last = receiver.put("t", batch(4, 2))
        snapshot = receiver.call(session.snapshot)
    assert changes.result().added == ("pairs",) and last.result()["pairs"].to_pylist() == [{"at": 2, "v": 4}]
    assert queries.open(snapshot=snapshot.result()).queries == ("pairs",)


def test_asyncio_tasks_wait_without_holding_up_the_loop():
    async def run() -> tuple[list[pa.Table], int]:
        ticked = 0

        async def tick() -> None:
            nonlocal ticked
            while True:
                ticked += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        async with ost.Receiver(single(), limit=2) as receiver:
            found = await asyncio.gather(*(receiver.aput("t", batch(n, n)) for n in range(30)))
            await receiver.aadvance(40)
            assert await receiver.acall(lambda: 7) == 7
            with pytest.raises(ost.SchemaError):
                await receiver.aput("t", pa.table({"ts": [1]}))
        ticking.cancel()
        return found, ticked

    found, ticked = asyncio.run(run())
    assert [table["at"].to_pylist() for table in found] == [[n] for n in range(30)] and ticked > 0


def test_a_task_that_is_cancelled_while_it_waits_takes_its_batch_away():
    async def run() -> list[object]:
        gate = Gate()
        receiver = ost.Receiver(gate, limit=1)
        tasks = [asyncio.create_task(receiver.aput("t", number)) for number in range(6)]
        while receiver.waiting < 5:
            await asyncio.sleep(0.001)
        tasks[3].cancel()
        await asyncio.wait([tasks[3]])
        assert tasks[3].cancelled()
        gate.opened.set()
        await asyncio.to_thread(receiver.close)
        assert await asyncio.gather(*(task for task in tasks if task is not tasks[3])) == [0, 1, 2, 4, 5]
        return gate.taken

    assert asyncio.run(run()) == [0, 1, 2, 4, 5]


def test_after_an_error_in_the_block_nothing_more_is_taken():
    gate = Gate()

    def bring(receiver):
        with pytest.raises(ost.StateError, match="before this was taken in"):
            receiver.put("t", 2)

    with pytest.raises(ZeroDivisionError), ost.Receiver(gate, limit=1) as receiver:
        first = receiver.put("t", 0)
        gate.begun.wait()
        second = receiver.put("t", 1)
        third = threading.Thread(target=bring, args=(receiver,))
        third.start()
        while receiver.waiting < 2:
            gate.begun.wait(0.001)
        threading.Timer(0.01, gate.opened.set).start()
        raise ZeroDivisionError
    third.join()
    assert gate.taken == [0] and first.result() == 0
    with pytest.raises(ost.StateError, match="before this was taken in"):
        second.result()


@pytest.fixture
def interruptible():
    """As in a program of its own, whatever else runs in this process has done about interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_leaves_a_session_that_can_go_on(interruptible):
    session = single()
    with pytest.raises(KeyboardInterrupt), ost.Receiver(session, limit=1) as receiver:
        receiver.put("t", batch(1, 1)).result()
        released = threading.Event()
        receiver.call(released.wait)

        def interrupt() -> None:
            """Once the queue is full, so that whoever puts waits; it moves on only afterwards."""
            while not receiver.waiting:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
            threading.Timer(0.2, released.set).start()

        threading.Thread(target=interrupt).start()
        for number in range(2, 1000):
            receiver.put("t", batch(number, 1))
    assert session.metrics()["rows"] >= 1
    assert session.push("t", batch(2000, 1)).num_rows == 1 and session.snapshot()


def test_a_receiver_that_nobody_holds_ends_its_thread():
    receiver = ost.Receiver(single())
    worker, gone = receiver._worker, weakref.ref(receiver)
    receiver.put("t", batch(1, 1)).result()
    del receiver
    gc.collect()
    worker.join(60)
    assert gone() is None and not worker.is_alive()


def test_calls_from_inside_are_refused():
    with ost.Receiver(single()) as receiver:
        inside = receiver.call(lambda: receiver.put("t", batch(1, 1)))
        with pytest.raises(ost.StateError, match="wait for itself"):
            inside.result()


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, None])
def test_limits_are_numbers(limit):
    with pytest.raises(ost.OstinatoError, match="no number of batches"):
        ost.Receiver(single(), limit=limit)


def test_a_session_takes_one_call_at_a_time():
    """Two threads at once have no order: the second is refused, and nothing is corrupted."""
    session = ost.compile(ALL, {"t": SCHEMA}).open(lateness=None)
    refused, taken = [], []

    def push(number: int) -> None:
        for i in range(60):
            try:
                session.push("t", batch(number * 1000 + i, number))
                taken.append(number * 1000 + i)
            except ost.StateError as error:
                assert "at work in another call" in str(error)
                refused.append(number)

    threads = [threading.Thread(target=push, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) + len(refused) == 240 and session.close()["at"].to_pylist() == sorted(taken)


def test_a_call_inside_of_a_call_is_refused():
    session = single()
    parts = session.push_in_parts("t", batch(1, 1))
    assert next(parts).num_rows == 1
    for call in (lambda: session.push("t", batch(2, 2)), session.snapshot, lambda: session.advance(5), session.close):
        with pytest.raises(ost.StateError, match="at work in another call"):
            call()
    assert list(parts) == [] and session.push("t", batch(2, 2)).num_rows == 1
