"""Streams for the tests of TPStream."""

from __future__ import annotations

import pyarrow as pa

TIME = pa.timestamp("us")
CARS = pa.schema(
    [("ts", TIME), ("car", pa.int64()), ("speed", pa.float64()), ("accel", pa.float64()), ("on", pa.bool_()), ("name", pa.string())]
)
ENGINE = pa.schema([("ts", TIME), ("car", pa.int64()), ("temp", pa.int64())])
JOBS = pa.schema([("begun", TIME), ("ended", TIME), ("car", pa.int64()), ("kind", pa.string()), ("day", pa.date32())])
TICKS = pa.schema([("ts", pa.int64()), ("x", pa.int64()), ("f", pa.bool_())])
SCHEMAS = {"cars": CARS, "engine": ENGINE, "jobs": JOBS, "ticks": TICKS}
