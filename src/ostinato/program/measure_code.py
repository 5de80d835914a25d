"""How the output columns of matches are computed."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.expr.types import Type
from ostinato.program.column_code import ColumnCode


@dataclass(frozen=True)
class Point:
    """A row of a match that measures look at; see `expr.nodes.Nav`. `variable` is a number (see `Program.members`), -1 any. `final`
    matters where a measure is computed at every row of a match."""

    variable: int
    anchor: str  # "FIRST" | "LAST"
    offset: int
    shift: int
    final: bool = False


@dataclass(frozen=True)
class MatchAggregate:
    """An aggregate over the rows of a match. `value` is a result of `MeasureCode.rows` (-1: count rows). `final` as in `Point`."""

    function: str
    variable: int
    value: int
    type: Type
    final: bool = False


@dataclass(frozen=True)
class MeasureCode:
    """How the output columns are computed, a whole batch of matches at a time.

    `rows` is evaluated over the rows of the matches; its inputs are named "column:COLUMN" (of the stream), "classifier" and
    "match_number". `code` is evaluated over matches, or over their rows where all of them are shown; its inputs are
    named "point:P:COLUMN" (stream column COLUMN at `points[P]`), "exists:P" (whether there is such a row), "aggregate:A",
    "match_number", "classifier:P" (null for a row outside of the match), "partition:COLUMN". Without `code` (None)
    the default output is built: match_id, start_ts, end_ts, a column per variable."""

    names: tuple[str, ...]
    code: ColumnCode | None
    points: tuple[Point, ...] = ()
    aggregates: tuple[MatchAggregate, ...] = ()
    rows: ColumnCode = ColumnCode()
