"""`given(events).match(query).expect(matches)`: tests of queries, with control over batches and the watermark.

    given(ticks=rows).match("PATTERN SEQ(Rise a, Fall b) WHERE ...", by="id").expect([{"a": "e1", "b": "e2"}])

Or step by step; every `expect` is about what was decided since the one before:

    steps = given(ticks=rows).match(query, lateness=None)
    steps.push(3).expect([])
    steps.advance(10).expect([{"a": 0, "b": 2}])
    steps.close().expect([])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.compiler import compile
from ostinato.query import Query
from ostinato.runtime.session.session import Session
from ostinato.testing.compare_rows import difference

Rows: TypeAlias = "Sequence[Mapping[str, Any]] | pa.Table"


class Given:
    """One stream of events under its name."""

    def __init__(self, stream: str, rows: Rows, schema: pa.Schema | None = None) -> None:
        self.stream = stream
        self.table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist([dict(row) for row in rows], schema)

    def match(self, text: str, *, by: str = "seq", lateness: int | None = 0, **options: Any) -> Scenario:
        """Compile a query over the stream. `by` is the attribute that tells events apart, their position unless it is given;
        `options` are those of `ostinato.compile`."""
        return Scenario(compile(text, {self.stream: self.table.schema}, **options), self.table, by, lateness)


def given(schema: pa.Schema | None = None, **stream: Rows) -> Given:
    """The events that a scenario is about: rows as dicts (with a schema where they do not show their types), or an Arrow table."""
    if len(stream) != 1:
        raise OstinatoError("a scenario is about one stream", hint="given(ticks=rows)")
    ((name, rows),) = stream.items()
    return Given(name, rows, schema)


class Scenario:
    """A session over the given events, and what it has decided since the last expectation."""

    def __init__(self, query: Query, table: pa.Table, by: str, lateness: int | None) -> None:
        self.query = query
        self.session: Session = query.open(lateness=lateness)
        self._rest = table
        self._by = by
        self._lateness = lateness
        self._decided: list[dict[str, Any]] = []
        self._driven = False

    def push(self, count: int | None = None) -> Scenario:
        """The next `count` events, or all that are left, as one batch."""
        taken = self._rest.num_rows if count is None else min(count, self._rest.num_rows)
        return self._step(self.session.push(self._next(taken)))

    def advance(self, watermark: int) -> Scenario:
        """No event before `watermark` comes any more (in the unit of the time column: microseconds or nanoseconds for timestamps)."""
        return self._step(self.session.advance(watermark))

    def restart(self) -> Scenario:
        """Go on from a snapshot, as after a failure."""
        self.session = self.query.open(lateness=self._lateness, snapshot=self.session.snapshot())
        return self

    def close(self) -> Scenario:
        """No event comes any more."""
        return self._step(self.session.close())

    def expect(self, matches: Sequence[Mapping[str, Any]]) -> Scenario:
        """Exactly these matches, in any order: variables with the `by` of their events (one, or a list; a variable without events
        may be left out), or measures with their values. A scenario that was not driven runs to its end first."""
        if not self._driven:
            self.push().close()
        wrong = difference([_normal(match) for match in matches], [self._seen(row) for row in self._decided])
        if wrong:
            raise AssertionError(wrong)
        self._decided = []
        return self

    def _next(self, count: int) -> pa.Table:
        taken, self._rest = self._rest.slice(0, count), self._rest.slice(count)
        return taken

    def _step(self, output: pa.Table) -> Scenario:
        self._driven = True
        self._decided.extend(output.to_pylist())
        return self

    def _seen(self, row: dict[str, Any]) -> dict[str, Any]:
        if self.query.pattern.measures.code is not None or "match_id" not in row:
            return _normal(row)
        events = {name: value for name, value in row.items() if name not in ("match_id", "start_ts", "end_ts")}
        return _normal({name: [event[self._by] for event in _listed(value)] for name, value in events.items()})


def _normal(match: Mapping[str, Any]) -> dict[str, Any]:
    """A list of one is its element, and what is empty or null is left out."""
    found = {}
    for name, value in match.items():
        if isinstance(value, list | tuple):
            value = None if not value else value[0] if len(value) == 1 else list(value)
        if value is not None:
            found[name] = value
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
