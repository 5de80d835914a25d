"""Expressions over a match that look at one row only, rewritten as one value of that row."""

from __future__ import annotations

from dataclasses import replace

from ostinato.expr.nodes import Aggregate, Anchor, Call, Classifier, Expr, Literal, MatchNumber, Nav
from ostinato.plan.scalar.scalar_functions import NOT_STRICT


def as_row_value(expr: Expr) -> Nav | None:
    """`upper(a.name)` is the value of `upper(name)` at a. None if several rows, or none, are looked at. A row that may not exist is
    only moved out of functions that give null for null: `coalesce(a.x, 0)` is 0 without an a, but a value of no row is null."""
    navs = [node for node in expr.walk() if isinstance(node, Nav)]
    others = any(isinstance(node, Aggregate | Classifier | MatchNumber) for node in expr.walk())
    if not navs or others:
        return None
    place = _place(navs[0])
    if any(_place(nav) != place for nav in navs):
        return None
    if place != (None, Anchor.LAST, 0, 0) and not _strict(expr):
        return None
    return replace(navs[0], body=_inside(expr), span=expr.span, type=expr.type)


def _place(nav: Nav) -> tuple[str | None, Anchor, int, int]:
    return nav.variable, nav.anchor, nav.offset, nav.shift


def _strict(expr: Expr) -> bool:
    """Null whenever the row is missing: every path to a value of the row goes through functions that give null for null."""
    if isinstance(expr, Nav | Literal):
        return True
    if isinstance(expr, Call) and expr.function is not None and not expr.function.strict:
        return False
    name = getattr(expr, "name", None)
    if name is None and not hasattr(expr, "to"):
        return False  # CASE
    return name not in NOT_STRICT and name != "concat" and all(_strict(child) for child in expr.children())


def _inside(expr: Expr) -> Expr:
    return expr.body if isinstance(expr, Nav) else expr.map_children(_inside)
