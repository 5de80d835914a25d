"""One compiled query over one complete source."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.expr.temporal_text import parse_interval
from ostinato.expr.types import Kind
from ostinato.hosts.embedded.source import RowSource
from ostinato.program.program import Program
from ostinato.query import Query
from ostinato.runtime.budget import Budget

Lateness = timedelta | int | str
MICROSECOND = timedelta(microseconds=1)


def run_query(
    query: Query, source: RowSource, lateness: Lateness | None = None, budget: Budget | None = None
) -> tuple[pa.Table, dict[str, int]]:
    """The matches and the session's counters. Without `lateness` all rows are put in order first; with it they are taken as they
    arrive, as from a live stream: each waits that long, and what comes later still is left out and counted."""
    if lateness is None:
        session, batches = query.open(budget=budget, ordered=True), source.ordered(query.program)
    else:
        late = lateness_units(lateness, query.program)
        session, batches = query.open(budget=budget, lateness=late), source.arriving(query.program)
    outputs = []
    for batch in batches:
        if _waits_for_time(query.program) and session.latest is not None:
            outputs.append(session.advance(session.latest))
        outputs.append(session.push(batch))
    outputs.append(session.close())
    return pa.concat_tables(outputs), session.metrics()


def _waits_for_time(program: Program) -> bool:
    """Whether matches wait until nothing can come behind them, which a partition without further rows does not learn by itself."""
    return program.within_unit == "time" and any(negation.trails for negation in program.negations)


def lateness_units(lateness: Lateness, program: Program) -> int:
    """In the unit of the time column."""
    if program.time < 0:
        raise DataError("lateness= needs a time column to measure", hint="Order the rows by a timestamp, date or integer column, ascending")
    kind = program.columns[program.time].type.kind
    if isinstance(lateness, str):
        try:
            lateness = parse_interval(lateness)
        except ValueError as error:
            raise DataError(f"lateness={lateness!r} is no length of time: {error}", hint="Write lateness='5 minutes'") from error
    if isinstance(lateness, timedelta) == (kind is Kind.INT):
        unit = "a whole number, in the unit of the time column" if kind is Kind.INT else "a timedelta, or a text such as '5 minutes'"
        raise DataError(f"lateness={lateness!r} does not fit the time column", hint=f"It must be {unit}")
    units = _in_units(lateness, kind)
    if units < 0:
        raise DataError(f"lateness={lateness!r} is negative", hint="It is how long rows may be late")
    return units


def _in_units(lateness: timedelta | int, kind: Kind) -> int:
    if isinstance(lateness, int):
        return lateness
    if kind is Kind.DATE:
        return -(-lateness // timedelta(days=1))
    return lateness // MICROSECOND
