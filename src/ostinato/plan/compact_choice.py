"""Whether the strategy "compact" can evaluate a query."""

from __future__ import annotations

from ostinato.algebra.policies import Output, Selection, Ties
from ostinato.algebra.query import MatchQuery
from ostinato.expr.types import Kind
from ostinato.program.pattern import EventPattern

MOST_STATES = 62  # they are a bit set
BY_EPOCH = (Output.ALL, Output.COUNT, Output.AGGREGATES)


def against_compact(query: MatchQuery, pattern: EventPattern) -> str | None:
    """Why not; None if it can. `program` is that of the same query for runs."""
    if pattern.registers or any(b >= 0 for c in pattern.elements for b in (c.first_block, c.later_block, c.leaving_block)):
        return "some conditions look at other events of the match"
    states = len(pattern.elements) * (2 if query.ties is Ties.EPOCH else 1)
    if states > MOST_STATES or pattern.bits > MOST_STATES:
        return f"it has more than {MOST_STATES // (states // len(pattern.elements))} elements"
    if query.ties is Ties.EPOCH and (query.negations or query.selection is not Selection.ANY or query.output not in BY_EPOCH):
        return "simultaneous events may not follow one another"
    if any(query.output is Output.AGGREGATES and a.type.kind is Kind.STRING for a in pattern.measures.aggregates):
        return "the least or greatest of texts is asked for"
    if query.output is Output.FIRST and query.selection is Selection.ANY:
        return "one match per start is not offered under skip till any match"
    return None
