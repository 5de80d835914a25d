"""RETURN: the attributes of what is reported, for a match or for all matches together."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.algebra.policies import Output
from ostinato.algebra.query import Measure
from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import AGGREGATES, Expr
from ostinato.expr.unresolved import RawCall
from ostinato.lang.events.returns import lower_attributes
from ostinato.lang.events.syntax import Element
from ostinato.lang.sase.conditions import refuse_equivalence
from ostinato.lang.sase.syntax import SaseQuery, all_components
from ostinato.lang.streams.stream import Stream

OVER_ALL_MATCHES = ("count", "sum", "avg", "min", "max")


def lower_returns(tree: SaseQuery, stream: Stream, output: Output) -> tuple[Measure, ...] | None:
    """None: the default output. A count has no attributes; those that the text asks for are checked all the same."""
    if not tree.returns:
        if output is Output.AGGREGATES:
            raise QuerySyntaxError("OUTPUT aggregates needs a RETURN clause", hint="e.g. RETURN count(*) AS matches, avg(a[].x) AS mean")
        return None
    if output is Output.COMPRESSED:
        raise UnsupportedError(
            "Compressed output holds the events of all matches, and no attributes of each",
            hint="Leave RETURN out and compute from the decoded matches, or use OUTPUT all",
            span=tree.returns[0].span,
        )
    for item in tree.returns:
        refuse_equivalence(item.expr)
    if output is Output.AGGREGATES:
        for item in tree.returns:
            _refuse_single(item.expr)
    measures = lower_attributes(tree.returns, all_components(tree.items), tree.components, tree.composite, stream, output)
    return None if output is Output.COUNT else measures


def _refuse_single(expr: Expr) -> None:
    """Under OUTPUT aggregates there is no one match whose events could be named."""
    for node in _outside_aggregates(expr):
        if isinstance(node, Element):
            raise UnsupportedError(
                "OUTPUT aggregates speaks of all matches together; this is a value of one of them",
                hint="Put it into an aggregate: count(*) counts matches, count(a[]) and sum(a[].x) range over the events of all of them",
                span=node.span,
            )
        if isinstance(node, RawCall) and node.name.lower() in AGGREGATES and node.name.lower() not in OVER_ALL_MATCHES:
            raise UnsupportedError(
                f"{node.name.lower()} over all matches is not offered",
                hint=f"Aggregates over all matches are {', '.join(OVER_ALL_MATCHES)}; return it for each match with OUTPUT all",
                span=node.span,
            )


def _outside_aggregates(expr: Expr) -> Iterator[Expr]:
    yield expr
    if not (isinstance(expr, RawCall) and expr.name.lower() in AGGREGATES):
        for child in expr.children():
            yield from _outside_aggregates(child)
