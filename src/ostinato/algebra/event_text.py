"""The canonical text of a query over streams of events: an operator a line, its operands beneath it."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.algebra.event_streams import DURATION, EventExpression, EventQuery, EventStream, Filter, Fold, Next, Project
from ostinato.algebra.query import Measure
from ostinato.expr.nodes import Expr, Field, Nav
from ostinato.expr.text import ATOM, ExpressionWriter, name_text


def event_query_text(query: EventQuery) -> str:
    published = [] if query.published is None else [f"PUBLISH {name_text(query.published)}"]
    return "\n".join((*published, *_lines(query.expression)))


class _EventWriter(ExpressionWriter):
    """Attributes with their decorators."""

    def nav(self, nav: Nav) -> tuple[str, int]:
        return f"{nav.variable}.{self.written(nav.body)[0]}", ATOM

    def field(self, field: Field) -> tuple[str, int]:
        return ("DUR", ATOM) if field.name == DURATION else super().field(field)


def expression_text(expr: Expr) -> str:
    return _EventWriter(None).written(expr)[0]


def _lines(expression: EventExpression) -> Iterator[str]:
    match expression:
        case EventStream(name, schema, time, time_type, start):
            columns = ", ".join(f"{name_text(own)} {type_}" for own, type_ in schema.columns)
            lasting = "" if start is None else f" START {name_text(start)}"
            yield f"STREAM {name_text(name)} ({columns}) TIME {name_text(time)} {time_type}{lasting}"
        case Filter(item, condition):
            yield f"FILTER {expression_text(condition)}"
            yield from _beneath(item)
        case Project(item, attributes):
            yield f"SELECT {_list(attributes)}"
            yield from _beneath(item)
        case Next(first, second, condition, attributes):
            yield f"NEXT {expression_text(condition)}"
            yield f"  ATTRIBUTES {_list(attributes)}"
            yield from _beneath(first, second)
        case Fold(first, second, relevant, step, changes, attributes):
            yield f"FOLD {expression_text(relevant)}"
            yield f"  STEP {expression_text(step)}"
            if changes:
                yield f"  CHANGE {_list(changes)}"
            yield f"  ATTRIBUTES {_list(attributes)}"
            yield from _beneath(first, second)


def _beneath(*operands: EventExpression) -> Iterator[str]:
    return (f"  {line}" for operand in operands for line in _lines(operand))


def _list(measures: tuple[Measure, ...]) -> str:
    return ", ".join(_measure(measure) for measure in measures) or "none"


def _measure(measure: Measure) -> str:
    text = expression_text(measure.expr)
    return text if text == name_text(measure.name) else f"{text} AS {name_text(measure.name)}"
