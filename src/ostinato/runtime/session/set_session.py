"""A running set of queries: batches in, the decided matches of each query out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pyarrow as pa

from ostinato.base.errors import BudgetError, OstinatoError, StateError
from ostinato.expr.user_function import UserFunction
from ostinato.program import serde
from ostinato.program.functions_used import functions_of
from ostinato.program.program import Program
from ostinato.program.query_graphs import with_query, without_query
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.query_forms import QueryForms
from ostinato.program.shapes.shape import is_shape
from ostinato.program.verification.verify import verify
from ostinato.runtime.delivery.match_stream import WAITING, MatchStream
from ostinato.runtime.delivery.subscriptions import Callback, Subscription, Subscriptions, wanted
from ostinato.runtime.rows.stream_form import unknown_stream
from ostinato.runtime.session.given_times import Watermark
from ostinato.runtime.session.graph import Found
from ostinato.runtime.session.query_metrics import query_metrics
from ostinato.runtime.session.session import RunningProgram
from ostinato.runtime.session.set_members import SetMembers

MAGIC = b"OSTQ"


class SetSession(RunningProgram):
    """`streams` are the names of all streams, also of those that no query reads now. Calls return a mapping from the names of queries to
    their new matches, of those that have some. Queries come and go between calls (`add`, `remove`); the others do not notice. One that
    fails is put in quarantine, unless `on_error` is "raise"; those in `quarantined` are from the beginning."""

    def __init__(
        self,
        program: Program,
        *,
        streams: Collection[str] = (),
        snapshot: bytes | None = None,
        on_error: str = "quarantine",
        quarantined: Mapping[str, OstinatoError] | None = None,
        splits: bool = True,
        **told: Any,
    ) -> None:
        stored = None if snapshot is None or snapshot[:4] != MAGIC else _unpacked(snapshot, functions_of(program))
        if stored is not None:
            program, snapshot = _same_queries(stored[0], program), stored[1]
        super().__init__(program, snapshot=snapshot, on_error=on_error, **told)
        self._known = {stream.lower() for stream in streams}
        for query, error in (quarantined or {}).items():
            self.graph.quarantine.take(query, error)
        self.graph.expel()
        self._subscriptions = Subscriptions()
        self.members = SetMembers(self.graph, splits)
        self._name_results()

    def _name_results(self) -> None:
        self.members.look()
        self._queries: dict[int, str] = {result.operator: result.query for result in self.program.results}

    @property
    def queries(self) -> tuple[str, ...]:
        return (*(query for query in self._queries.values() if not is_shape(query)), *self.members)

    def push(self, stream: str, batch: Any) -> dict[str, pa.Table]:
        """Take rows of a stream in."""
        if not any(stream.lower() == name.lower() for name in self.graph.streams):
            if stream.lower() not in self._known:
                raise unknown_stream(stream, sorted(self._known))
            self._usable()
            return {}
        return self.collected(self._pushed(stream, batch, in_parts=False))

    def push_rows(self, rows: Any) -> dict[str, pa.Table]:
        """Rows that have the columns of every input; as hosts give them, which know of no streams."""
        self._usable()
        return self.collected(self._within_memory(self.graph.push_rows(rows, in_parts=False)))

    def advance(self, watermark: Watermark) -> dict[str, pa.Table]:
        """No row with a time below `watermark` will come any more, in any stream."""
        return self.collected(self._advanced(watermark, in_parts=False))

    def close(self) -> dict[str, pa.Table]:
        """No row will come any more. The session cannot be used afterwards."""
        return self.collected(self.ends(in_parts=False))

    @property
    def quarantined(self) -> dict[str, OstinatoError]:
        """The queries that an error has stopped, each with that error. One that is removed and added again begins anew."""
        return dict(self.graph.quarantine.errors)

    def add(self, query: str, own: Program | Member) -> None:
        """A query that sees the rows that come from now on; `own` is its program alone, or what it is of a shape. It shares rows with
        others that have had none yet."""
        self.change((), {query: own})

    def remove(self, query: str) -> None:
        """What it had begun is forgotten."""
        self.change((query,), {})

    def change(self, removed: Collection[str], added: Mapping[str, Program | Member]) -> None:
        """Some go, others come; one that is in both begins anew. Queries of shapes that are known change nothing but a table."""
        self._usable()
        with self._alone():
            self._remove([query for query in removed if not self.members.remove(query)])
            self._add(added)

    def _remove(self, queries: Collection[str]) -> None:
        if queries:
            program = self.program
            for query in queries:
                program = without_query(program, query)
            self._change(program)

    def _add(self, added: Mapping[str, Program | Member]) -> None:
        members = {query: own for query, own in added.items() if isinstance(own, Member)}
        program = self.members.with_shapes(self.program, members.values())
        known = len(program.inputs)
        fresh = [number for number, source in enumerate(self.graph.inputs) if not source.has_begun]
        for query, own in added.items():
            if isinstance(own, Program):
                program = with_query(program, query, own, [*fresh, *range(known, len(program.inputs))])
        if program is not self.program:
            self._change(program)
        self.members.add(members)

    def _change(self, program: Program) -> None:
        self.program = verify(program)
        self.graph.change(program)
        self._name_results()

    def settled(self) -> Program:
        """The program with all queries that there are now; which of them share rows follows from when they were added."""
        self.program = self.members.current(self.program)
        return self.program

    def snapshot(self) -> bytes:
        """With the program."""
        program = serde.dumps(self.settled())
        return MAGIC + len(program).to_bytes(8, "big") + program + super().snapshot()

    def metrics(self, by: str | None = None) -> Any:
        """Counters of all rows, and of all queries together; `by="query"`: a table with a line for each query, see `query_metrics`."""
        if by not in (None, "query"):
            raise OstinatoError(f"metrics by {by!r} are unknown", hint='by="query" counts each query')
        if by is None:
            return {**self.graph.metrics(), **self.members.counters()}
        return query_metrics(self.graph, self.members.counts())

    def subscribe(self, queries: str | Collection[str], callback: Callback) -> Subscription:
        """`callback(query, matches)` is called with the new matches of some queries, by every call that finds some, in its thread.
        `queries`: the name of one, a pattern of names ("price-*"), or several of these; also such as are added later. `unsubscribe()` of
        what it returns ends it; what the callback raises is counted there, and stops nobody else."""
        if not callable(callback):
            raise OstinatoError(f"{callback!r} cannot be called", hint="Pass a function of the name of a query and its new matches")
        subscription = Subscription(wanted(queries), callback, self._subscriptions)
        self._subscriptions.add(subscription)
        return subscription

    def listen(self, queries: str | Collection[str] = "*", *, limit: int = WAITING) -> MatchStream:
        """The same for an asyncio task: `async for query, matches in session.listen("price-*")`. Called inside of the event loop."""
        stream = MatchStream(wanted(queries), self._subscriptions, limit)
        self._subscriptions.add(stream)
        return stream

    def collected(self, found: Iterator[Found]) -> dict[str, pa.Table]:
        """What one call returns."""
        tables: dict[int, list[pa.Table]] = {}

        def kept() -> Iterator[pa.Table]:
            for operator, table in found:
                if operator in self._queries and table.num_rows:
                    tables.setdefault(operator, []).append(table)
                    yield table

        try:
            self.graph.limits.within_budget(kept())
        except BudgetError:
            self._failed = True
            raise
        stopped = self.graph.quarantine.errors
        matches: dict[str, pa.Table] = {}
        for n in sorted(tables):
            if self._queries[n] not in stopped:
                whole = self.graph.operators[n].report.joined(tables[n])
                matches |= self.members.split(n, whole) if self.members.is_shape(n) else {self._queries[n]: whole}
        if self._subscriptions:
            self._subscriptions.deliver(matches)
        return matches


def _unpacked(data: bytes, functions: Mapping[str, UserFunction]) -> tuple[Program, bytes]:
    size = int.from_bytes(data[4:12], "big")
    return verify(serde.loads(bytes(data[12 : 12 + size]), functions)), bytes(data[12 + size :])


def _same_queries(stored: Program, wanted: Program) -> Program:
    """The stored program, if its queries are those that are wanted. Which of them are rows of a shape may differ."""
    before, now = QueryForms(stored), QueryForms(wanted)
    differing = sorted(before.names ^ now.names) or [query for query in sorted(now.names) if not now.is_same(query, before)]
    if differing:
        raise StateError(
            f"the snapshot belongs to another set of queries: {differing[0]!r} is not the same",
            hint="open the set that made it, then add and remove queries",
        )
    return stored
