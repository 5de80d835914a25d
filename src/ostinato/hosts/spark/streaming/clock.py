"""What the engine's event time means to Spark, whose watermark counts milliseconds."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass

from ostinato.base.errors import DataError, SchemaError, UnsupportedError
from ostinato.expr.types import Kind
from ostinato.program.input import Input

_LARGEST = (1 << 63) - 1
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(microsecond|millisecond|second|minute|hour|day|week)s?", re.IGNORECASE)
_MILLISECONDS = {"microsecond": 0.001, "millisecond": 1, "second": 1000, "minute": 60_000}
_MILLISECONDS |= {"hour": 3_600_000, "day": 86_400_000, "week": 604_800_000}


@dataclass(frozen=True)
class Clock:
    """`ticks` of the engine's time make a millisecond of Spark's: 1000 for timestamps. An integer time has a unit of its own, and
    one unit counts as one millisecond, so that the watermark is exact."""

    ticks: int

    @staticmethod
    def of(reads: Input) -> Clock:
        if reads.time < 0:
            raise UnsupportedError(
                "a stream needs an event time to be put in order by",
                hint="begin ORDER BY with a timestamp or integer column, or pass time=",
            )
        kind = reads.columns[reads.time].type.kind
        if kind is Kind.TIMESTAMP:
            return Clock(1000)
        if kind is Kind.INT:
            return Clock(1)
        raise SchemaError(
            f"the time column {reads.columns[reads.time].name!r} is a {kind.value}: it cannot carry a watermark",
            hint="use a timestamp or an integer",
        )

    @property
    def is_integer(self) -> bool:
        return self.ticks == 1

    def to_spark(self, time: int | None) -> int | None:
        """Microseconds for Spark."""
        if time is None:
            return None
        micros = time * (1000 // self.ticks)
        if abs(micros) > _LARGEST:
            raise DataError(f"the time {time} is too large for a watermark", hint="use a coarser unit, or a timestamp column")
        return micros

    def from_watermark(self, milliseconds: int) -> int:
        return milliseconds * self.ticks

    def delay(self, lateness: int | str | dt.timedelta) -> str:
        """The lateness as Spark writes it. A number has the unit of the time column: microseconds for timestamps."""
        if isinstance(lateness, str):
            return lateness
        if isinstance(lateness, dt.timedelta):
            return f"{-(-lateness // dt.timedelta(milliseconds=1)) if lateness else 0} milliseconds"
        return f"{-(-lateness // self.ticks)} milliseconds"

    def ticks_in(self, delay: str) -> int | None:
        """A delay as Spark writes it, in the engine's time; None where it is not made of plain units (months differ in length)."""
        text = delay.strip().lower().removeprefix("interval").strip()
        if not text or _PART.sub("", text).strip():
            return None
        return math.ceil(sum(float(count) * _MILLISECONDS[unit.lower()] for count, unit in _PART.findall(text)) * self.ticks)
