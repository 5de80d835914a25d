"""Which bucket a row belongs to, and where Spark keeps it. Needs no Spark."""

from __future__ import annotations

import datetime as dt
import struct

import numpy as np
import pyarrow as pa
import pytest

from ostinato.compiler import compile
from ostinato.hosts.spark.streaming.buckets import bucket_of, buckets_of, label_of
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.packing import Packer, from_blobs
from ostinato.tasks.keyed_pass import keyed_pass

OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000123))[0]
ONE_KEY = {"zeros": (0.0, -0.0), "no numbers": (float("nan"), OTHER_NAN, -float("nan"))}


def test_equal_keys_share_a_bucket_whatever_the_batch() -> None:
    table = pa.table({"k": ["a", "b", None, "a", "ü", None], "n": pa.array([1, 2, 3, 1, None, 3], pa.int32())})
    whole = buckets_of(table, ["k", "n"], 16)
    assert whole[0] == whole[3] and whole[2] == whole[5]
    assert list(buckets_of(table.slice(3), ["k", "n"], 16)) == list(whole[3:])
    encoded = table.set_column(0, "k", table.column("k").dictionary_encode())
    assert list(buckets_of(encoded, ["k", "n"], 16)) == list(whole)
    assert len(set(buckets_of(pa.table({"k": np.arange(200)}), ["k"], 8))) == 8
    assert len(set(buckets_of(pa.table({"k": [str(n) for n in range(200)]}), ["k"], 8))) == 8


KINDS = [
    pa.date32(),
    pa.timestamp("us"),
    pa.bool_(),
    pa.float64(),
    pa.float32(),
    pa.decimal128(9, 2),
    pa.int16(),
    pa.uint64(),
    pa.duration("us"),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_keys_of_every_type_have_a_bucket(kind: pa.DataType) -> None:
    values = pa.array([0, 1, None, 1], pa.int32() if pa.types.is_date(kind) else pa.int8())
    values = values.cast(pa.int64()).cast(kind) if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) else values.cast(kind)
    found = buckets_of(pa.table({"k": values}), ["k"], 1000)
    assert found[1] == found[3] and len({*found}) == 3
    assert list(buckets_of(pa.table({"k": pa.nulls(2)}), ["k"], 1000)) == [found[2]] * 2


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("spellings", ONE_KEY.values(), ids=ONE_KEY)
def test_what_the_engine_holds_equal_is_in_one_bucket(spellings: tuple[float, ...], kind: pa.DataType) -> None:
    column = pa.array(np.array(spellings, kind.to_pandas_dtype()))
    for written in (column, column.dictionary_encode()):
        assert len(set(buckets_of(pa.table({"k": written}), ["k"], 100_000))) == 1


@pytest.mark.parametrize("spellings", ONE_KEY.values(), ids=ONE_KEY)
def test_what_the_engine_holds_equal_is_one_key_of_a_sorted_batch(spellings: tuple[float, ...]) -> None:
    """Spark's own sort holds them equal too, so they come mixed."""
    keys = pa.array(np.resize(np.array(spellings), 7))
    table = pa.table({"t": range(7), "k": keys, "v": [3, 2, 1, 2, 1, 1, 4]})
    text = """SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES FIRST(t) AS a, LAST(t) AS b
        PATTERN (S D+ U+) DEFINE D AS v < PREV(v), U AS v > PREV(v))"""
    query = compile(text, {"s": table.schema})
    whole = query.open()
    expected = pa.concat_tables([whole.push(table), whole.close()])
    found = pa.concat_tables(keyed_pass(query.pattern, table.to_batches()))
    assert found.to_pydict()["b"] == expected.to_pydict()["b"] == [3]


def test_buckets_are_part_of_the_state_and_never_change() -> None:
    """Whoever must change these, raises the version of `BucketState`."""
    table = pa.table({"s": ["", "a", "Ωmega", None], "n": [0, 1, -7, 1 << 40], "f": [0.0, 1.5, -2.0, None]})
    assert list(buckets_of(table, ["s"], 1000)) == [358, 410, 88, 535]
    assert list(buckets_of(table, ["n"], 1000)) == [871, 944, 439, 255]
    assert list(buckets_of(table, ["f", "s", "n"], 1000)) == [646, 460, 413, 198]
    assert [label_of(bucket) for bucket in range(3)] == [-1693959553, -1910889132, -1382833682]


def test_spark_spreads_buckets_evenly_over_any_number_of_partitions() -> None:
    assert bucket_of(0) == 933211791 and bucket_of(1) == -559580957  # what Spark's hash() gives
    assert [bucket_of(label_of(bucket)) for bucket in range(2000)] == list(range(2000))
    assert all(-(1 << 31) <= label_of(bucket) < 1 << 31 for bucket in range(2000))


def test_packing_keeps_every_row_and_tells_the_latest_time() -> None:
    times = pa.array([5, 1, 9, 3], pa.timestamp("us", "UTC"))
    packed = Packer("ts", ("k",), 3, Clock(1000)).pack(pa.table({"ts": times, "k": ["a", "b", "c", "a"]}))
    rows = from_blobs(iter(packed.column("rows").to_pylist()))
    assert sorted(rows.column("k").to_pylist()) == ["a", "a", "b", "c"]
    assert {bucket_of(label) for label in packed.column("bucket").to_pylist()} <= {0, 1, 2}
    assert max(packed.column("event_time").cast(pa.int64()).to_pylist()) == 9


def test_every_batch_meets_the_first_bucket() -> None:
    """Its state says of which query, and of how many buckets, the checkpoint is."""
    packer = Packer("t", ("k",), 50, Clock(1))
    for key in range(20):
        packed = packer.pack(pa.table({"t": [-5], "k": [key]}))
        assert label_of(0) in packed.column("bucket").to_pylist()
        assert set(packed.column("event_time").cast(pa.int64()).to_pylist()) == {-5000}


def test_packed_times_have_the_zone_of_no_session() -> None:
    """Rows wait in the state, and the next session may have another zone."""
    noon = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
    for zone in ("UTC", "America/New_York"):
        table = pa.table({"ts": pa.array([noon], pa.timestamp("us", zone)), "at": pa.array([noon], pa.timestamp("us"))})
        rows = from_blobs(iter(Packer("ts", (), 1, Clock(1000)).pack(table).column("rows").to_pylist()))
        assert rows.schema.types == [pa.timestamp("us", "UTC"), pa.timestamp("us")]
        assert rows.column("ts").cast(pa.int64()).to_pylist() == [int(noon.timestamp()) * 1_000_000]
