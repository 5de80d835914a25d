"""Picks the strategy for a query, and says why."""

from __future__ import annotations

from ostinato.algebra.policies import Output, Selection, Ties
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.plan.emit import Emitter
from ostinato.program.program import Program


def plan(query: MatchQuery) -> Program:
    _refuse_negation(query)
    emitter = Emitter(query)
    if query.selection is Selection.PREFERRED:
        if query.ties is Ties.EPOCH:
            raise UnsupportedError("row patterns order all rows of a partition, simultaneous ones too", hint="leave out ties=")
        if query.output is not Output.ALL:
            raise UnsupportedError(f"the output {query.output.value} belongs to event patterns", hint="aggregate the result instead")
        if emitter.dynamic:
            return emitter.emit("threads", "preferred match; some conditions look at other rows of the match")
        return emitter.emit("scan", "preferred match; every condition looks at the row and its neighbours only")
    return emitter.emit("runs", f"{query.selection.value}: partial matches are followed side by side")


def _refuse_negation(query: MatchQuery) -> None:
    if query.negations:
        raise UnsupportedError(
            "Negation is not evaluated yet",
            detail="What it means is defined, and the reference evaluates it; no host does.",
            hint="Leave the negated component out and filter the matches afterwards",
            span=query.negations[0].span,
        )
