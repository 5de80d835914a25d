"""The tree of a TPStream query, close to its text. Names are as written; nothing is resolved yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.base.span import NOWHERE, Span
from ostinato.lang.parsed_query import Composite
from ostinato.lang.situations.relations import Bounded
from ostinato.lang.situations.syntax import Definition, Name, Returned, StreamName
from ostinato.lang.streams.window import Window


@dataclass(frozen=True)
class Constraint:
    """`first relation;relation second`."""

    first: Name
    allowed: tuple[Bounded, ...]
    second: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class TpstreamQuery:
    """`alone` is the situation of a pattern that is a single name, without any constraint; where neither is, there is no pattern, and the
    situations are what is returned. `published` is how other queries of the text call what is returned. `original`: as it was written,
    where queries of their own decide some of its conditions."""

    streams: tuple[StreamName, ...]
    definitions: tuple[Definition, ...]
    constraints: tuple[Constraint, ...]
    alone: Name | None = None
    partition: tuple[Name, ...] = ()
    window: Window | None = None
    returns: tuple[Returned, ...] = ()
    published: Composite | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)  # of the pattern, or of the definitions
    text: str = field(default="", compare=False, repr=False)
    original: TpstreamQuery | None = field(default=None, compare=False, repr=False)

    @property
    def has_pattern(self) -> bool:
        return self.alone is not None or bool(self.constraints)


def streams_of(query: TpstreamQuery) -> tuple[StreamName, ...]:
    """All that the text names, in its order, each as often as it does."""
    own = (definition.stream for definition in query.definitions)
    return (*query.streams, *(stream for stream in own if stream is not None))
