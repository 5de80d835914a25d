"""Expressions of MEASURES and DEFINE: every reference becomes navigation to one row, or an aggregate over many."""

from __future__ import annotations

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Cast, Classifier, Expr, Field, Literal, MatchNumber, Nav
from ostinato.expr.syntax import RawCall, RawColumn
from ostinato.expr.types import STRING
from ostinato.lang.sql.row_reference import AGGREGATE_NAMES, NAVIGATION, OTHER_AGGREGATES, Names, row_expression
from ostinato.lang.sql.syntax import RunningOrFinal

LARGEST_OFFSET = 1_000_000


def lower_expression(expr: Expr, names: Names, place: str) -> Expr:
    """`place` is MEASURES or DEFINE."""
    return _Lowering(names, place).lower(expr)


class _Lowering:
    def __init__(self, names: Names, place: str) -> None:
        self.names = names
        self.place = place

    def lower(self, expr: Expr) -> Expr:
        if isinstance(expr, RawColumn):
            variable, column = self.names.reference(expr)
            return Nav(variable, Anchor.LAST, 0, 0, Field(column, span=expr.span), span=expr.span)
        if isinstance(expr, RunningOrFinal):
            return self.lower(self.without_semantics(expr))
        if isinstance(expr, RawCall):
            return self.call(expr)
        return expr.map_children(self.lower)

    def without_semantics(self, expr: Expr) -> Expr:
        """The call after RUNNING or FINAL. With one row per match both mean the same: the whole match."""
        if not isinstance(expr, RunningOrFinal):
            return expr
        word = "FINAL" if expr.final else "RUNNING"
        call = expr.call
        if expr.final and self.place == "DEFINE":
            hint = "Leave FINAL out: a condition sees the match up to its own row"
            raise QuerySyntaxError("FINAL cannot stand in DEFINE", hint=hint, span=expr.span)
        if not isinstance(call, RawCall) or (call.name.upper() not in ("FIRST", "LAST") and call.name.upper() not in AGGREGATE_NAMES):
            raise QuerySyntaxError(f"{word} stands only before FIRST, LAST and aggregates", hint=f"Write {word} LAST(...)", span=expr.span)
        return call

    def call(self, call: RawCall) -> Expr:
        name = call.name.upper()
        if name in NAVIGATION:
            return self.navigation(call)
        if name in AGGREGATE_NAMES:
            return self.aggregate(call)
        if name in ("CLASSIFIER", "MATCH_NUMBER"):
            return self.about_match(call)
        if name in OTHER_AGGREGATES:
            offered = ", ".join(AGGREGATE_NAMES)
            raise UnsupportedError(f"The aggregate {name} is not offered yet", hint=f"The aggregates are {offered}", span=call.span)
        if call.star:
            raise QuerySyntaxError(f"Only COUNT takes a star, not {name}", span=call.span)
        return call.map_children(self.lower)

    # Navigation

    def navigation(self, call: RawCall) -> Expr:
        name = call.name.upper()
        argument, offset = self._argument_and_offset(call)
        if name in ("FIRST", "LAST"):
            return self._selected(call, Anchor(name), argument, offset, shift=0, within=name)
        shift = offset if name == "NEXT" else -offset
        inner = self.without_semantics(argument)
        if isinstance(inner, RawCall) and inner.name.upper() in ("FIRST", "LAST"):
            selected, inner_offset = self._argument_and_offset(inner)
            return self._selected(call, Anchor(inner.name.upper()), selected, inner_offset, shift, within=inner.name.upper())
        return self._selected(call, Anchor.LAST, inner, 0, shift, within=name)

    def _selected(self, call: RawCall, anchor: Anchor, argument: Expr, offset: int, shift: int, within: str) -> Expr:
        if isinstance(argument, RawCall) and argument.name.upper() == "CLASSIFIER":
            return self._moved_classifier(call, argument, anchor, offset, shift)
        row = row_expression(argument, self.names, within)
        if not row.columns:
            raise QuerySyntaxError(f"{within} needs a column", hint=f"Write {within}(x) or {within}(A.x)", span=call.span)
        return Nav(row.variable, anchor, offset, shift, row.body, span=call.span)

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

    def aggregate(self, call: RawCall) -> Expr:
        name = call.name.upper()
        if call.distinct:
            raise UnsupportedError(f"{name}(DISTINCT ...) is not offered yet", hint="Aggregates take every row", span=call.span)
        if call.star:
            if name != "COUNT":
                raise QuerySyntaxError(f"Only COUNT takes a star, not {name}", hint=f"{name}(x)", span=call.span)
            variable = None if call.star_of is None else self.names.variable(call.star_of, True, call.span)
            return Aggregate("count", variable, None, span=call.span)
        if len(call.args) != 1:
            hint = f"{name}(x){'; of two values use least or greatest' if name in ('MIN', 'MAX') else ''}"
            raise QuerySyntaxError(f"{name} takes one expression", hint=hint, span=call.span)
        if any(isinstance(node, RawCall) and node.name.upper() in ("CLASSIFIER", "MATCH_NUMBER") for node in call.args[0].walk()):
            hint = "CLASSIFIER and MATCH_NUMBER stand outside of aggregates"
            raise UnsupportedError(f"{name} over CLASSIFIER or MATCH_NUMBER is not offered yet", hint=hint, span=call.span)
        row = row_expression(call.args[0], self.names, name)
        return Aggregate(AGGREGATE_NAMES[name], row.variable, row.body, span=call.span)

    # CLASSIFIER and MATCH_NUMBER

    def about_match(self, call: RawCall) -> Expr:
        name = call.name.upper()
        if self.place == "DEFINE":
            hint = "Use it in MEASURES" if name == "CLASSIFIER" else "Use it in MEASURES, and filter outside"
            raise UnsupportedError(f"{name} in DEFINE is not offered yet", hint=hint, span=call.span)
        if name == "CLASSIFIER":
            return Classifier(self._classified(call), span=call.span)
        if call.args or call.star:
            raise QuerySyntaxError("MATCH_NUMBER takes no argument", hint="MATCH_NUMBER()", span=call.span)
        return MatchNumber(span=call.span)

    def _classified(self, call: RawCall) -> str | None:
        """The variable in `CLASSIFIER(A)`; None in `CLASSIFIER()`."""
        if not call.args and not call.star:
            return None
        argument = call.args[0] if len(call.args) == 1 else None
        if not isinstance(argument, RawColumn) or len(argument.parts) != 1:
            raise QuerySyntaxError("CLASSIFIER takes at most a pattern variable", hint="CLASSIFIER() or CLASSIFIER(A)", span=call.span)
        return self.names.variable(argument.parts[0], bool(argument.quoted and argument.quoted[0]), argument.span)

    def _moved_classifier(self, call: RawCall, inner: RawCall, anchor: Anchor, offset: int, shift: int) -> Expr:
        """CLASSIFIER under navigation. The rows of a match are contiguous, so that physical steps further away from the anchor are
        logical steps; a step out of the match is null."""
        self.about_match(inner)
        variable = self._classified(inner)
        outward = 1 if anchor is Anchor.FIRST else -1
        if shift == 0:
            return Classifier(variable, anchor, offset, span=call.span)
        if variable is None and shift * outward > 0:
            return Classifier(None, anchor, offset + abs(shift), span=call.span)
        if variable is None and offset == 0:
            return Cast(Literal(None, span=call.span), STRING, span=call.span)
        raise UnsupportedError(
            "This navigation of CLASSIFIER is not offered yet", hint="Use FIRST(CLASSIFIER(), n) or LAST(CLASSIFIER(), n)", span=call.span
        )
