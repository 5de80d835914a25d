"""Conditions of DEFINE: about the current event, and with PREV about those before it."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError, QuerySyntaxError, SchemaError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.expr.nodes import AGGREGATES, Anchor, Expr, Field, Literal, Nav, current
from ostinato.expr.types import BOOL, Kind
from ostinato.expr.typing.coerce import coerce
from ostinato.expr.typing.infer import infer, unknown_column
from ostinato.expr.typing.schema import Schema
from ostinato.expr.unresolved import RawCall, RawColumn
from ostinato.lang.situations.sources import Sources
from ostinato.lang.situations.syntax import Definition

FARTHEST = 1_000_000


def lower_condition(condition: Expr, definition: Definition, sources: Sources) -> Expr:
    names = sources.of(definition)
    schema = sources.columns_of(names)
    resolved = _Condition(schema, names, sources).resolved(condition)
    typed = infer(resolved, schema)
    if typed.type is None or typed.type.kind not in (Kind.BOOL, Kind.NULL):
        message = f"A condition must be true or false; this is of type {typed.type}"
        raise TypeMismatchError(message, hint="Compare it with something", span=condition.span)
    return coerce(typed, BOOL)


class _Condition:
    """`schema` are the columns that it can name: those that all streams of its definition, `names`, have."""

    def __init__(self, schema: Schema, names: tuple[str, ...], sources: Sources) -> None:
        self.schema = schema
        self.names = names
        self.sources = sources

    def resolved(self, expr: Expr) -> Expr:
        if isinstance(expr, RawColumn):
            return current(self._field(expr), expr.span)
        if isinstance(expr, RawCall) and expr.name.upper() == "PREV":
            return self._previous(expr)
        if isinstance(expr, RawCall):
            _refuse(expr)
        return expr.map_children(self.resolved)

    def _field(self, column: RawColumn) -> Field:
        name = ".".join(column.parts)
        own = self.schema.find(name)
        if own is None:
            raise self._unknown(name, column)
        return Field(own, span=column.span)

    def _unknown(self, name: str, column: RawColumn) -> OstinatoError:
        lacking = [stream for stream in self.names if self.sources.schemas[stream].find(name) is None]
        if self.sources.stream.schema.find(name) is not None and len(self.names) > 1:
            hint = "Say of which stream the situation is: DEFINE A FROM stream AS ..."
            return SchemaError(f"Stream `{lacking[0]}` has no column `{name}`, and its events are read, too", hint=hint, span=column.span)
        if len(column.parts) > 1 and self.schema.find(".".join(column.parts[1:])) is not None:
            hint = f"Conditions are about single events of one stream: write {'.'.join(column.parts[1:])}"
            return UnknownNameError(f"There is no column {name}", hint=hint, span=column.span)
        return unknown_column(name, self.schema, column)

    def _previous(self, call: RawCall) -> Nav:
        """PREV(x), PREV(x, 2)."""
        if call.star or call.distinct or not 1 <= len(call.args) <= 2:
            raise QuerySyntaxError("PREV takes an expression and, if you like, how far back", hint="PREV(x, 2)", span=call.span)
        return Nav(None, Anchor.LAST, 0, -self._steps(call), self._row(call.args[0]), span=call.span)

    def _steps(self, call: RawCall) -> int:
        if len(call.args) == 1:
            return 1
        steps = call.args[1].value if isinstance(call.args[1], Literal) else None
        if not isinstance(steps, int) or isinstance(steps, bool) or not 0 <= steps <= FARTHEST:
            hint = f"PREV(x, 2); at most {FARTHEST}"
            raise QuerySyntaxError("PREV goes a whole number of events back", hint=hint, span=call.args[1].span)
        return steps

    def _row(self, expr: Expr) -> Expr:
        """The argument of PREV: all of it is about one event."""
        if isinstance(expr, RawColumn):
            return self._field(expr)
        if isinstance(expr, RawCall):
            if expr.name.upper() == "PREV":
                raise QuerySyntaxError("PREV cannot stand inside PREV", hint="PREV(x, 2) is two events back", span=expr.span)
            _refuse(expr)
        return expr.map_children(self._row)


def _refuse(call: RawCall) -> None:
    name = call.name.upper()
    if name == "NEXT":
        hint = "Compare with PREV: a situation begins when its condition holds"
        raise UnsupportedError("NEXT cannot stand in DEFINE: what comes is not known yet", hint=hint, span=call.span)
    if name.lower() in AGGREGATES:
        hint = "Conditions are about an event and those before it, by PREV; aggregates stand in RETURN"
        raise UnsupportedError(f"The aggregate {call.name} cannot stand in DEFINE", hint=hint, span=call.span)
