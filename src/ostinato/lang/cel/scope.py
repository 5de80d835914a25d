"""Whose attribute a name is: `$1.price`, `$2.price`, `$.price`, or `price` where only one stream has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ostinato.algebra.event_streams import DURATION, FIRST_EVENT, INSTANCE, SECOND_EVENT
from ostinato.base.errors import OstinatoError, QuerySyntaxError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.expr.nodes import AGGREGATES, Anchor, Expr, Field, Nav
from ostinato.expr.types import BOOL, Kind, Type
from ostinato.expr.typing.coerce import coerce
from ostinato.expr.typing.infer import infer, unknown_column
from ostinato.expr.typing.schema import Schema
from ostinato.expr.unresolved import RawCall
from ostinato.lang.cel.syntax import Attribute, DurationWord

WHAT = {FIRST_EVENT: "the event of the first stream", SECOND_EVENT: "that of the second", INSTANCE: "what FOLD has made of it so far"}


@dataclass(frozen=True)
class Scope:
    """What a clause sees. `streams` are the attributes by their decorators; `place` is the clause in the words of its errors. `alike` are
    attributes, in lower case, that `$1` and `$` agree on. `duration` is the type of DUR, None where it is not offered; `times` are columns
    that somebody could take for attributes."""

    place: str
    streams: Mapping[str, Schema]
    alike: frozenset[str] = frozenset()
    duration: Type | None = None
    times: tuple[str, ...] = ()
    decorated: bool = True

    def typed(self, expr: Expr) -> Expr:
        """The expression over these streams, with its types."""
        try:
            return self._bound(infer(self._resolved(expr), self._schema()))
        except TypeMismatchError as error:
            if self.duration is not None and any(isinstance(node, DurationWord) for node in expr.walk()):
                what = "a number, as times are: DUR > 10" if self.duration.kind is Kind.INT else "a length of time: DUR > 10 MINUTES"
                error.hint = error.hint or f"DUR is {what}"
            raise

    def condition(self, expr: Expr) -> Expr:
        typed = self.typed(expr)
        if typed.type is None or typed.type.kind not in (Kind.BOOL, Kind.NULL):
            message = f"A condition must be true or false; this is of type {typed.type}"
            raise TypeMismatchError(message, hint="Compare it with something", span=expr.span)
        return coerce(typed, BOOL)

    def _schema(self) -> Schema:
        """All of them as one: `$1.price` is a column. Where there is one stream alone its attributes have their own names."""
        if len(self.streams) == 1:
            (only,) = self.streams.values()
            return Schema(only.columns + (() if self.duration is None else ((DURATION, self.duration),)), only.unusable)
        columns = [(f"{owner}.{name}", type_) for owner, schema in self.streams.items() for name, type_ in schema.columns]
        return Schema(tuple(columns))

    def _resolved(self, expr: Expr) -> Expr:
        if isinstance(expr, Attribute):
            return self._attribute(expr)
        if isinstance(expr, DurationWord):
            return self._duration(expr)
        if isinstance(expr, RawCall) and expr.name.lower() in AGGREGATES:
            hint = "Aggregates grow in FOLD, step by step: $.total + $2.price AS total, greatest($.high, $2.price) AS high"
            raise UnsupportedError(f"The aggregate {expr.name} cannot stand here", hint=hint, span=expr.span)
        return expr.map_children(self._resolved)

    def _bound(self, expr: Expr) -> Expr:
        """Columns of several streams as attributes of their events."""
        if len(self.streams) == 1:
            return expr
        if isinstance(expr, Field):
            owner, _, name = expr.name.partition(".")
            return Nav(owner, Anchor.LAST, 0, 0, Field(name, span=expr.span, type=expr.type), span=expr.span, type=expr.type)
        return expr.map_children(self._bound)

    def _duration(self, word: DurationWord) -> Expr:
        if self.duration is not None:
            return Field(DURATION, span=word.span)
        if any(word.written in schema for schema in self.streams.values()):
            return self._attribute(Attribute("", word.written, span=word.span))
        hint = "Put FILTER {DUR ...} (...) around the expression"
        raise UnsupportedError(f"DUR is known in FILTER, and not in {self.place}", hint=hint, span=word.span)

    def _attribute(self, attribute: Attribute) -> Field:
        owner = self._owner(attribute)
        own = self.streams[owner].find(attribute.name)
        assert own is not None
        return Field(own if len(self.streams) == 1 else f"{owner}.{own}", span=attribute.span)

    def _owner(self, attribute: Attribute) -> str:
        if attribute.owner:
            self._check_decorator(attribute)
            if attribute.name not in self.streams[attribute.owner]:
                raise self._unknown(attribute, self.streams[attribute.owner])
            return attribute.owner
        having = [owner for owner, schema in self.streams.items() if attribute.name in schema]
        if not having:
            raise self._unknown(attribute, *self.streams.values())
        if len(having) == 1 or (having == [FIRST_EVENT, INSTANCE] and attribute.name.lower() in self.alike):
            return having[0]
        written = " or ".join(f"{owner}.{attribute.name}" for owner in having)
        hint = f"Write {written}: {', '.join(f'{owner} is {WHAT[owner]}' for owner in having)}"
        raise UnknownNameError(f"`{attribute.name}` could be that of several events", hint=hint, span=attribute.span)

    def _check_decorator(self, attribute: Attribute) -> None:
        if not self.decorated:
            message = f"{self.place} has no decorators: it sees what FROM returns"
            raise QuerySyntaxError(message, hint=f"Write {attribute.name}, or {attribute.name}_1", span=attribute.span)
        if attribute.owner not in self.streams:
            known = " and ".join(self.streams)
            reason = "`$` is known in FOLD" if attribute.owner == INSTANCE else f"`{attribute.owner}` is known in NEXT and FOLD"
            raise QuerySyntaxError(f"{reason}, and not in {self.place}", hint=f"Here write {known}", span=attribute.span)

    def _unknown(self, attribute: Attribute, *schemas: Schema) -> OstinatoError:
        name = attribute.name
        for schema in schemas:
            spelled = [own for own in schema.names if own.lower() == name.lower()]
            unusable = any(own.lower() == name.lower() for own, _, _ in schema.unusable)
            if len(spelled) > 1 or unusable or schema.beneath(name) is not None:
                return unknown_column(name, schema, attribute)
        names = list(dict.fromkeys(own for schema in schemas for own in schema.names))
        close = get_close_matches(name.lower(), [own.lower() for own in names], 1)
        hint = f"Attributes: {', '.join(names) or 'none'}"
        if name.lower() in (time.lower() for time in self.times):
            hint = f"`{name}` is a time, and no attribute; FILTER {{DUR ...}} asks how long an event lasts"
        elif close:
            hint = f"Did you mean `{next(own for own in names if own.lower() == close[0])}`?"
        whose = f"`{attribute.owner}` has" if attribute.owner else ("No stream here has" if len(schemas) > 1 else "The events have")
        what = "an" if whose.startswith("No") else "no"
        return UnknownNameError(f"{whose} {what} attribute `{name}`", hint=hint, span=attribute.span)
