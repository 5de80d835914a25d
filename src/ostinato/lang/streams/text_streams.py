"""The streams of a text whose queries are compiled one after the other: those that were given, and what the queries return so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from ostinato.expr.typing.arrow_types import usable_schema
from ostinato.expr.typing.schema import Schema
from ostinato.lang.streams.known_streams import KnownStreams


@dataclass(frozen=True)
class Events:
    """What a query returns. `number`: how many queries of the text returned something before."""

    number: int
    name: str
    columns: pa.Schema
    typed: Schema
    time: str


@dataclass
class TextStreams:
    """A query is shown the streams that were given, and of the events of others those that it names: a text of several hundred queries
    costs as much for each as a text of two."""

    outside: KnownStreams
    _events: dict[str, Events] = field(default_factory=dict)  # by name in lower case
    _given: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._given = {name.lower() for name in self.outside.given}

    def add(self, name: str, columns: pa.Schema, time: str) -> None:
        self._events[name.lower()] = Events(len(self._events), name, columns, usable_schema(columns), time)

    def read_by(self, names: Iterable[str], event_types: bool = False) -> KnownStreams:
        """What a query can read that asks for these. `event_types`: they may also be values of a column. A name that there is not is
        answered with those that there are, so then all of them are shown."""
        wanted = {name.lower() for name in names}
        complete = event_types or all(name in self._events or name in self._given for name in wanted)
        shown = [self._events[name] for name in wanted if name in self._events] if complete else list(self._events.values())
        shown.sort(key=lambda events: events.number)
        return KnownStreams(
            {**self.outside.given, **{events.name: events.columns for events in shown}},
            {**self.outside.composites, **{events.name: events.time for events in shown}},
            self.outside.host,
            {**self.outside.schemas, **{events.name: events.typed for events in shown}},
        )
