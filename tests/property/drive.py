"""Run a query of the algebra on the engine, in batches, and show the output as the reference does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from tests.conformance.match_times import variables_of

from ostinato.algebra.query import MatchQuery
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.plan.planner import plan
from ostinato.program.program import Program, alone
from ostinato.rewrite.rules import rewrite
from ostinato.runtime.session.session import Session

Rows = list[dict[str, Any]]


def program_of(query: MatchQuery, without: tuple[str, ...] = (), strategy: str | None = None) -> Program:
    rewritten, _ = rewrite(query, without)
    return alone(plan(rewritten, strategy))


def batches(query: MatchQuery, rows: Rows, cuts: Sequence[int]) -> list[pa.Table]:
    """The rows as tables, cut before these positions; empty batches are possible."""
    schema = pa.schema([(name, to_arrow(type)) for name, type in query.schema.columns])
    table = pa.Table.from_pylist(rows, schema)
    bounds = [0, *sorted(cuts), len(rows)]
    return [table.slice(start, end - start) for start, end in zip(bounds, bounds[1:], strict=False)]


def engine_output(
    query: MatchQuery,
    rows: Rows,
    cuts: Sequence[int] = (),
    restarts: bool = False,
    lateness: int | None = 0,
    strategy: str | None = None,
) -> Rows:
    """`restarts`: after every batch the session is saved and opened again."""
    program = program_of(query, strategy=strategy)
    session = Session(program, lateness=lateness)
    found: list[dict[str, Any]] = []
    for batch in batches(query, rows, cuts):
        found += session.push(batch).to_pylist()
        if restarts:
            session = Session(program, lateness=lateness, snapshot=session.snapshot())
    found += session.close().to_pylist()
    return [plain(query, row) for row in found]


def plain(query: MatchQuery, row: dict[str, Any]) -> dict[str, Any]:
    """Of the default output only the positions of events, by variable."""
    if query.measures is not None or "match_id" not in row:
        return row
    return {name: [event["seq"] for event in events] for name, events in variables_of(row, query.time).items()}
