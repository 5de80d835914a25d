"""One compiled query over one complete source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from ostinato.hosts.embedded.arrival import Arrival
from ostinato.hosts.embedded.push_size import PushSize
from ostinato.hosts.embedded.sources.merged_source import reading_of
from ostinato.hosts.embedded.sources.source import RowSource
from ostinato.kernels.vectors.vector import from_arrow
from ostinato.program.input import Input
from ostinato.program.pattern import Pattern
from ostinato.program.program import Program
from ostinato.query import Query
from ostinato.runtime.limits.budget import Budget, in_words, over_budget
from ostinato.runtime.matches.listing import ways_out
from ostinato.runtime.rows.ingest import MissingTimeError
from ostinato.runtime.session.graph import Found
from ostinato.runtime.session.session import RunningProgram, Session


class RowSources(Protocol):
    """Where rows come from."""

    def of(self, reads: Input) -> RowSource:
        """Those of an input, merged where it has several sources."""


@dataclass(frozen=True)
class OneSource(RowSources):
    """Of a query that reads nothing else."""

    rows: RowSource

    def of(self, reads: Input) -> RowSource:
        return self.rows


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


def run_query(
    query: Query, sources: RowSources, told: Told, arrival: Arrival, budget: Budget | None = None, threads: int | None = None
) -> pa.Table:
    """The matches. Without a lateness all rows are put in order first; with it they are taken as they arrive, as from a live stream:
    each waits that long, and what comes later still is left out, and counted or kept."""
    outputs, size = [], 0
    session = _opened(query, arrival, budget, threads)
    for found in driven(session, sources, ordered=arrival.lateness is None):
        outputs.append(session.collected(found))
        size += outputs[-1].nbytes
        _check_size(query.pattern, session.budget, size)
    told.add(session)
    return session.operator.report.joined(outputs)


def run_in_parts(
    query: Query, sources: RowSources, told: Told, arrival: Arrival, budget: Budget | None = None, threads: int | None = None
) -> Iterator[pa.Table]:
    """The matches in tables of bounded size, found as they are asked for; the session tells the rest at the end."""
    session = _opened(query, arrival, budget, threads)
    for found in driven(session, sources, ordered=arrival.lateness is None, in_parts=True):
        yield from session.own(found)
    told.add(session)


def driven(session: RunningProgram, sources: RowSources, *, ordered: bool, in_parts: bool = False) -> Iterator[Iterator[Found]]:
    """All rows of the sources, call by call; what a call finds is taken before the next."""
    program = session.program
    queues = [queue for number, reads in enumerate(program.inputs) for queue in _queues(number, reads, sources, ordered)]
    waits = any(_waits_for_time(operator.body) for operator in program.operators)
    size = PushSize(program)
    for queue, table in _in_turn(queues):
        if waits:
            yield session.let_time_pass(in_parts)
        for piece in size.pieces(table):
            yield size.counted(_found_in(queue, session.push_to(queue.input, queue.source, piece, in_parts)))
    yield session.ends(in_parts)


def _found_in(queue: _InputQueue, found: Iterator[Found]) -> Iterator[Found]:
    with _times_named(queue):
        yield from found


@dataclass
class _InputQueue:
    """Rows for an input, or for one of its sources: tables that follow one another in time."""

    input: int
    source: int | None
    rows: RowSource
    reads: Input
    tables: Iterator[pa.Table]
    head: pa.Table | None = None

    def read(self) -> None:
        with _times_named(self):
            self.head = next(self.tables, None)

    @property
    def first(self) -> int:
        """The time of the first row that is read and not pushed yet."""
        assert self.head is not None
        if self.reads.time < 0 or not self.head.num_rows:
            return 0
        vector = from_arrow(self.head.column(self.reads.time_name).slice(0, 1))
        return int(vector.data[0]) if vector.valid is None or vector.valid[0] else 0


def _queues(number: int, reads: Input, sources: RowSources, ordered: bool) -> Iterator[_InputQueue]:
    if not any(source.operator >= 0 for source in reads.sources):
        rows = sources.of(reads)
        yield _InputQueue(number, None, rows, reads, rows.ordered(reads) if ordered else rows.arriving(reads))
        return
    for place, source in enumerate(reads.sources):
        if source.operator < 0:
            alone = sources.of(Input(source.stream, ()))
            own = reading_of(source, source.stream, reads)
            yield _InputQueue(number, place, alone, own, alone.ordered(own) if ordered else alone.arriving(own))


def _in_turn(queues: list[_InputQueue]) -> Iterator[tuple[_InputQueue, pa.Table]]:
    """Whichever has the earliest rows, so that none runs far ahead of the others."""
    for queue in queues:
        queue.read()
    while waiting := [queue for queue in queues if queue.head is not None]:
        queue = waiting[0] if len(waiting) == 1 else min(waiting, key=lambda one: one.first)
        assert queue.head is not None
        yield queue, queue.head
        queue.read()


def in_order(program: Program) -> dict[str, Any]:
    """How a session is opened for rows that are put in order before. What decides moments does so in all partitions as time passes, which
    `ordered` rows alone do not tell; in the order of time no row is late."""
    return {"lateness": 0} if any(operator.body.decides_moments for operator in program.operators) else {"ordered": True}


def _opened(query: Query, arrival: Arrival, budget: Budget | None, threads: int | None) -> Session:
    if arrival.lateness is None:
        return query.open(budget=budget, threads=threads, **in_order(query.program))
    session = query.open(budget=budget, lateness=arrival.lateness, late=arrival.late, threads=threads)
    session.take_row_by_row()
    return session


@contextmanager
def _times_named(queue: _InputQueue) -> Iterator[None]:
    """A row without a time is named as it was given: the rows were put in order since."""
    try:
        yield
    except MissingTimeError:
        raise queue.rows.missing_time(queue.reads) from None


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
    return pattern.within >= 0 and pattern.within_unit == "time" and (trails or bool(pattern.reads.keys or pattern.reads.shape))
