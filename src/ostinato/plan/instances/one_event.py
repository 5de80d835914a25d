"""Values that one event of a chain decides: they are computed as columns, and an instance carries them as they are."""

from __future__ import annotations

from ostinato.expr.nodes import Anchor, Expr, Nav
from ostinato.plan.instances.chain import replaced


def one_event(expr: Expr) -> Nav | None:
    """An expression over one event alone, as one value of it. Every event of a chain is there, so nothing is lost by that."""
    variables = {node.variable for node in expr.walk() if isinstance(node, Nav)}
    if len(variables) != 1:
        return None
    (variable,) = variables
    if variable is None or not variable.startswith("@"):
        return None
    if isinstance(expr, Nav):
        return expr
    return Nav(variable, Anchor.LAST, 0, 0, replaced(expr, _body), type=expr.type, span=expr.span)


def _body(node: Expr) -> Expr | None:
    return node.body if isinstance(node, Nav) else None


def variables_in(expr: Expr) -> set[str]:
    return {node.variable for node in expr.walk() if isinstance(node, Nav) and node.variable is not None}
