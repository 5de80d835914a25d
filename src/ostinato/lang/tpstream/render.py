"""A TPStream tree back to text, one clause a line. Parsing the text gives the same tree."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.expr.nodes import Call, Expr
from ostinato.lang.streams.window import Window
from ostinato.lang.tpstream.render_expression import render_expression, render_name
from ostinato.lang.tpstream.syntax import Bounded, Constraint, Definition, Lasting, Returned, StreamName, TpstreamQuery


def render(query: TpstreamQuery) -> str:
    return "\n".join(_clauses(query))


def _clauses(query: TpstreamQuery) -> Iterator[str]:
    partition = ", ".join(".".join(render_name(part) for part in column.name.split(".")) for column in query.partition)
    yield f"FROM {', '.join(map(_stream, query.streams))}" + (f" PARTITION BY {partition}" if partition else "")
    yield f"DEFINE {', '.join(map(_definition, query.definitions))}"
    alone = "" if query.alone is None else render_name(query.alone.name)
    yield f"PATTERN {alone or ' AND '.join(map(_constraint, query.constraints))}"
    if query.window is not None:
        yield f"WITHIN {_length(query.window)}"
    if query.returns:
        yield f"RETURN {', '.join(map(_returned, query.returns))}"


def _stream(stream: StreamName) -> str:
    if stream.start is None or stream.end is None:
        return render_name(stream.name)
    return f"{render_name(stream.name)} INTERVAL ({render_name(stream.start.name)}, {render_name(stream.end.name)})"


def _definition(definition: Definition) -> str:
    stream = "" if definition.stream is None else f" FROM {_stream(definition.stream)}"
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
        return f"AT {'MOST' if lasting.at_least is None else 'LEAST'} {_length(only)}"
    return f"BETWEEN {_length(lasting.at_least)} AND {_length(lasting.at_most)}"


def _constraint(constraint: Constraint) -> str:
    relations = ";".join(map(_bounded, constraint.allowed))
    return f"{render_name(constraint.first.name)} {relations} {render_name(constraint.second.name)}"


def _bounded(bounded: Bounded) -> str:
    if bounded.least is None or bounded.most is None:
        return bounded.relation.value
    return f"{bounded.relation.value}[{_length(bounded.least)}, {_length(bounded.most)}]"


def _length(window: Window) -> str:
    return window.length if window.unit is None else f"{window.length} {window.unit}s"


def _returned(item: Returned) -> str:
    return render_expression(item.expr) + ("" if item.name is None else f" AS {render_name(item.name)}")
