"""What a query reads: one stream, or several merged by time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ostinato.algebra.parts import Part
from ostinato.base.span import Span
from ostinato.expr.types import Type
from ostinato.expr.typing.schema import Schema


class EventOf(Protocol):
    """A part of a pattern, in any language, that asks for an event of a type."""

    @property
    def event_type(self) -> str: ...

    @property
    def span(self) -> Span: ...


@dataclass(frozen=True)
class Stream:
    """What a query reads. `schemas` and `types` are, by the event type that a pattern asks for, the attributes of such events and the value
    of the type column."""

    name: str
    schema: Schema
    time: str
    type_column: str | None
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    stream_number: str | None = None  # the column that tells which of the parts an event is of

    @property
    def time_type(self) -> Type:
        return self.schema.type_of(self.time)

    def schema_of(self, event: EventOf) -> Schema:
        return self.schemas.get(event.event_type, self.schema)

    def type_of(self, event: EventOf) -> str | None:
        return None if self.type_column is None else self.types.get(event.event_type, event.event_type)
