"""How old the times of a result can be when it is decided: a match by its last event, what its window ended only by the window."""

from __future__ import annotations

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

import ostinato as ost
from ostinato.hosts.spark.streaming.decided_after import times_behind

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string())])


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("PATTERN SEQ(A a, B b) WITHIN 5", {"start_ts": 5, "end_ts": 0}),
        ("PATTERN SEQ(A a, ~(B b)) WITHIN 5", {"start_ts": 5, "end_ts": 5}),
        ("PATTERN SEQ(A a, B b) WITHIN 5 OUTPUT timeouts", {"start_ts": 5, "end_ts": 5}),
        ("PATTERN SEQ(A a, B b) WITHIN 5 events OUTPUT timeouts", {}),
    ],
)
def test_times_behind(text: str, behind: dict[str, int]) -> None:
    assert times_behind(ost.compile(text, {"t": SCHEMA}, type_by="kind").algebra) == behind
