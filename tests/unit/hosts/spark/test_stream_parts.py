"""The parts of a streaming query that need no Spark."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from ostinato.base.errors import DataError, StateError
from ostinato.compiler import compile
from ostinato.hosts.spark.streaming.bucket_state import BucketState
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.match_stream import check_lateness


def test_clock() -> None:
    micros, own = Clock(1000), Clock(1)
    assert micros.to_spark(5) == 5 and own.to_spark(5) == 5000
    assert micros.from_watermark(7) == 7000 and own.from_watermark(7) == 7
    assert micros.delay(dt.timedelta(seconds=2)) == "2000 milliseconds" and micros.delay("3 minutes") == "3 minutes"
    assert micros.delay(1500) == "2 milliseconds" and own.delay(4) == "4 milliseconds"
    assert micros.ticks_in("1 minutes 30 seconds") == 90_000_000 and own.ticks_in("4 milliseconds") == 4
    assert micros.ticks_in("0 seconds") == 0 and micros.ticks_in("0.5 seconds") == 500_000
    assert micros.ticks_in("1 months") is None and micros.ticks_in("") is None
    with pytest.raises(DataError, match="too large"):
        own.to_spark(2**62)


@pytest.mark.parametrize("lateness", ["5 seconds", dt.timedelta(seconds=5), 2.5, True])
def test_a_length_of_time_beside_an_integer_time(lateness: Any) -> None:
    reads = compile("PATTERN SEQ(T a)", {"t": pa.schema([("ts", pa.int64())])}).pattern.reads
    with pytest.raises(DataError, match="does not fit the time column `ts`, which is a number"):
        check_lateness(lateness, reads)
    with pytest.raises(DataError, match="is negative"):
        check_lateness(-1, reads)
    check_lateness(5, reads)


def test_state_names_its_format_and_its_buckets() -> None:
    state = BucketState(8, 3, 17, b"snapshot")
    assert BucketState.loads(state.dumps()).check(8) == state
    with pytest.raises(StateError, match="begun with 8 buckets"):
        state.check(4)
    with pytest.raises(StateError, match="not written by Ostinato"):
        BucketState.loads(b"rubbish")
    with pytest.raises(StateError, match="format 9"):
        BucketState.loads(b"OSTB\x00\x09" + state.dumps()[6:])
    with pytest.raises(StateError, match="cut off"):
        BucketState.loads(BucketState(8, 3, 17, b"", (1, 2)).dumps()[:-1])
