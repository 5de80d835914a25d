from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from ostinato.base.errors import DataError
from ostinato.expr.types import STRING, Kind, Type, decimal
from ostinato.kernels.vectors.vector import Vector, from_arrow, to_arrow


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, None, -128], pa.int8()),
        pa.array([1, None, 2**63 - 1], pa.uint64()),
        pa.array([1.5, None, float("nan")], pa.float32()).filter(pa.array([True, True, False])),
        pa.array([True, None, False]),
        pa.array(["a", None, "ä", "a", ""]),
        pa.array([dt.date(1969, 12, 31), None]),
        pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("us")),
        pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("us", "Asia/Tokyo")),
        pa.array([dt.timedelta(1), None], pa.duration("us")),
        pa.array([Decimal("-1.50"), None, Decimal("99999999.99")], pa.decimal128(10, 2)),
        pa.array([None, None], pa.null()),
        pa.array([], pa.string()),
        pa.array(["ä"]),
        pa.array([""]),
        pa.array(["before", "own", "behind"]).slice(1, 1),
        pa.array(["before", "", None]).slice(1, 1),
        pa.array(["before", None]).slice(1, 1),
        pa.array([None], pa.string()),
    ],
)
def test_there_and_back(array):
    pieces = (array, array.slice(1), array.drop_null(), pa.array(array.to_pylist() * 9, array.type).drop_null())
    for given in (*pieces, pa.chunked_array([array, array.slice(1)]), pa.chunked_array([], array.type)):
        plain = given.combine_chunks() if isinstance(given, pa.ChunkedArray) else given
        found = to_arrow(from_arrow(given))
        assert found.type == array.type
        assert found.to_pylist() == plain.to_pylist()


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array(["x", None], pa.large_string()), ["x", None]),
        (pa.array(["x", None], pa.string_view()), ["x", None]),
        (pa.array([dt.date(2024, 1, 1), None], pa.date64()), [dt.date(2024, 1, 1), None]),
        (pa.array([-1], pa.timestamp("ms")), [dt.datetime(1969, 12, 31, 23, 59, 59, 999_000)]),
        (pa.array([2], pa.timestamp("s")), [dt.datetime(1970, 1, 1, 0, 0, 2)]),
        (pa.array([2], pa.duration("ms")), [dt.timedelta(milliseconds=2)]),
        (pa.array([Decimal("1.5")], pa.decimal256(40, 1)).cast(pa.decimal256(38, 1)), [Decimal("1.5")]),
        (pa.array([1, None], pa.dictionary(pa.int8(), pa.int64())), [1, None]),
    ],
)
def test_other_forms_are_normalised(array, values):
    assert to_arrow(from_arrow(array)).to_pylist() == values


def test_dictionaries_with_nulls_and_repetitions():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None], pa.int8()), pa.array(["a", None, "a", "b"]))
    vector = from_arrow(array)
    assert to_arrow(vector).to_pylist() == ["a", None, "a", "b", None]
    assert vector.data[0] == vector.data[2]
    assert vector.dictionary.null_count == 0


def test_chunks_with_different_dictionaries():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c", None]).dictionary_encode()]
    vector = from_arrow(pa.chunked_array(chunks))
    assert to_arrow(vector).to_pylist() == ["a", "b", "b", "c", None]
    assert vector.data[1] == vector.data[2]


def test_plain_columns_are_not_copied():
    array = pa.array(np.arange(5.0))
    assert from_arrow(array).data.ctypes.data == array.buffers()[1].address


@pytest.mark.parametrize(
    "array",
    [
        pa.array([2**63], pa.uint64()),
        pa.array([10**16], pa.timestamp("s")),
        pa.array([Decimal(10) ** 20], pa.decimal128(38, 0)),
    ],
)
def test_values_beyond_64_bits_are_refused(array):
    with pytest.raises(DataError):
        from_arrow(array)
    from_arrow(pa.array([None], array.type))


def test_results_that_their_type_cannot_hold_are_refused():
    with pytest.raises(DataError):
        to_arrow(Vector(Type(Kind.INT, bits=8), np.array([300])))
    with pytest.raises(DataError):
        to_arrow(Vector(decimal(3, 1), np.array([12345])))
    masked = Vector(decimal(3, 1), np.array([12345]), np.array([False]))
    assert to_arrow(masked).to_pylist() == [None]
    assert to_arrow(Vector(STRING, np.array([0]), np.array([False]), pa.array([], pa.large_string()))).to_pylist() == [None]
