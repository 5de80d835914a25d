"""What the clause may say and has a meaning (see `reference`), but the engine does not evaluate yet."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Expr
from ostinato.lang.sql.syntax import Edge, MatchRecognize, PatternTree, parts_of


def refuse_not_evaluated(tree: MatchRecognize, query: MatchQuery) -> None:
    """`query` is what the tree was lowered to."""
    for edge in _edges(tree.pattern):
        where, look = ("first", "PREV") if edge.start else ("last", "NEXT")
        hint = f"Find the {where} row of a partition by a condition, such as {look}(x) IS NULL"
        raise _refusal(f"The anchor {'^' if edge.start else '$'}", hint, edge)
    for definition in query.definitions:
        for condition in definition.conditions:
            _check_condition(condition.expr)
    for measure in query.measures or ():
        _check_arrays(measure.expr)


def _edges(tree: PatternTree) -> Iterator[Edge]:
    if isinstance(tree, Edge):
        yield tree
    for item in parts_of(tree):
        yield from _edges(item)


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
