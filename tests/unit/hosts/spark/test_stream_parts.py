"""The parts of a streaming query that need no Spark."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from ostinato.base.errors import DataError, StateError, UnsupportedError
from ostinato.hosts.spark.streaming.bucket_state import BucketState
from ostinato.hosts.spark.streaming.buckets import _spark_hash, buckets_of, labels
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.packing import Packer, from_blobs


def test_equal_keys_share_a_bucket_whatever_the_batch() -> None:
    table = pa.table({"k": ["a", "b", None, "a", "ü", None], "n": pa.array([1, 2, 3, 1, None, 3], pa.int32())})
    whole = buckets_of(table, ["k", "n"], 16)
    assert whole[0] == whole[3] and whole[2] == whole[5]
    assert list(buckets_of(table.slice(3), ["k", "n"], 16)) == list(whole[3:])
    encoded = table.set_column(0, "k", table.column("k").dictionary_encode())
    assert list(buckets_of(encoded, ["k", "n"], 16)) == list(whole)
    assert len(set(buckets_of(pa.table({"k": np.arange(200)}), ["k"], 8))) == 8


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us"), pa.bool_(), pa.float64(), pa.decimal128(9, 2), pa.int16()], ids=str)
def test_keys_of_every_type_have_a_bucket(kind: pa.DataType) -> None:
    values = pa.array([0, 1, None, 1], pa.int32() if pa.types.is_date(kind) else pa.int8())
    values = values.cast(pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else values.cast(kind)
    found = buckets_of(pa.table({"k": values}), ["k"], 1000)
    assert found[1] == found[3] and len({*found}) == 3


def test_labels_spread_over_the_shuffle_partitions() -> None:
    assert _spark_hash(0) == 933211791 and _spark_hash(1) == -559580957
    for partitions in (1, 2, 3, 7):
        chosen = labels(8, partitions)
        assert len(set(chosen)) == 8
        assert [_spark_hash(label) % partitions for label in chosen] == [i % partitions for i in range(8)]


def test_packing_keeps_every_row_and_tells_the_latest_time() -> None:
    times = pa.array([5, 1, 9, 3], pa.timestamp("us", "UTC"))
    packed = Packer("ts", ("k",), (10, 20, 30), Clock(1000)).pack(pa.table({"ts": times, "k": ["a", "b", "c", "a"]}))
    rows = from_blobs(iter(packed.column("rows").to_pylist()))
    assert sorted(rows.column("k").to_pylist()) == ["a", "a", "b", "c"]
    assert set(packed.column("bucket").to_pylist()) <= {10, 20, 30}
    assert max(packed.column("event_time").cast(pa.int64()).to_pylist()) == 9


def test_clock() -> None:
    micros, own = Clock(1000), Clock(1)
    assert micros.to_spark(5) == 5 and own.to_spark(5) == 5000
    assert micros.from_watermark(7) == 7000 and own.from_watermark(7) == 7
    assert micros.delay(dt.timedelta(seconds=2)) == "2000 milliseconds" and micros.delay("3 minutes") == "3 minutes"
    assert micros.delay(1500) == "2 milliseconds" and own.delay(4) == "4 milliseconds"
    assert micros.ticks_in("1 minutes 30 seconds") == 90_000_000 and own.ticks_in("4 milliseconds") == 4
    assert micros.ticks_in("0 seconds") == 0 and micros.ticks_in("0.5 seconds") == 500_000
    assert micros.ticks_in("1 months") is None and micros.ticks_in("") is None
    with pytest.raises(UnsupportedError, match="integer"):
        own.delay(dt.timedelta(seconds=1))
    with pytest.raises(DataError, match="too large"):
        own.to_spark(2**62)


def test_state_names_its_format_and_its_buckets() -> None:
    state = BucketState(8, 3, 17, b"snapshot")
    assert BucketState.loads(state.dumps()).check(8) == state
    with pytest.raises(StateError, match="begun with 8 buckets"):
        state.check(4)
    with pytest.raises(StateError, match="not written by Ostinato"):
        BucketState.loads(b"rubbish")
    with pytest.raises(StateError, match="format 9"):
        BucketState.loads(b"OSTB\x00\x09" + state.dumps()[6:])
