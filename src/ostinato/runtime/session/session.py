"""A running program: batches in, decided matches out. Every host drives this."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

import pyarrow as pa

from ostinato.base.errors import BudgetError, OstinatoError, StateError
from ostinato.program.program import Program
from ostinato.program.verification.verify import verify
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session import session_state
from ostinato.runtime.session.given_times import Watermark
from ostinato.runtime.session.graph import Feed, Found, Graph
from ostinato.runtime.session.pattern_operator import PatternOperator
from ostinato.runtime.session.quarantine import check_policy
from ostinato.runtime.session.session_options import NOT_GIVEN, NotGiven, settled


class RunningProgram:
    """`lateness`: how long rows may be late, in the unit of the time column; 0 (the default): they come in order; None: only `advance`
    says so. `late`: what becomes of later ones, "count" or "keep", for `take_late`.
    `ordered`: the caller guarantees the query's order, within and across batches (then a time column may have nulls).
    `batches_apart`: the caller guarantees that no two batches share a time, so that no row has to wait for others of the same time.
    A `snapshot` carries all of it: what is said again has to be the same, but for the budget.
    One call at a time: rows that two threads push at once have no order, so the second is refused (`ost.Receiver` gives them one).
    `on_error`: "raise", or "quarantine" where there are several queries: one that fails is put aside, and the others go on.
    `threads`: how many may share the work of a call, None: as many as there are processors. Nothing that is found depends on it."""

    def __init__(
        self,
        program: Program,
        *,
        budget: Budget | None = None,
        lateness: int | NotGiven | None = NOT_GIVEN,
        ordered: bool | None = None,
        late: str | None = None,
        snapshot: bytes | None = None,
        batches_apart: bool = False,
        on_error: str = "raise",
        without: Collection[str] = (),
        threads: int | None = 1,
    ) -> None:
        self.program = verify(program)
        saved = None if snapshot is None else session_state.opened(program, snapshot)
        self.options = settled(lateness, ordered, late, budget, None if saved is None else saved.options)
        self.budget = self.options.budget or Budget()
        told: dict[str, Any] = {"without": without, "quarantines": check_policy(on_error) == "quarantine", "threads": threads}
        self.graph = Graph(program, self.options, self.budget, batches_apart=batches_apart, **told)
        self.closed = False
        self._failed = False
        self._one_caller = Lock()
        if saved is not None:
            session_state.restore(self.graph, saved)

    @property
    def latest(self) -> int | None:
        """The time of the last row, where rows come in order from one input."""
        return self.graph.inputs[0].latest

    def take_row_by_row(self) -> None:
        """What is late is decided as if every row were a batch of its own, however rows come."""
        for source in self.graph.inputs:
            for buffer in source.before.values() if source.has_upstream else (source.reorder,):
                buffer.take_row_by_row()

    def _pushed(self, stream: Any, batch: Any, in_parts: bool) -> Iterator[Found]:
        """`push(batch)` is for a program of one stream, `push(stream, batch)` says of which stream the rows are."""
        self._usable()
        if batch is None:
            return self._within_memory(self.graph.push(None, stream, in_parts))
        return self._within_memory(self.graph.push(stream, batch, in_parts))

    def _advanced(self, watermark: Watermark, in_parts: bool) -> Iterator[Found]:
        self._usable()
        return self._within_memory(self.graph.advance(watermark, in_parts))

    def push_to(self, number: int, source: int | None, rows: Any, in_parts: bool) -> Iterator[Found]:
        """Rows for one of the inputs, or for one of its sources; for hosts that read each of them apart."""
        self._usable()
        return self._within_memory(self.graph.push_to(number, source, rows, in_parts))

    def advance_feeds(self, watermarks: Mapping[Feed, int], in_parts: bool) -> Iterator[Found]:
        """How far each of the sources from outside has come; for hosts that know it of each of them."""
        self._usable()
        return self._within_memory(self.graph.advance_feeds(watermarks, in_parts))

    def let_time_pass(self, in_parts: bool) -> Iterator[Found]:
        """Of rows in order: what their times decide, also in partitions that get none."""
        self._usable()
        return self._within_memory(self.graph.let_time_pass(in_parts))

    def ends(self, in_parts: bool) -> Iterator[Found]:
        """No row will come any more."""
        self._usable()
        yield from self._within_memory(self.graph.close(in_parts))
        self.closed = True

    def _within_memory(self, found: Iterator[Found]) -> Iterator[Found]:
        if not self._one_caller.acquire(blocking=False):
            raise _at_work()
        try:
            yield from found
        except MemoryError as error:
            self._failed = True
            raise self.graph.limits.out_of_memory(error) from error
        except BudgetError:
            self._failed = True
            raise
        finally:
            self._one_caller.release()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._one_caller.acquire(blocking=False):
            raise _at_work()
        try:
            yield
        finally:
            self._one_caller.release()

    def snapshot(self) -> bytes:
        """Everything that is needed to go on, as bytes with a version."""
        self._usable()
        with self._alone():
            return session_state.save(self.program, self.options, self.graph)

    def take_late(self) -> pa.Table:
        """The rows that came too late since they were last taken, with the columns that the query reads and the reason."""
        if self.options.late != "keep":
            raise OstinatoError("late rows are only counted", hint='Open the session with late="keep" to have them')
        with self._alone():
            kept = [source.late.take() for source in self.graph.inputs]
        return kept[0] if len(kept) == 1 else pa.concat_tables(kept, promote_options="permissive")

    def check_free(self) -> None:
        """Refuse if it cannot be called now."""
        self._usable()

    def _usable(self) -> None:
        if self._one_caller.locked():
            raise _at_work()
        if self.closed:
            raise StateError("the session is closed", hint="open a new one from the query")
        if self._failed or self.graph.half_way:
            hint = "restore a snapshot from before that batch, or open a new session"
            raise StateError("the session stopped at an error in an earlier batch", hint=hint)


def _at_work() -> StateError:
    hint = "wait for it, take all parts that it returns, or let ost.Receiver(session) put the batches of several threads in one queue"
    return StateError("the session is at work in another call", hint=hint)


class Session(RunningProgram):
    """A program with one result."""

    def __init__(self, program: Program, **told: Any) -> None:
        super().__init__(program, **told)
        if len(program.results) != 1:
            raise StateError(f"the program has {len(program.results)} results, and a session returns one")
        self._result = program.results[0].operator

    @property
    def operator(self) -> PatternOperator:
        """The one whose results are returned."""
        return self.graph.operators[self._result]

    @property
    def schema(self) -> pa.Schema:
        return self.operator.report.schema

    @property
    def key_count(self) -> int:
        """Partitions that are known now."""
        return self.operator.source.key_count

    def push(self, stream: Any, batch: Any = None) -> pa.Table:
        """Take rows in, as Arrow or as a frame that gives itself as Arrow; returns the matches that are decided now. `push(batch)` is for
        a query of one stream, `push(stream, batch)` says of which stream the rows are."""
        return self.collected(self._pushed(stream, batch, in_parts=False))

    def push_rows(self, rows: Any) -> pa.Table:
        """Rows that have the columns of every input; as hosts give them, which know of no streams."""
        return self.push(rows)

    def push_in_parts(self, stream: Any, batch: Any = None) -> Iterator[pa.Table]:
        """The same in tables of bounded size, however many matches there are: per partition in their order, except that those of one
        completing event may be cut apart. The session goes on when all of them are taken."""
        yield from self.own(self._pushed(stream, batch, in_parts=True))

    def advance(self, watermark: Watermark) -> pa.Table:
        """No row with a time below `watermark` will come any more: release what waited, decide what only time decides."""
        return self.collected(self._advanced(watermark, in_parts=False))

    def advance_in_parts(self, watermark: Watermark) -> Iterator[pa.Table]:
        """See `push_in_parts`."""
        yield from self.own(self._advanced(watermark, in_parts=True))

    def close(self) -> pa.Table:
        """No row will come any more. The session cannot be used afterwards."""
        return self.collected(self.ends(in_parts=False))

    def close_in_parts(self) -> Iterator[pa.Table]:
        """See `push_in_parts`."""
        yield from self.own(self.ends(in_parts=True))

    def metrics(self) -> dict[str, int]:
        return self.graph.metrics()

    def own(self, found: Iterator[Found]) -> Iterator[pa.Table]:
        """Those of the result."""
        return (table for operator, table in found if operator == self._result)

    def collected(self, found: Iterator[Found]) -> pa.Table:
        """What one call returns."""
        try:
            return self.operator.report.joined(self.graph.limits.within_budget(self.own(found)))
        except BudgetError:
            self._failed = True
            raise
