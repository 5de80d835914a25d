"""What a run carries is found with work that grows with the number of values, and that number is bounded."""

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.plan.scalar.run_registers import MOST_VALUES, RegisterSet

CLAUSE = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS v PATTERN (A+ B) DEFINE B AS LAST(A.v, {}) > v)"
SCHEMA = pa.schema([("ts", pa.int64()), ("v", pa.int64())])


def calls(monkeypatch, depth: int) -> int:
    counted = []
    plain = RegisterSet._register
    monkeypatch.setattr(RegisterSet, "_register", lambda *arguments: (counted.append(1), plain(*arguments))[1])
    assert ost.compile(CLAUSE.format(depth), t=SCHEMA).pattern.registers
    monkeypatch.undo()
    return len(counted)


def test_looking_far_back_is_linear(monkeypatch):
    assert calls(monkeypatch, 800) < 2.5 * calls(monkeypatch, 400)


def test_looking_too_far_back_is_refused():
    with pytest.raises(ost.UnsupportedError, match="looks back") as caught:
        ost.compile(CLAUSE.format(MOST_VALUES + 1), t=SCHEMA)
    assert caught.value.position is not None and "PREV" in str(caught.value)
