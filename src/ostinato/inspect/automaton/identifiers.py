"""Conditions in the notation of the paper: `a[1].price`, `a[i-1].price`, `avg(a[..i-1].price)`, `a[a.LEN].volume`."""

from __future__ import annotations

from ostinato.expr.nodes import Aggregate, Anchor, Cast, Expr, Field, Literal, Nav
from ostinato.expr.reading.parse import AND
from ostinato.expr.text import ATOM, ExpressionWriter, literal_text, name_text


def conjunct_text(expr: Expr, variable: str, event: str, kleene: frozenset[str]) -> str:
    """`event` is the event that is bound to `variable` when the condition is checked, such as `a[i]`; `kleene` are the lists."""
    return _IdentifierWriter(variable, event, kleene).at(expr, AND)


class _PlainWriter(ExpressionWriter):
    """Leaves out what type inference put in: conversions, and the exponent that marks a double."""

    def cast(self, cast: Cast) -> tuple[str, int]:
        return super().cast(cast) if cast.span != cast.arg.span else self.written(cast.arg)

    def literal(self, literal: Literal) -> tuple[str, int]:
        if isinstance(literal.value, float):
            return literal_text(literal.value).removesuffix("e0"), ATOM
        return super().literal(literal)


class _IdentifierWriter(_PlainWriter):
    def __init__(self, variable: str, event: str, kleene: frozenset[str]) -> None:
        super().__init__(None)
        self._bound = variable
        self._element = event
        self._kleene = kleene

    def nav(self, nav: Nav) -> tuple[str, int]:
        text = _RowWriter(self._identifier(nav)).written(nav.body)[0]
        if nav.shift:
            distance = f", {abs(nav.shift)}" if abs(nav.shift) > 1 else ""
            text = f"{'next' if nav.shift > 0 else 'prev'}({text}{distance})"
        return text, ATOM

    def _identifier(self, nav: Nav) -> str:
        name = nav.variable or self._bound
        current = nav.variable in (None, self._bound)
        if nav.anchor is Anchor.FIRST:
            if nav.variable is None:
                return "first"
            return f"{name_text(name)}[{nav.offset + 1}]" if name in self._kleene else name_text(name)
        if current and nav.offset == 0:
            return self._element
        if name not in self._kleene:
            return name_text(name)
        last = "i" if current and self._element.endswith("[i]") else f"{name_text(name)}.LEN"
        return f"{name_text(name)}[{last}{f'-{nav.offset}' if nav.offset else ''}]"

    def aggregate(self, node: Aggregate) -> tuple[str, int]:
        name = name_text(node.variable or self._bound)
        if node.variable in self._kleene:
            name += "[..i-1]" if node.before else "[]"
        if node.body is not None:
            return f"{node.function}({_RowWriter(name).written(node.body)[0]})", ATOM
        return (f"{node.function}({name})" if node.before else f"{name.removesuffix('[]')}.LEN"), ATOM


class _RowWriter(_PlainWriter):
    """An expression about one event; `place` is how that event is called."""

    def __init__(self, place: str) -> None:
        super().__init__(None)
        self._place = place

    def field(self, field: Field) -> tuple[str, int]:
        return f"{self._place}.{name_text(field.name)}", ATOM
