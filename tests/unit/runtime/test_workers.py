"""Threads that share the work of a call, and how many of them are woken."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.row_code import batch_tuning
from ostinato.runtime.row_code.batch_tuning import BatchTuning
from ostinato.runtime.workers import Workers, processors


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_piece_is_done_once(threads: int) -> None:
    workers, done, lock = Workers(threads), [], threading.Lock()

    def work(number: int) -> None:
        with lock:
            done.append(number)

    for pieces in (0, 1, 3, 40):
        done.clear()
        workers.each(pieces, work)
        assert sorted(done) == list(range(pieces))
    assert workers.most_used == threads


def test_the_error_is_that_of_the_first_piece() -> None:
    waits = threading.Event()

    def work(number: int) -> None:
        if number == 1:
            waits.wait(10)  # the later one fails before
            raise ValueError("the second")
        if number == 2:
            waits.set()
            raise ValueError("the third")

    for _ in range(20):
        waits.clear()
        with pytest.raises(ValueError, match="the second"):
            Workers(3).each(3, work)


def test_after_an_error_nothing_more_is_begun() -> None:
    begun = []

    def work(number: int) -> None:
        begun.append(number)
        raise ValueError

    with pytest.raises(ValueError):
        Workers(2).each(1000, work)
    assert len(begun) <= 2


def test_few_rows_wake_nobody() -> None:
    tuning = BatchTuning(8)
    tuning.choose(100)
    assert tuning.threads == 1
    tuning.choose(10_000_000)
    assert tuning.threads == 8 and tuning.size == batch_tuning.LARGEST
    for _ in range(100):
        tuning.took(1 << 20, 1e-4)
    tuning.choose(1 << 20)
    assert tuning.threads == 1
    for _ in range(100):
        tuning.took(1 << 20, 1.0)
    tuning.choose(1 << 16)
    assert tuning.threads == 8 and batch_tuning.SMALLEST <= tuning.size <= (1 << 16) // 8


def test_the_number_of_threads_is_an_option() -> None:
    table = pa.table({"ts": list(range(100_000)), "f": [n % 7 > 3 for n in range(100_000)]})
    text = "FROM t DEFINE A AS f PATTERN A"
    found = {threads: ost.match(text, language="tpstream", t=table, threads=threads) for threads in (None, 1, 3)}
    assert len({len(one.to_arrow()) for one in found.values()}) == 1
    assert found[1].metrics["threads"] == 1 and 1 <= found[None].metrics["threads"] <= processors()
    assert "by several threads" in ost.compile(text, {"t": table.schema}, language="tpstream").explain()
    for wrong in (0, -1):
        with pytest.raises(ost.OstinatoError, match="from 1 on"):
            ost.match(text, language="tpstream", t=table, threads=wrong)
        with pytest.raises(ost.OstinatoError, match="from 1 on"):
            ost.compile(text, {"t": table.schema}, language="tpstream").open(threads=wrong)
    with pytest.raises(ost.OstinatoError, match="threads="):
        ost.match("PATTERN SEQ(t a) RETURN a.f", t=table, threads=2)
