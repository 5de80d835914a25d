"""What the clause may say and has a meaning (see `reference`), but the engine does not evaluate yet."""

from __future__ import annotations

from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Expr


def refuse_not_evaluated(query: MatchQuery) -> None:
    for definition in query.definitions:
        for condition in definition.conditions:
            _check_condition(condition.expr)
    for measure in query.measures or ():
        _check_arrays(measure.expr)


def _check_condition(expr: Expr) -> None:
    for node in expr.walk():
        if _is_array(node):
            raise _refusal("ARRAY_AGG in DEFINE", "Use it in MEASURES", node)


def _check_arrays(measure: Expr) -> None:
    """Nothing computes with arrays."""
    for node in measure.walk():
        if node is not measure and _is_array(node):
            raise _refusal("ARRAY_AGG inside of an expression", "Make it a measure of its own, and compute with it outside", node)


def _is_array(node: Expr) -> bool:
    return isinstance(node, Aggregate) and node.function == "array"


def _refusal(what: str, hint: str, place: object) -> UnsupportedError:
    return UnsupportedError(f"{what} is not offered yet", hint=hint, span=getattr(place, "span", None))
