"""A running set of queries: batches in, the decided matches of each query out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pyarrow as pa

from ostinato.base.errors import BudgetError, StateError
from ostinato.expr.user_function import UserFunction
from ostinato.program import serde
from ostinato.program.functions_used import functions_of
from ostinato.program.program import Program
from ostinato.program.query_graphs import query_in, with_query, without_query
from ostinato.program.verification.verify import verify
from ostinato.runtime.rows.stream_form import unknown_stream
from ostinato.runtime.session.given_times import Watermark
from ostinato.runtime.session.graph import Found
from ostinato.runtime.session.session import RunningProgram

MAGIC = b"OSTQ"


class SetSession(RunningProgram):
    """`streams` are the names of all streams, also of those that no query reads now. Calls return a mapping from the names of queries to
    their new matches, of those that have some. Queries come and go between calls (`add`, `remove`); the others do not notice."""

    def __init__(self, program: Program, *, streams: Collection[str] = (), snapshot: bytes | None = None, **told: Any) -> None:
        stored = None if snapshot is None or snapshot[:4] != MAGIC else _unpacked(snapshot, functions_of(program))
        if stored is not None:
            program, snapshot = _same_queries(stored[0], program), stored[1]
        super().__init__(program, snapshot=snapshot, **told)
        self._known = {stream.lower() for stream in streams}
        self._name_results()

    def _name_results(self) -> None:
        self._queries: dict[int, str] = {result.operator: result.query for result in self.program.results}

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(result.query for result in self.program.results)

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

    def add(self, query: str, own: Program) -> None:
        """A query that sees the rows that come from now on; `own` is its program alone. It shares rows with others that have had none
        yet."""
        self._usable()
        fresh = [number for number, source in enumerate(self.graph.inputs) if not source.has_begun]
        self._change(with_query(self.program, query, own, fresh))

    def remove(self, query: str) -> None:
        """What it had begun is forgotten."""
        self._usable()
        self._change(without_query(self.program, query))

    def _change(self, program: Program) -> None:
        self.program = verify(program)
        self.graph.change(program)
        self._name_results()

    def snapshot(self) -> bytes:
        """With the program: which queries share rows follows from when they were added."""
        program = serde.dumps(self.program)
        return MAGIC + len(program).to_bytes(8, "big") + program + super().snapshot()

    def metrics(self) -> dict[str, Any]:
        """Of all rows, and of each query."""
        return {**self.graph.metrics(), "queries": {query: self.graph.operators[n].metrics() for n, query in self._queries.items()}}

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
        return {self._queries[n]: self.graph.operators[n].report.joined(tables[n]) for n in sorted(tables)}


def _unpacked(data: bytes, functions: Mapping[str, UserFunction]) -> tuple[Program, bytes]:
    size = int.from_bytes(data[4:12], "big")
    return verify(serde.loads(bytes(data[12 : 12 + size]), functions)), bytes(data[12 + size :])


def _same_queries(stored: Program, wanted: Program) -> Program:
    """The stored program, if its queries are those that are wanted."""
    before, now = ({result.query for result in program.results} for program in (stored, wanted))
    differing = sorted(before ^ now) or [query for query in sorted(now) if query_in(stored, query) != query_in(wanted, query)]
    if differing:
        raise StateError(
            f"the snapshot belongs to another set of queries: {differing[0]!r} is not the same",
            hint="open the set that made it, then add and remove queries",
        )
    return stored
