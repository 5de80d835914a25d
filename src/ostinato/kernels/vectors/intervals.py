"""Intervals in Arrow's form of months, days and nanoseconds, which is DuckDB's, and as the microseconds that are used inside."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError

MONTHS_DAYS_NANOS = np.dtype([("months", np.int32), ("days", np.int32), ("nanos", np.int64)])
DAY = 86_400_000_000
LONGEST = 100_000_000  # days: with any number of nanoseconds beside them they fit 64 bits of microseconds


def micros_of_intervals(array: pa.Array, valid: np.ndarray | None) -> np.ndarray:
    """A day is 24 hours. Months have no fixed length: an interval with some is an error."""
    fields = _fields(array)
    refused = (fields["months"] != 0) | (np.abs(fields["days"].astype(np.int64)) > LONGEST)
    if (refused if valid is None else refused & valid).any():
        raise DataError("An interval has months, or is too long for 64 bits of microseconds", hint="Months have no fixed length; use days")
    finer = fields["nanos"] % 1000 != 0
    if (finer if valid is None else finer & valid).any():
        raise DataError("An interval is finer than microseconds", hint="Pass it as a duration in nanoseconds")
    return fields["days"].astype(np.int64) * DAY + fields["nanos"] // 1000


def days_and_nanos(lengths: np.ndarray, valid: np.ndarray | None, ticks: int) -> pa.Array:
    """Whole days apart, as long intervals would not fit nanoseconds. `ticks` of the unit are a microsecond."""
    fields = np.zeros(len(lengths), MONTHS_DAYS_NANOS)
    fields["days"], rest = np.divmod(lengths, DAY * ticks)
    fields["nanos"] = rest * (1000 // ticks)
    validity = None if valid is None else pa.array(valid).buffers()[1]
    return pa.Array.from_buffers(pa.month_day_nano_interval(), len(lengths), [validity, pa.py_buffer(fields)])


def _fields(array: pa.Array) -> np.ndarray:
    """Arbitrary where the array has a null."""
    buffer = array.buffers()[1]
    if buffer is None:
        return np.zeros(len(array), MONTHS_DAYS_NANOS)
    return np.frombuffer(buffer, MONTHS_DAYS_NANOS, len(array), array.offset * MONTHS_DAYS_NANOS.itemsize)
