"""Streams that the tests of CEL read."""

from __future__ import annotations

import pyarrow as pa

SCHEMAS = {
    "stock": pa.schema(
        [("ts", pa.int64()), ("id", pa.int64()), ("name", pa.string()), ("price", pa.int64()), ("Dev", pa.struct([("id", pa.int64())]))]
    ),
    "news": pa.schema([("ts", pa.int64()), ("id", pa.int64()), ("score", pa.float64())]),
    "tick": pa.schema([("ts", pa.timestamp("us")), ("x", pa.int8()), ("dur", pa.int64()), ("d", pa.decimal128(6, 2))]),
    "fine": pa.schema([("ts", pa.timestamp("ns")), ("y", pa.int64())]),
    "trade": pa.schema([("start_ts", pa.int64()), ("end_ts", pa.int64()), ("z", pa.int64())]),
    "odd": pa.schema([("ts", pa.int64()), ("start_ts", pa.int64()), ("u", pa.dense_union([pa.field("a", pa.int64())]))]),
    "timeless": pa.schema([("x", pa.int64())]),
}
