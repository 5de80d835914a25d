"""Times and lengths of time in nanoseconds, as plain values: Python's own stop at microseconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, order=True, slots=True)
class Duration:
    nanos: int

    def __add__(self, other: Duration) -> Duration:
        return Duration(self.nanos + other.nanos)

    def __abs__(self) -> Duration:
        return Duration(abs(self.nanos))

    def __neg__(self) -> Duration:
        return Duration(-self.nanos)


@dataclass(frozen=True, order=True, slots=True)
class Moment:
    """Nanoseconds since 1970-01-01, of UTC if `zoned`, else of the wall clock."""

    nanos: int
    zoned: bool = False

    def __sub__(self, other: Moment) -> Duration:
        return Duration(self.nanos - other.nanos)


def nanos_of_time(value: datetime | Moment) -> int:
    """A zone is converted to UTC. Subclasses of datetime that know nanoseconds (pandas' do) keep them."""
    if isinstance(value, Moment):
        return value.nanos
    finer = int(getattr(value, "nanosecond", 0))
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return (value - EPOCH) // MICROSECOND * 1000 + finer


def nanos_of_length(value: timedelta | Duration) -> int:
    if isinstance(value, Duration):
        return value.nanos
    return value // MICROSECOND * 1000 + int(getattr(value, "nanoseconds", 0))


def is_zoned(value: datetime | Moment) -> bool:
    return value.zoned if isinstance(value, Moment) else value.tzinfo is not None


def as_utc(value: datetime | Moment) -> datetime | Moment:
    """A wall-clock reading read as UTC."""
    return Moment(value.nanos, True) if isinstance(value, Moment) else value.replace(tzinfo=UTC)
