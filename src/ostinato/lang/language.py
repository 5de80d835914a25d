"""What a language is to everyone who does not speak it: an entry of the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

import pyarrow as pa

from ostinato.algebra.event_streams import EventQuery
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import MatchIntervals, SituationStream
from ostinato.base.errors import OstinatoError
from ostinato.expr.reading.tokens import Token
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.parsed_query import Composite, ParsedQuery, Tree
from ostinato.lang.streams.composition import check_composition
from ostinato.lang.streams.known_streams import KnownStreams

OF_THE_TEXT = ("type_by", "time", "output", "ties", "latency")  # what a text can leave open
OF_THE_RUN = ("strategy", "budget", "lazy", "threads")
OPTIONS = frozenset((*OF_THE_TEXT, *OF_THE_RUN))
OF_EVENT_PATTERNS = OPTIONS - {"latency", "threads"}  # these are a matter of situations, which last


def _as_it_is(tree: Tree, streams: KnownStreams) -> Tree:
    return tree


def _ends_at(tokens: Sequence[Token], at: int) -> bool:
    return False


@dataclass(frozen=True)
class Language(Generic[Tree]):
    """How a text becomes queries of the algebra.

    `title` is what people call it, `sign` what they recognise it by, after the title: "begins with PATTERN". Files with one of
    `suffixes` are written in it.

    `parse` gives the queries of a text, in the order in which they may read each other: a graph whose edges are names. One by one, after
    those that it reads are compiled, each is bound to its streams (`bind`, where the tree itself depends on their columns), lowered to
    the algebra and rendered as canonical text. `composition` checks how they hang together, given the names of all streams; None: `parse`
    and `lower` do. `naming` is a hint for it: how a query names the events that it returns, where it can.

    `options` are those of `OPTIONS` that are offered; `instead` says why the others are not, `instead_hint` what to do.

    `around` is for clauses inside of SQL statements, which a host executes: given the first of the trees it tells what stands around the
    clauses and its columns, None if there is nothing. `publishes`, of a language whose queries do not name what they return: takes such a
    name off a text in which other languages have queries, too, and gives what is left, every word in its place. `strategies` are those by
    which most of its queries are evaluated. `continues`: whether the semicolon at a place of a text stands inside of a query of it, where
    most languages have none."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    sign: str
    recognise: Callable[[str], bool]
    parse: Callable[[str, CompileOptions], tuple[ParsedQuery[Tree], ...]]
    lower: Callable[[Tree, KnownStreams, CompileOptions], MatchQuery | EventQuery | MatchIntervals | SituationStream]
    render: Callable[[Tree], str]
    bind: Callable[[Tree, KnownStreams], Tree] = _as_it_is
    composition: Callable[[Sequence[ParsedQuery[Any]], Iterable[str], str | None], None] | None = check_composition
    naming: str | None = None
    options: frozenset[str] = OF_EVENT_PATTERNS
    instead: str = "is not offered by this language"
    instead_hint: str = "Leave it out"
    around: Callable[[Tree, KnownStreams], tuple[str, pa.Schema] | None] | None = None
    publishes: Callable[[str], tuple[Composite, str] | None] | None = None
    strategies: tuple[str, ...] = ("runs",)
    continues: Callable[[Sequence[Token], int], bool] = _ends_at

    def __post_init__(self) -> None:
        if unknown := sorted(self.options - OPTIONS):
            raise OstinatoError(f"There is no option {unknown[0]}", hint=f"Options are {', '.join(sorted(OPTIONS))}")

    @property
    def is_statement(self) -> bool:
        """Its clauses stand in SQL: a host executes the whole of it."""
        return self.around is not None

    def refuse(self, given: Mapping[str, object]) -> None:
        """`given` are options by name; what is None was not said."""
        for name, value in given.items():
            if value is not None and name not in self.options:
                raise OstinatoError(f"{name}= {self.instead}", hint=self.instead_hint)
