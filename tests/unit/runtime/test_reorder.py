import numpy as np
import pyarrow as pa

from ostinato.runtime.rows.reorder import ReorderBuffer


class Late:
    """Counts what is too late."""

    def __init__(self):
        self.count = 0

    def __call__(self, rows, watermark):
        self.count += rows.num_rows


def batch(*times):
    return pa.table({"t": pa.array(times, pa.int64())}), np.array(times, np.int64)


def times(tables):
    return sorted(t for table in tables for t in table.column("t").to_pylist())


def test_rows_wait_for_the_allowed_lateness():
    buffer = ReorderBuffer(10, False, late := Late())
    assert times(buffer.add(*batch(5, 3))) == []
    assert times(buffer.add(*batch(14, 12))) == [3]
    assert times(buffer.add(*batch(4))) == [] and late.count == 0
    assert times(buffer.add(*batch(20, 2))) == [4, 5] and late.count == 1
    assert times(buffer.flush()) == [12, 14, 20]


def test_only_advance_moves_a_manual_horizon():
    buffer = ReorderBuffer(None, False, late := Late())
    assert times(buffer.add(*batch(1, 2, 3))) == []
    assert times(buffer.advance(3)) == [1, 2]
    assert times(buffer.add(*batch(2, 3))) == [] and late.count == 1
    assert buffer.waiting_rows == 2
    restored = ReorderBuffer(None, False, Late())
    restored.load(buffer.state(), buffer.watermark)
    assert times(restored.advance(100)) == [3, 3]


def test_columns_may_have_any_name():
    table = pa.table({"__time": [30, 10], "t": [3, 1]})
    buffer = ReorderBuffer(1, False, Late())
    assert times(buffer.add(table, np.array([3, 1]))) == [1]
    restored = ReorderBuffer(1, False, Late())
    restored.load(buffer.state(), buffer.watermark)
    (kept,) = restored.flush()
    assert kept.to_pylist() == [{"__time": 30, "t": 3}]
