"""Times in nanoseconds are shown with all their digits, wherever they stand, with pandas or without."""

import datetime as dt

import pyarrow as pa

from ostinato.inspect.plain_values import plain_values

NS = pa.timestamp("ns")


def test_times_in_nanoseconds_are_text():
    assert plain_values(pa.array([1, None, 1_000], NS)) == ["1970-01-01 00:00:00.000000001", None, "1970-01-01 00:00:00.000001"]
    assert plain_values(pa.array([5], pa.timestamp("ns", "Europe/Berlin")), "T") == ["1970-01-01T00:00:00.000000005+00"]
    assert plain_values(pa.array([1_500], pa.duration("ns"))) == ["00:00:00.000001500"]


def test_also_inside_of_others():
    event = pa.struct([("ts", NS), ("n", pa.int64())])
    nested = pa.array([[{"ts": 7, "n": 1}, None], None], pa.list_(event))
    assert plain_values(pa.chunked_array([nested])) == [[{"ts": "1970-01-01 00:00:00.000000007", "n": 1}, None], None]


def test_others_are_as_python_has_them():
    assert plain_values(pa.array([0], pa.timestamp("us"))) == [dt.datetime(1970, 1, 1)]
