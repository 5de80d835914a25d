"""Under contiguity the element before the current one is the row before: `a[i-1].price` becomes `PREV(price)`, which is a column
instead of a register (the second predicate of the SASE+ workload becomes columnar by this)."""

from __future__ import annotations

from dataclasses import replace

from ostinato.algebra.policies import Selection
from ostinato.algebra.query import Condition, Definition, MatchQuery, When
from ostinato.expr.nodes import Anchor, Expr, Nav


def rewrite(query: MatchQuery) -> MatchQuery:
    if query.selection not in (Selection.STRICT, Selection.PARTITION):
        return query
    return replace(query, definitions=tuple(_definition(d) for d in query.definitions))


def _definition(definition: Definition) -> Definition:
    return replace(definition, conditions=tuple(_condition(c, definition.variable) for c in definition.conditions))


def _condition(condition: Condition, variable: str) -> Condition:
    if condition.when is not When.LATER:  # only from the second element on is there an element before
        return condition

    def change(expr: Expr) -> Expr:
        if isinstance(expr, Nav) and expr.variable == variable and expr.anchor is Anchor.LAST and expr.offset == 1:
            return replace(expr, variable=None, offset=0, shift=expr.shift - 1)
        return expr.map_children(change)

    return replace(condition, expr=change(condition.expr))
