"""The types of values, and how each is held in arrays.

Physical form inside the engine: BOOL is bool; INT, DATE (days), TIMESTAMP (UTC, or local wall time without zone), INTERVAL (both in
their `unit`, microseconds or nanoseconds) and DECIMAL (scaled by 10**scale) are int64; FLOAT is float64; STRING is a dictionary code.
A LIST is what ARRAY_AGG gives, and an OPAQUE value any other of Arrow's (structs, lists, maps, binary, ...): a position among such
values; nothing computes with either. Fields of structs are columns of their own, see `expr.typing.schema`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    NULL = "null"
    BOOL = "boolean"
    INT = "integer"
    FLOAT = "double"
    DECIMAL = "decimal"
    STRING = "string"
    DATE = "date"
    TIMESTAMP = "timestamp"
    INTERVAL = "interval"
    LIST = "list"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type that is passed through: Arrow's own form of it, as text; its name; and the fields of a struct."""

    form: str
    shown: str
    fields: tuple[tuple[str, Type], ...] = ()


@dataclass(frozen=True, slots=True)
class Type:
    """`bits` and `signed` only remember how a plain column came in, so that it goes out the same; they never limit arithmetic."""

    kind: Kind
    bits: int = 64
    signed: bool = True
    precision: int = 0
    scale: int = 0
    zone: str | None = None
    item: Type | None = None  # of a list
    unit: str = "us"  # of a timestamp or an interval: "us" or "ns"
    opaque: Opaque | None = None

    def __str__(self) -> str:
        if self.kind is Kind.DECIMAL:
            return f"decimal({self.precision},{self.scale})"
        if self.kind in (Kind.TIMESTAMP, Kind.INTERVAL):
            return self.kind.value + (" with time zone" if self.zone is not None else "") + (" in nanoseconds" if self.unit == "ns" else "")
        if self.kind is Kind.LIST:
            return f"list of {self.item}"
        if self.opaque is not None:
            return self.opaque.shown
        return self.kind.value

    @property
    def is_numeric(self) -> bool:
        return self.kind in (Kind.INT, Kind.FLOAT, Kind.DECIMAL)

    @property
    def is_computable(self) -> bool:
        """Whether anything but looking at whether it is null can be done with a value."""
        return self.kind not in (Kind.LIST, Kind.OPAQUE)

    @property
    def is_temporal(self) -> bool:
        return self.kind in (Kind.DATE, Kind.TIMESTAMP)

    @property
    def ticks(self) -> int:
        """How many of its units a microsecond has."""
        return 1000 if self.unit == "ns" else 1


NULL = Type(Kind.NULL)
BOOL = Type(Kind.BOOL)
INT = Type(Kind.INT)
FLOAT = Type(Kind.FLOAT)
STRING = Type(Kind.STRING)
DATE = Type(Kind.DATE)
TIMESTAMP = Type(Kind.TIMESTAMP)
TIMESTAMP_TZ = Type(Kind.TIMESTAMP, zone="UTC")
INTERVAL = Type(Kind.INTERVAL)
TIMESTAMP_NS = Type(Kind.TIMESTAMP, unit="ns")
TIMESTAMP_TZ_NS = Type(Kind.TIMESTAMP, zone="UTC", unit="ns")
INTERVAL_NS = Type(Kind.INTERVAL, unit="ns")


def finer_unit(a: Type, b: Type) -> str:
    """Holds the times of both exactly, as far as they are in its range."""
    return "ns" if "ns" in (a.unit, b.unit) else "us"


def timestamp(*, zoned: bool, nanos: bool = False) -> Type:
    return (TIMESTAMP_TZ_NS if zoned else TIMESTAMP_NS) if nanos else (TIMESTAMP_TZ if zoned else TIMESTAMP)


def list_of(item: Type) -> Type:
    return Type(Kind.LIST, item=item)


def decimal(precision: int, scale: int) -> Type:
    return Type(Kind.DECIMAL, precision=precision, scale=scale)
