"""Definitions of situations back to text. Parsing the text gives the same tree."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.expr.nodes import Call, Expr
from ostinato.lang.situations.render_expression import render_expression, render_name
from ostinato.lang.situations.syntax import Definition, Lasting, Name, Returned, StreamName
from ostinato.lang.streams.window import Window


def columns_text(columns: Sequence[Name]) -> str:
    return ", ".join(".".join(render_name(part) for part in column.name.split(".")) for column in columns)


def stream_text(stream: StreamName) -> str:
    if stream.start is None or stream.end is None:
        return render_name(stream.name)
    return f"{render_name(stream.name)} INTERVAL ({render_name(stream.start.name)}, {render_name(stream.end.name)})"


def definition_text(definition: Definition) -> str:
    stream = "" if definition.stream is None else f" FROM {stream_text(definition.stream)}"
    condition = "" if definition.condition is None else f" AS {_condition(definition, definition.condition)}"
    lasting = "" if definition.lasting is None else f" {_lasting(definition.lasting)}"
    return f"{render_name(definition.name)}{stream}{condition}{lasting}"


def _condition(definition: Definition, condition: Expr) -> str:
    """In parentheses where BETWEEN behind it would be taken for a comparison of its last operand."""
    text = render_expression(condition)
    both = definition.lasting is not None and None not in (definition.lasting.at_least, definition.lasting.at_most)
    joined = isinstance(condition, Call) and condition.name in ("and", "or", "not")
    return f"({text})" if both and joined and definition.compared is None else text


def _lasting(lasting: Lasting) -> str:
    if lasting.at_least is None or lasting.at_most is None:
        only = lasting.at_least or lasting.at_most
        assert only is not None
        return f"AT {'MOST' if lasting.at_least is None else 'LEAST'} {length_text(only)}"
    return f"BETWEEN {length_text(lasting.at_least)} AND {length_text(lasting.at_most)}"


def length_text(window: Window) -> str:
    return window.length if window.unit is None else f"{window.length} {window.unit}s"


def returned_text(item: Returned) -> str:
    return render_expression(item.expr) + ("" if item.name is None else f" AS {render_name(item.name)}")
