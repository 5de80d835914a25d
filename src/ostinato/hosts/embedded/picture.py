"""A picture of a result, drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.types as pt

from ostinato.base.errors import OstinatoError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

START, END = "start_ts", "end_ts"


def draw(table: pa.Table, x: str | None, y: str | None, ax: Axes | None) -> Axes:
    axes = ax if ax is not None else _new_axes()
    if x is None and y is None and {START, END} <= set(table.column_names):
        return _spans(table, axes)
    x, y = _chosen(table, x, y)
    axes.plot(_values(table, x), _values(table, y), marker="o", linestyle="none")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return axes


def _new_axes() -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise OstinatoError("plot() needs Matplotlib", hint="pip install matplotlib") from error
    return pyplot.subplots()[1]


def _spans(table: pa.Table, axes: Axes) -> Axes:
    """One bar a match, the first at the top."""
    starts, ends = _values(table, START), _values(table, END)
    axes.hlines(range(len(starts)), starts, ends, linewidth=3)
    axes.plot(starts, range(len(starts)), marker="|", linestyle="none")
    axes.invert_yaxis()
    axes.set_xlabel("time")
    axes.set_ylabel("match")
    return axes


def _values(table: pa.Table, column: str) -> list[Any]:
    return table.column(column).to_pylist()


def _chosen(table: pa.Table, x: str | None, y: str | None) -> tuple[str, str]:
    for given in (x, y):
        if given is not None and given not in table.column_names:
            raise UnknownNameError(f"The result has no column `{given}`", hint=f"Its columns are {', '.join(table.column_names)}")
    if x is None:
        x = _first(table, _is_time, y) or _first(table, _is_number, y)
    if y is None:
        y = _first(table, _is_number, x)
    if x is None or y is None:
        raise OstinatoError(
            "There is nothing to draw: the result has no two columns of times or numbers", hint="Say which: plot(x=..., y=...)"
        )
    return x, y


def _first(table: pa.Table, test: Callable[[pa.DataType], bool], other_than: str | None) -> str | None:
    return next((field.name for field in table.schema if field.name != other_than and test(field.type)), None)


def _is_time(type_: pa.DataType) -> bool:
    return pt.is_timestamp(type_) or pt.is_date(type_)


def _is_number(type_: pa.DataType) -> bool:
    return pt.is_integer(type_) or pt.is_floating(type_) or pt.is_decimal(type_)
