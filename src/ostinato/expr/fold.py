"""Constant subexpressions computed once. What fails stays, so that the error appears where, and if, the value is needed. Functions that
were added to the language stay as well: nothing of theirs runs while a text is compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from ostinato.base.errors import DataError
from ostinato.expr.nodes import Call, Case, Cast, Expr, Literal
from ostinato.expr.values.evaluate import evaluate


class _NoRows:
    """The context of a constant, which looks at nothing."""

    def _looked_at(self, node: Any = None) -> NoReturn:
        raise AssertionError("a constant looks at nothing")

    field: Any = _looked_at
    nav: Any = _looked_at
    aggregate: Any = _looked_at
    match_number: Any = _looked_at
    classifier: Any = _looked_at


def fold(expr: Expr) -> Expr:
    """An equivalent typed expression. Bodies of navigations are folded, navigations themselves not: there may be no such row."""
    folded = expr.map_children(fold)
    if isinstance(folded, Call):
        folded = _logic(folded)
    elif isinstance(folded, Case):
        folded = _case(folded)
    constant = isinstance(folded, Call | Cast | Case) and all(isinstance(child, Literal) for child in folded.children())
    added = isinstance(folded, Call) and folded.function is not None
    return _computed(folded) if constant and not added else folded


def _computed(expr: Expr) -> Expr:
    try:
        value = evaluate(expr, _NoRows())
    except DataError:
        return expr
    return Literal(value, span=expr.span, type=expr.type)


def _logic(call: Call) -> Expr:
    """TRUE in a conjunction goes, FALSE decides it; the other way round in a disjunction."""
    if call.name not in ("and", "or"):
        return call
    neutral = call.name == "and"
    if any(_is(arg, not neutral) for arg in call.args):
        return Literal(not neutral, span=call.span, type=call.type)
    left = tuple(arg for arg in call.args if not _is(arg, neutral))
    if len(left) == len(call.args):
        return call
    if len(left) < 2:
        return left[0] if left else Literal(neutral, span=call.span, type=call.type)
    return replace(call, args=left)


def _case(case: Case) -> Expr:
    """Branches that are never taken go; what stands after one that is always taken goes too."""
    branches: list[tuple[Expr, Expr]] = []
    otherwise = case.otherwise
    for condition, value in case.branches:
        if _is(condition, True):
            otherwise = value
            break
        if not (isinstance(condition, Literal) and condition.value is not True):
            branches.append((condition, value))
    if branches:
        return replace(case, branches=tuple(branches), otherwise=otherwise)
    return otherwise if otherwise is not None else Literal(None, span=case.span, type=case.type)


def _is(expr: Expr, value: Any) -> bool:
    return isinstance(expr, Literal) and expr.value is value
