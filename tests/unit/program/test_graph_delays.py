"""How long a later query of a text has to wait for the events of an earlier one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ostinato.compiler import compile
from ostinato.program.analysis.output_times import input_delays, result_times

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("x", pa.int64())])
LAST = "PATTERN SEQ(Pair p, Pair q) WITHIN 20 RETURN p.ts AS since"


def delays(text: str) -> list[int | None]:
    return input_delays(compile(f"{text}; {LAST}", {"events": SCHEMA}, type_by="kind").program)


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
        ("PATTERN SEQ(A a, B b, ~(C c)) WITHIN 7 RETURN Pair(a.ts)", 14),
        ("PATTERN SEQ(A a, B b) WITHIN 7 RETURN Two(a.ts); PATTERN SEQ(Two t, ~(A n)) WITHIN 5 RETURN Pair(t.ts AS x)", 12),
        ("PATTERN SEQ(A a, B b) RETURN Pair(a.ts)", None),
        ("PATTERN SEQ(A a, ~(C c)) WITHIN 7 events RETURN Pair(a.x)", None),
    ],
)
def test_delays(text, expected):
    assert delays(text)[0] == 0
    assert delays(text)[-1] == expected


def test_of_the_result():
    program = compile(f"PATTERN SEQ(A a, B b, ~(C c)) WITHIN 7 RETURN Pair(a.x); {LAST}", {"events": SCHEMA}, type_by="kind").program
    assert result_times(program) == {"since": 27}
    assert result_times(program, before=3) == {"since": 30}
