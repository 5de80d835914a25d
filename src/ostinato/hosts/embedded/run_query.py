"""One compiled query over one complete source."""

from __future__ import annotations

import pyarrow as pa

from ostinato.hosts.embedded.source import RowSource
from ostinato.program.program import Program
from ostinato.query import Query
from ostinato.runtime.budget import Budget
from ostinato.runtime.given_times import Lateness, lateness_units
from ostinato.runtime.ingest import MissingTimeError


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
    try:
        for batch in batches:
            if _waits_for_time(query.program) and session.latest is not None:
                outputs.append(session.advance(session.latest))
            outputs.append(session.push(batch))
        outputs.append(session.close())
    except MissingTimeError:
        raise source.missing_time(query.program) from None  # the rows were put in order since they were given
    return pa.concat_tables(outputs), session.metrics()


def add_counts(to: dict[str, int], counted: dict[str, int]) -> None:
    """Those of a further query of the same text; each strategy has counters of its own."""
    for name, value in counted.items():
        to[name] = to.get(name, 0) + value


def _waits_for_time(program: Program) -> bool:
    """Whether time decides something that a partition without further rows does not learn by itself: that nothing comes behind a match any
    more, or that what was begun is over, so that a key can be forgotten."""
    trails = any(negation.trails for negation in program.negations)
    return program.within >= 0 and program.within_unit == "time" and (trails or bool(program.keys))
