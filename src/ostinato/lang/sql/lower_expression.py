"""Expressions of MEASURES and DEFINE: every reference becomes navigation to one row, or an aggregate over many."""

from __future__ import annotations

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Classifier, Expr, Field, Literal, Nav
from ostinato.expr.unresolved import RawCall, RawColumn
from ostinato.lang.sql.row_reference import AGGREGATE_NAMES, NAVIGATION, OTHER_AGGREGATES, Names, classified, match_number, row_expression
from ostinato.lang.sql.syntax import RunningOrFinal

LARGEST_OFFSET = 1_000_000


def lower_expression(expr: Expr, names: Names, place: str, every_row: bool = False) -> Expr:
    """`place` is MEASURES or DEFINE. `every_row`: a measure is computed for every row of a match, so that RUNNING and FINAL differ."""
    return _Lowering(names, place, every_row).lower(expr)


def refuse_arrays(expr: Expr, what: str, hint: str) -> None:
    """Nothing computes with the arrays of ARRAY_AGG."""
    for node in expr.walk():
        if isinstance(node, Aggregate) and node.function == AGGREGATE_NAMES["ARRAY_AGG"]:
            raise UnsupportedError(f"{what} is not offered yet", hint=hint, span=node.span)


class _Lowering:
    def __init__(self, names: Names, place: str, every_row: bool) -> None:
        self.names = names
        self.place = place
        self.every_row = every_row

    def lower(self, expr: Expr) -> Expr:
        if isinstance(expr, RawColumn):
            variable, column = self.names.reference(expr)
            return Nav(variable, Anchor.LAST, 0, 0, Field(column, span=expr.span), span=expr.span)
        if isinstance(expr, RunningOrFinal):
            call, final = self.semantics(expr)
            return self.call(call, final)
        if isinstance(expr, RawCall):
            return self.call(expr)
        return expr.map_children(self.lower)

    def semantics(self, expr: RunningOrFinal) -> tuple[RawCall, bool]:
        """The call after RUNNING or FINAL, and whether it looks at the whole match. With one row per match both mean the same."""
        word = "FINAL" if expr.final else "RUNNING"
        call = expr.call
        if expr.final and self.place == "DEFINE":
            hint = "Leave FINAL out: a condition sees the match up to its own row"
            raise QuerySyntaxError("FINAL cannot stand in DEFINE", hint=hint, span=expr.span)
        if not isinstance(call, RawCall) or (call.name.upper() not in ("FIRST", "LAST") and call.name.upper() not in AGGREGATE_NAMES):
            raise QuerySyntaxError(f"{word} stands only before FIRST, LAST and aggregates", hint=f"Write {word} LAST(...)", span=expr.span)
        return call, expr.final and self.every_row

    def call(self, call: RawCall, final: bool = False) -> Expr:
        name = call.name.upper()
        if name in NAVIGATION:
            return self.navigation(call, final)
        if name in AGGREGATE_NAMES:
            return self.aggregate(call, final)
        if name == "CLASSIFIER":
            return Classifier(classified(call, self.names), span=call.span)
        if name == "MATCH_NUMBER":
            return match_number(call)
        if name in OTHER_AGGREGATES:
            offered = ", ".join(AGGREGATE_NAMES)
            raise UnsupportedError(f"The aggregate {name} is not offered yet", hint=f"The aggregates are {offered}", span=call.span)
        if call.star:
            raise QuerySyntaxError(f"Only COUNT takes a star, not {name}", span=call.span)
        return call.map_children(self.lower)

    # Navigation

    def navigation(self, call: RawCall, final: bool) -> Expr:
        name = call.name.upper()
        argument, offset = self._argument_and_offset(call)
        if name in ("FIRST", "LAST"):
            return self._selected(call, Anchor(name), argument, offset, 0, final, within=name)
        shift = offset if name == "NEXT" else -offset
        inner: Expr = argument
        if isinstance(argument, RunningOrFinal):
            inner, final = self.semantics(argument)
        if isinstance(inner, RawCall) and inner.name.upper() in ("FIRST", "LAST"):
            selected, inner_offset = self._argument_and_offset(inner)
            return self._selected(call, Anchor(inner.name.upper()), selected, inner_offset, shift, final, within=inner.name.upper())
        return self._selected(call, Anchor.LAST, inner, 0, shift, final, within=name)

    def _selected(self, call: RawCall, anchor: Anchor, argument: Expr, offset: int, shift: int, final: bool, within: str) -> Expr:
        row = row_expression(argument, self.names, within)
        if not row.of_row:
            raise QuerySyntaxError(f"{within} needs a column", hint=f"Write {within}(x) or {within}(A.x)", span=call.span)
        if isinstance(row.body, Classifier) and shift == 0:
            return Classifier(row.variable, anchor, offset, final, span=call.span)
        return Nav(row.variable, anchor, offset, shift, row.body, final, span=call.span)

    def _argument_and_offset(self, call: RawCall) -> tuple[Expr, int]:
        name = call.name.upper()
        default = 1 if name in ("PREV", "NEXT") else 0
        if call.star or call.distinct or not 1 <= len(call.args) <= 2:
            raise QuerySyntaxError(f"{name} takes an expression and, if you like, an offset", hint=f"{name}(x, 2)", span=call.span)
        if len(call.args) == 1:
            return call.args[0], default
        offset = call.args[1]
        value = offset.value if isinstance(offset, Literal) else None
        if not isinstance(value, int) or isinstance(value, bool):
            raise QuerySyntaxError(f"The offset of {name} must be a whole number", hint=f"{name}(x, 2)", span=offset.span)
        if value < 0:
            other = {"PREV": "NEXT", "NEXT": "PREV", "FIRST": "LAST", "LAST": "FIRST"}[name]
            raise QuerySyntaxError(f"The offset of {name} cannot be negative", hint=f"Use {other}", span=offset.span)
        if value > LARGEST_OFFSET:
            raise UnsupportedError(f"The offset of {name} is too large", hint=f"At most {LARGEST_OFFSET}", span=offset.span)
        return call.args[0], value

    # Aggregates

    def aggregate(self, call: RawCall, final: bool) -> Expr:
        name = call.name.upper()
        if call.distinct:
            raise UnsupportedError(f"{name}(DISTINCT ...) is not offered yet", hint="Aggregates take every row", span=call.span)
        if call.star:
            if name != "COUNT":
                raise QuerySyntaxError(f"Only COUNT takes a star, not {name}", hint=f"{name}(x)", span=call.span)
            variable = None if call.star_of is None else self.names.variable(call.star_of, True, call.span)
            return Aggregate("count", variable, None, final=final, span=call.span)
        if len(call.args) != 1:
            hint = f"{name}(x){'; of two values use least or greatest' if name in ('MIN', 'MAX') else ''}"
            raise QuerySyntaxError(f"{name} takes one expression", hint=hint, span=call.span)
        row = row_expression(call.args[0], self.names, name)
        return Aggregate(AGGREGATE_NAMES[name], row.variable, row.body, final=final, span=call.span)
