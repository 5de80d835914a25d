"""When the stateful operator decides: by Spark's watermark, or by what the streams tell."""

from __future__ import annotations

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from tests.unit.hosts.spark.driven_buckets import DrivenBuckets
from tests.unit.registered_functions import forgotten_afterwards, register_all

from ostinato.base.errors import DataError, StateError, UnknownNameError
from ostinato.compiler import compile
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.work import Work

YEAR_1900 = -2_208_988_800_000_000
SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("kind", pa.string())])
ABSENT = "PATTERN SEQ(A a, ~(B b)) WHERE [k] WITHIN 5 seconds RETURN a.k"
PAIRS = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 5 seconds RETURN a.k"


def rows(*events: tuple[int, str, str], epoch: int = 0) -> pa.Table:
    """Seconds, key, kind."""
    times = pa.array([epoch + second * 1_000_000 for second, _, _ in events], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": [key for _, key, _ in events], "kind": [kind for _, _, kind in events]}, schema=SCHEMA)


def compiled(text: str) -> Work:
    return Work.of(compile(text, {"events": SCHEMA}, type_by="kind"))


def keys(found: list[dict]) -> list[str]:
    return sorted(row["k"] for row in found)


def test_rows_wait_for_the_watermark_that_spark_applies() -> None:
    """Whatever columns it came from: a lagging stream of a union holds it back."""
    driven = DrivenBuckets(compiled(PAIRS), Waiting())
    assert driven.batch(rows((100, "x", "A"), (101, "x", "B"), (200, "x", "A"))) == []
    driven.watermark = 40_000
    assert driven.batch(rows((50, "y", "A"))) == []
    assert driven.batch(rows((52, "y", "B"))) == []
    driven.watermark = 150_000
    assert keys(driven.batch(rows((160, "z", "A")))) == ["x", "y"]
    assert driven.late == 0


@pytest.mark.parametrize("epoch", [YEAR_1900, 0, 1_700_000_000_000_000])
def test_time_goes_on_for_buckets_that_receive_nothing(epoch: int) -> None:
    """Before 1970 Spark's watermark stands still, and the rows tell."""
    driven = DrivenBuckets(compiled(ABSENT), Waiting(lateness=2_000_000, announced=1), buckets=16, delay=2000)
    first = driven.batch(rows(*((1, f"k{n}", "A") for n in range(20)), epoch=epoch))
    found = first + driven.batch(rows((60, "k0", "A"), epoch=epoch)) + driven.batch(rows((61, "k0", "A"), epoch=epoch))
    assert keys(found) == sorted(f"k{n}" for n in range(20))


@pytest.mark.parametrize("epoch", [YEAR_1900, -30_000_000, 0])
def test_several_streams_wait_for_each_other(epoch: int) -> None:
    text = "PATTERN SEQ(Begun a, Ended b) WHERE [k] WITHIN 5 seconds RETURN a.k"
    work = Work.of(compile(text, {"ended": SCHEMA, "begun": SCHEMA}))
    driven = DrivenBuckets(work, Waiting(lateness=1_000_000, announced=2), buckets=8)
    nothing = rows(epoch=epoch)
    assert driven.batch(nothing, rows((10, "x", "B"), (90, "x", "B"), epoch=epoch)) == []
    assert driven.batch(rows((8, "x", "A"), epoch=epoch), nothing) == []
    assert keys(driven.batch(rows((40, "q", "A"), epoch=epoch), nothing)) == ["x"]
    assert driven.late == 0


def test_a_stream_that_ends_decides_its_tail() -> None:
    """As `close` does: what waits, and what only the end decides. Then it takes no rows."""
    query = compiled(ABSENT)
    driven = DrivenBuckets(query, Waiting(lateness=2_000_000, announced=1), delay=2000)
    table = rows((1, "x", "A"), (2, "y", "A"), (4, "y", "B"), (7, "z", "A"), (8, "w", "A"))
    found = driven.batch(table)
    assert keys(found) == []
    assert keys(driven.tail()) == ["w", "x", "z"]
    assert keys(driven.end()) == ["w", "x", "z"]
    assert all(bucket.timers == set() for bucket in driven.buckets.values())
    driven.watermark = 10**9
    assert driven.batch() == []
    assert driven.tail() == []
    with pytest.raises(StateError, match="has ended"):
        driven.batch(table)


def test_rows_before_1970_are_refused_where_only_sparks_watermark_counts() -> None:
    driven = DrivenBuckets(compiled(PAIRS), Waiting())
    with pytest.raises(DataError, match="older than 1970"):
        driven.batch(rows((1, "x", "A"), epoch=YEAR_1900))


def test_functions_come_with_the_program() -> None:
    """A worker unpacks them, and goes on with stored state; it never asks what is registered."""
    with forgotten_afterwards():
        register_all()
        work = compiled(text := "PATTERN SEQ(A a, B b) WHERE [k] AND shouted(a.k) = 'X' WITHIN 5 seconds RETURN a.k")
    driven = DrivenBuckets(work, Waiting(lateness=1_000_000, announced=1), buckets=2)
    assert driven.batch(rows((1, "x", "A"), (2, "y", "A"))) == []
    assert keys(driven.batch(rows((3, "x", "B"), (4, "y", "B"), (60, "z", "A")))) == ["x"]
    with pytest.raises(UnknownNameError, match="There is no function shouted"):
        compiled(text)
