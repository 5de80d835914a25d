"""Parts of dates and timestamps, by the proleptic Gregorian calendar; zoned timestamps are read in UTC."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ostinato.expr.temporal_text import UNITS
from ostinato.expr.types import FLOAT, INT, Kind, Type
from ostinato.kernels.vectors.vector import Vector

DAY = UNITS["day"]


def days_of(vector: Vector) -> np.ndarray:
    return vector.data if vector.type.kind is Kind.DATE else vector.data // DAY


def _in(days: np.ndarray, unit: str) -> np.ndarray:
    return days.astype("datetime64[D]").astype(f"datetime64[{unit}]")


def _first_of(days: np.ndarray, unit: str) -> np.ndarray:
    return _in(days, unit).astype("datetime64[D]").astype(np.int64)


def week(days: np.ndarray) -> np.ndarray:
    """ISO: the week belongs to the year of its Thursday."""
    thursday = days - (days + 3) % 7 + 3
    return (thursday - _first_of(thursday, "Y")) // 7 + 1


CALENDAR_PARTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "year": lambda days: _in(days, "Y").astype(np.int64) + 1970,
    "quarter": lambda days: _in(days, "M").astype(np.int64) % 12 // 3 + 1,
    "month": lambda days: _in(days, "M").astype(np.int64) % 12 + 1,
    "week": week,
    "day": lambda days: days - _first_of(days, "M") + 1,
    "day_of_week": lambda days: (days + 3) % 7 + 1,
    "day_of_year": lambda days: days - _first_of(days, "Y") + 1,
}
CLOCK_PARTS = {"hour": (DAY, UNITS["hour"]), "minute": (UNITS["hour"], UNITS["minute"]), "second": (UNITS["minute"], UNITS["second"])}


def calendar_part(name: str) -> Callable[[Type, Sequence[Vector]], Vector]:
    return lambda type_, args: Vector(INT, CALENDAR_PARTS[name](days_of(args[0])), args[0].valid)


def clock_part(name: str) -> Callable[[Type, Sequence[Vector]], Vector]:
    whole, unit = CLOCK_PARTS[name]
    return lambda type_, args: Vector(INT, args[0].data % whole // unit, args[0].valid)


def epoch(type_: Type, args: Sequence[Vector]) -> Vector:
    return Vector(FLOAT, args[0].data.astype(np.float64) / 1_000_000.0, args[0].valid)


def epoch_us(type_: Type, args: Sequence[Vector]) -> Vector:
    return Vector(INT, args[0].data, args[0].valid)


def truncated(type_: Type, args: Sequence[Vector]) -> Vector:
    """date_trunc: the unit is a constant."""
    unit = args[0].dictionary[int(args[0].data[0])].as_py()
    moment = args[1]
    if unit in ("year", "quarter", "month", "week", "day"):
        days = _first_day(unit, days_of(moment))
        return Vector(type_, days if moment.type.kind is Kind.DATE else days * DAY, moment.valid)
    data = moment.data if moment.type.kind is Kind.DATE else moment.data - moment.data % UNITS[unit]
    return Vector(type_, data, moment.valid)


def _first_day(unit: str, days: np.ndarray) -> np.ndarray:
    if unit == "day":
        return days
    if unit == "week":
        return days - (days + 3) % 7
    if unit == "quarter":
        months = _in(days, "M").astype(np.int64)
        return (months - months % 3).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return _first_of(days, {"year": "Y", "month": "M"}[unit])


FUNCTIONS = {
    **{name: calendar_part(name) for name in CALENDAR_PARTS},
    **{name: clock_part(name) for name in CLOCK_PARTS},
    "epoch": epoch,
    "epoch_us": epoch_us,
    "date_trunc": truncated,
}
