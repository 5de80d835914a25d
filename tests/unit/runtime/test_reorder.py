import numpy as np
import pyarrow as pa

from ostinato.runtime.reorder import ReorderBuffer


def batch(*times):
    return pa.table({"t": pa.array(times, pa.int64())}), np.array(times, np.int64)


def times(tables):
    return sorted(t for table in tables for t in table.column("t").to_pylist())


def test_rows_wait_for_the_allowed_lateness():
    buffer = ReorderBuffer(lateness=10)
    assert times(buffer.add(*batch(5, 3))) == []
    assert times(buffer.add(*batch(14, 12))) == [3]
    assert times(buffer.add(*batch(4))) == [] and buffer.late == 0
    assert times(buffer.add(*batch(20, 2))) == [4, 5] and buffer.late == 1
    assert times(buffer.flush()) == [12, 14, 20]


def test_only_advance_moves_a_manual_horizon():
    buffer = ReorderBuffer(lateness=None)
    assert times(buffer.add(*batch(1, 2, 3))) == []
    assert times(buffer.advance(3)) == [1, 2]
    assert times(buffer.add(*batch(2, 3))) == [] and buffer.late == 1
    assert buffer.waiting_rows == 2
    restored = ReorderBuffer(lateness=None)
    restored.load(buffer.state(), buffer.horizon, buffer.late)
    assert times(restored.advance(100)) == [3, 3]


def test_columns_may_have_any_name():
    table = pa.table({"__time": [30, 10], "t": [3, 1]})
    buffer = ReorderBuffer(lateness=1)
    assert times(buffer.add(table, np.array([3, 1]))) == [1]
    restored = ReorderBuffer(lateness=1)
    restored.load(buffer.state(), buffer.horizon, buffer.late)
    (kept,) = restored.flush()
    assert kept.to_pylist() == [{"__time": 30, "t": 3}]
