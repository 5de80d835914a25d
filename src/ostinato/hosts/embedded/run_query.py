"""One compiled query over one complete source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from ostinato.hosts.embedded.arrival import Arrival
from ostinato.hosts.embedded.source import RowSource
from ostinato.program.pattern import Pattern
from ostinato.query import Query
from ostinato.runtime.output.listing import ways_out
from ostinato.runtime.rows.ingest import MissingTimeError
from ostinato.runtime.session.budget import Budget, in_words, over_budget
from ostinato.runtime.session.given_times import lateness_units
from ostinato.runtime.session.session import Session


@dataclass
class Told:
    """What the sessions of a query tell beside the matches: counters, and late rows where they are kept."""

    metrics: dict[str, int] = field(default_factory=dict)
    late: pa.Table | None = None

    def add(self, session: Session) -> None:
        """Of one more query of the same text; each strategy has counters of its own."""
        for name, value in session.metrics().items():
            self.metrics[name] = self.metrics.get(name, 0) + value
        if session.options.late == "keep":
            self.late = session.take_late()


def run_query(query: Query, source: RowSource, told: Told, arrival: Arrival, budget: Budget | None = None) -> pa.Table:
    """The matches. Without a lateness all rows are put in order first; with it they are taken as they arrive, as from a live stream:
    each waits that long, and what comes later still is left out, and counted or kept."""
    session, batches = _opened(query, source, arrival, budget)
    outputs, size = [], 0
    with _times_named(source, query.pattern):
        for batch in batches:
            if _waits_for_time(query.pattern) and session.latest is not None:
                outputs.append(session.advance(session.latest))
            outputs.append(session.push(batch))
            size += outputs[-1].nbytes
            _check_size(query.pattern, session.budget, size)
        outputs.append(session.close())
    told.add(session)
    return pa.concat_tables(outputs)


def run_in_parts(query: Query, source: RowSource, told: Told, arrival: Arrival, budget: Budget | None = None) -> Iterator[pa.Table]:
    """The matches in tables of bounded size, found as they are asked for; the session tells the rest at the end."""
    session, batches = _opened(query, source, arrival, budget)
    with _times_named(source, query.pattern):
        for batch in batches:
            if _waits_for_time(query.pattern) and session.latest is not None:
                yield from session.advance_in_parts(session.latest)
            yield from session.push_in_parts(batch)
        yield from session.close_in_parts()
    told.add(session)


def _opened(query: Query, source: RowSource, arrival: Arrival, budget: Budget | None) -> tuple[Session, Iterator[pa.Table]]:
    if arrival.lateness is None:
        return query.open(budget=budget, ordered=True), source.ordered(query.pattern)
    session = query.open(budget=budget, lateness=lateness_units(arrival.lateness, query.pattern), late=arrival.late)
    session.reorder.take_row_by_row()
    return session, source.arriving(query.pattern)


@contextmanager
def _times_named(source: RowSource, pattern: Pattern) -> Iterator[None]:
    """A row without a time is named as it was given: the rows were put in order since."""
    try:
        yield
    except MissingTimeError:
        raise source.missing_time(pattern) from None


def _check_size(pattern: Pattern, budget: Budget, size: int) -> None:
    """What one batch decides is within the budget; all of them together have to be as well."""
    if budget.bytes is not None and size > budget.bytes:
        raise over_budget(
            pattern, f"the result takes {in_words(size)} so far, and the budget is {in_words(budget.bytes)}", ways_out(pattern)
        )


def _waits_for_time(pattern: Pattern) -> bool:
    """Whether time decides something that a partition without further rows does not learn by itself: that nothing comes behind a match any
    more, or that what was begun is over, so that a key can be forgotten."""
    trails = any(negation.trails for negation in pattern.negations)
    return pattern.within >= 0 and pattern.within_unit == "time" and (trails or bool(pattern.reads.keys))
