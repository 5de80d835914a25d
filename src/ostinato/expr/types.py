"""The types of values, and how each is held in arrays.

Physical form inside the engine: BOOL is bool; INT, DATE (days), TIMESTAMP (microseconds UTC, or local wall time without zone),
INTERVAL (microseconds) and DECIMAL (scaled by 10**scale) are int64; FLOAT is float64; STRING is a dictionary code. A LIST is what
ARRAY_AGG gives; nothing computes with it.
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

    def __str__(self) -> str:
        if self.kind is Kind.DECIMAL:
            return f"decimal({self.precision},{self.scale})"
        if self.kind is Kind.TIMESTAMP and self.zone is not None:
            return "timestamp with time zone"
        if self.kind is Kind.LIST:
            return f"list of {self.item}"
        return self.kind.value

    @property
    def is_numeric(self) -> bool:
        return self.kind in (Kind.INT, Kind.FLOAT, Kind.DECIMAL)

    @property
    def is_temporal(self) -> bool:
        return self.kind in (Kind.DATE, Kind.TIMESTAMP)


NULL = Type(Kind.NULL)
BOOL = Type(Kind.BOOL)
INT = Type(Kind.INT)
FLOAT = Type(Kind.FLOAT)
STRING = Type(Kind.STRING)
DATE = Type(Kind.DATE)
TIMESTAMP = Type(Kind.TIMESTAMP)
TIMESTAMP_TZ = Type(Kind.TIMESTAMP, zone="UTC")
INTERVAL = Type(Kind.INTERVAL)


def list_of(item: Type) -> Type:
    return Type(Kind.LIST, item=item)


def decimal(precision: int, scale: int) -> Type:
    return Type(Kind.DECIMAL, precision=precision, scale=scale)
