"""Aggregates over all matches of a query: the output `aggregates`."""

from __future__ import annotations

from typing import Any

from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Classifier, Nav
from ostinato.expr.values.evaluate import evaluate
from ostinato.reference.aggregates import aggregate
from ostinato.reference.binding import AtRow, Binding

OFFERED = ("count", "sum", "avg", "min", "max")


class OverMatches:
    """The context of an expression over all matches. An event that is in several matches counts once for each."""

    def __init__(self, bindings: list[Binding]) -> None:
        self.bindings = bindings

    def aggregate(self, node: Aggregate) -> Any:
        if node.function not in OFFERED:
            raise UnsupportedError(f"{node.function} over all matches is not offered", span=node.span)
        if node.variable is None and node.body is None:
            return len(self.bindings)
        bound = [AtRow(binding, index) for binding in self.bindings for index in binding.rows_of(node.variable)]
        return len(bound) if node.body is None else aggregate(node.function, [evaluate(node.body, row) for row in bound])

    def field(self, name: str) -> Any:
        raise AssertionError(f"column {name} stands outside of any row")

    def nav(self, node: Nav) -> Any:
        raise UnsupportedError("all matches together have no single row", span=node.span)

    def match_number(self) -> int:
        raise UnsupportedError("all matches together have no number")

    def classifier(self, node: Classifier) -> str | None:
        raise UnsupportedError("all matches together have no single row", span=node.span)


def totals(query: MatchQuery, bindings: list[Binding]) -> dict[str, Any]:
    return {measure.name: evaluate(measure.expr, OverMatches(bindings)) for measure in query.measures or ()}
