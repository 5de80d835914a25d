"""How long a later query of a stream has to wait for the events of an earlier one."""

from __future__ import annotations

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from ostinato.base.errors import UnsupportedError
from ostinato.compiler import compile
from ostinato.hosts.spark.run_match import _decided_after

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("x", pa.int64())])


def decided_after(text: str) -> int:
    return _decided_after(compile(text, {"events": SCHEMA}, type_by="kind"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PATTERN SEQ(A a, B b) RETURN Pair(a.x)", 0),
        ("PATTERN SEQ(A a, ~(C c), B b) WITHIN 7 RETURN Pair(a.x)", 0),
        ("PATTERN SEQ(~(C c), A a, B b) WITHIN 7 RETURN Pair(a.x)", 0),
        ("PATTERN SEQ(A a, B b, ~(C c)) WITHIN 7 RETURN Pair(a.x)", 7),
        ("PATTERN SEQ(A a, ~(C c), B* b[ ]) WITHIN 7 RETURN Pair(a.x)", 7),
        ("PATTERN SEQ(A a, ~(C c), (B b | D d)) WITHIN 7 RETURN Pair(a.x)", 0),
        ("PATTERN SEQ(A a, B b) WITHIN 7 RETURN Pair(a.ts)", 7),
    ],
)
def test_known_delays(text, expected):
    assert decided_after(text) == expected


@pytest.mark.parametrize("text", ["PATTERN SEQ(A a, B b) RETURN Pair(a.ts)", "PATTERN SEQ(A a, ~(C c)) WITHIN 7 events RETURN Pair(a.x)"])
def test_unknown_delays_are_refused(text):
    with pytest.raises(UnsupportedError, match="by no known time"):
        decided_after(text)
