"""The streams from which situations are derived: one, or several merged by time; and which of them a definition reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ostinato.base.errors import QuerySyntaxError, SchemaError
from ostinato.expr.nodes import Field
from ostinato.expr.typing.infer import unknown_column
from ostinato.expr.typing.schema import Schema
from ostinato.lang.situations.syntax import Definition, Name, StreamName
from ostinato.lang.streams.stream import Stream


@dataclass(frozen=True)
class Sources:
    """What a query reads. `stream` is all of it; `starts` are the streams whose rows last, each with the column of their starts in
    `stream`; `common` are those that FROM names, which definitions read that name none."""

    stream: Stream
    starts: Mapping[str, str]
    common: tuple[str, ...]
    schemas: Mapping[str, Schema]
    named: Mapping[StreamName, str]

    def of(self, definition: Definition) -> tuple[str, ...]:
        """The streams that it reads, by their own names."""
        return self.common if definition.stream is None else (self.named[definition.stream],)

    def start_of(self, definition: Definition) -> str | None:
        """The column of starts, where it reads rows that last."""
        names = self.of(definition)
        lasting = [name for name in names if name in self.starts]
        if not lasting:
            return None
        if len(names) > 1:
            hint = f"Say which: {definition.name} FROM {lasting[0]}"
            raise QuerySyntaxError(f"`{definition.name}` reads several streams, and the rows of one last", hint=hint, span=definition.span)
        return self.starts[lasting[0]]

    def columns_of(self, names: tuple[str, ...]) -> Schema:
        """What all of these streams have, by the names that the merged stream has for it."""
        merged = self.stream.schema
        shared = [set(self.schemas[name].names) for name in names]
        held = tuple(column for column in merged.columns if all(column[0] in own for own in shared))
        return Schema(held, merged.unusable)

    def column(self, column: Name, names: tuple[str, ...]) -> str:
        """Its own spelling, where all of these streams have it."""
        schema = self.columns_of(names)
        found = schema.find(column.name)
        if found is not None:
            return found
        for name in names:
            if self.stream.schema.find(column.name) is not None and self.schemas[name].find(column.name) is None:
                raise SchemaError(
                    f"Stream `{name}` has no column `{column.name}`", hint=f"All of {', '.join(names)} need it", span=column.span
                )
        raise unknown_column(column.name, schema, Field(column.name, span=column.span))
