"""Parts of dates and timestamps, by the proleptic Gregorian calendar; zoned timestamps are read in UTC."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ostinato.expr.times.temporal_text import UNITS
from ostinato.expr.types import FLOAT, INT, Kind, Type
from ostinato.kernels.vectors.arithmetic import checked_product, overflowing
from ostinato.kernels.vectors.nulls import failing
from ostinato.kernels.vectors.vector import Vector

DAY = UNITS["day"]


def days_of(vector: Vector) -> np.ndarray:
    return vector.data if vector.type.kind is Kind.DATE else vector.data // (DAY * vector.type.ticks)


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

    def part(type_: Type, args: Sequence[Vector]) -> Vector:
        ticks = args[0].type.ticks
        return Vector(INT, args[0].data % (whole * ticks) // (unit * ticks), args[0].valid)

    return part


def epoch(type_: Type, args: Sequence[Vector]) -> Vector:
    return Vector(FLOAT, args[0].data.astype(np.float64) / (1_000_000.0 * args[0].type.ticks), args[0].valid)


def epoch_us(type_: Type, args: Sequence[Vector]) -> Vector:
    return Vector(INT, args[0].data if args[0].type.ticks == 1 else args[0].data // args[0].type.ticks, args[0].valid)


def epoch_ns(type_: Type, args: Sequence[Vector]) -> Vector:
    return in_unit(args[0], INT, 1000 // args[0].type.ticks)


def in_unit(vector: Vector, type_: Type, factor: int) -> Vector:
    """In a unit that is `factor` times finer; what 64 bits cannot hold fails."""
    if factor == 1:
        return Vector(type_, vector.data, vector.valid)
    data, beyond = checked_product(vector.data, np.array([factor], np.int64))
    return Vector(type_, data, vector.valid, None, failing(beyond, vector.valid, *overflowing(type_)))


def truncated(type_: Type, args: Sequence[Vector]) -> Vector:
    """date_trunc: the unit is a constant."""
    unit = args[0].dictionary[int(args[0].data[0])].as_py()
    moment = args[1]
    if unit in ("year", "quarter", "month", "week", "day"):
        days = _first_day(unit, days_of(moment))
        first = Vector(type_, days, moment.valid)
        return first if moment.type.kind is Kind.DATE else in_unit(first, type_, DAY * type_.ticks)
    data = moment.data if moment.type.kind is Kind.DATE else moment.data - moment.data % (UNITS[unit] * type_.ticks)
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
    "epoch_ns": epoch_ns,
    "date_trunc": truncated,
}
