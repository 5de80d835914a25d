"""By how much the times that a match shows can be older than the watermark that decides it."""

from __future__ import annotations

from typing import TypeGuard

from ostinato.algebra.policies import Output, RowsPerMatch, Selection
from ostinato.algebra.query import MatchQuery, Unit
from ostinato.expr.nodes import Anchor, Expr, Field, Nav
from ostinato.plan.components import component_graph

ROWS_OF_MATCHES = (RowsPerMatch.ALL, RowsPerMatch.ALL_BUT_EMPTY)


def times_behind(query: MatchQuery, before: int = 0) -> dict[str, int]:
    """The columns of its matches that are times of their events, where it is known. `before` is about the rows that it reads."""
    window = query.within.length if query.within is not None and query.within.unit is Unit.TIME else None
    at_once = before if _is_decided_at_once(query) else None
    later = None if window is None else before + window
    found: dict[str, int | None] = {}
    if query.measures is None:
        found = {"start_ts": later, "end_ts": later if at_once is None else at_once}
    for measure in query.measures or ():
        if _is_time(measure.expr, query):
            found[measure.name] = at_once if at_once is not None and _is_last(measure.expr) else later
    if query.rows_per_match in ROWS_OF_MATCHES and query.time is not None:
        found[query.time] = later
    return {name: behind for name, behind in found.items() if behind is not None}


def _is_time(expr: Expr, query: MatchQuery) -> TypeGuard[Nav]:
    """The time of an event of the match, not of its neighbours."""
    return isinstance(expr, Nav) and isinstance(expr.body, Field) and expr.body.name == query.time and expr.shift == 0


def _is_last(time: Nav) -> bool:
    return (time.variable, time.anchor, time.offset) == (None, Anchor.LAST, 0)


def _is_decided_at_once(query: MatchQuery) -> bool:
    """Whether its last event decides a match: that of an event pattern waits for no further row, unless for an absence or a timeout."""
    if query.selection is Selection.PREFERRED or query.output is Output.TIMEOUTS:
        return False
    after = component_graph(query.pattern).components
    return all(any(component.at_least for component in after[negation.position :]) for negation in query.negations)
