"""The shape of expression trees: long chains are kept shallow, and trees that later passes could not walk are refused."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.base.errors import QuerySyntaxError
from ostinato.base.span import Span
from ostinato.expr.nodes import Call, Expr

DEEPEST = 100  # levels of nesting; later passes recurse over the tree
LARGEST = 50_000


def balanced(name: str, terms: Sequence[Expr]) -> Expr:
    """AND or OR of all terms, as a tree whose depth is the logarithm of their number: generated queries have long chains."""
    if len(terms) == 1:
        return terms[0]
    middle = (len(terms) + 1) // 2
    left, right = balanced(name, terms[:middle]), balanced(name, terms[middle:])
    return Call(name, (left, right), span=span_of(left).to(span_of(right)))


def check_depth(expr: Expr) -> None:
    """Refuse trees that are too deep or too large to recurse over."""
    if size_of(expr) > LARGEST:
        raise QuerySyntaxError("The expression is too large", hint=f"At most {LARGEST} operations", span=expr.span)


def size_of(expr: Expr) -> int:
    """How many nodes it has, as far as `LARGEST` and one level beyond, without recursing; a tree that is too deep is refused. BETWEEN and
    simple CASE use an operand more than once, so that a short text can be an exponentially large tree: occurrences are counted, each node
    is visited once a level."""
    level: dict[int, tuple[Expr, int]] = {id(expr): (expr, 1)}
    size = 0
    for _ in range(DEEPEST):
        below: dict[int, tuple[Expr, int]] = {}
        for node, times in level.values():
            size += times
            for child in node.children():
                below[id(child)] = (child, times + below.get(id(child), (child, 0))[1])
        if size > LARGEST or not below:
            return size
        level = below
    raise too_deep(next(iter(level.values()))[0].span)


def too_deep(span: Span | None) -> QuerySyntaxError:
    return QuerySyntaxError("The expression is nested too deeply", hint=f"At most {DEEPEST} levels", span=span)


def span_of(expr: Expr) -> Span:
    return expr.span if expr.span is not None else Span(0, 0)
