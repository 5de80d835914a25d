"""Several queries in one text: the events that one returns are a stream for those after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ostinato.base.errors import QuerySyntaxError
from ostinato.lang.parsed_query import ParsedQuery


def check_composition(queries: Sequence[ParsedQuery[Any]], streams: Iterable[str], naming: str | None = None) -> None:
    """Every query but the last returns named events, which are read by a later one. `naming` is a hint: how a query of the language names
    its events."""
    taken = {name.lower() for name in streams}
    last_read = {name.lower(): number for number, query in enumerate(queries) for name in query.reads}
    for number, query in enumerate(queries[:-1]):
        _check_named(query, number, taken, naming)
        _check_read(query, number, last_read)


def _check_named(query: ParsedQuery[Any], number: int, taken: set[str], naming: str | None) -> None:
    if query.composite is None:
        raise QuerySyntaxError(
            f"Query {number + 1} of the text has no name by which a later one could read its events", hint=naming, span=query.span
        )
    name = query.composite.name
    if name.lower() in taken:
        raise QuerySyntaxError(f"There is already a stream `{name}`", hint="Name the events otherwise", span=query.composite.span)
    taken.add(name.lower())


def _check_read(query: ParsedQuery[Any], number: int, last_read: Mapping[str, int]) -> None:
    """`last_read` are the numbers of the last queries that ask for these names."""
    assert query.composite is not None
    if last_read.get(query.composite.name.lower(), number) <= number:
        raise QuerySyntaxError(
            f"No later query of the text reads the events `{query.composite.name}`",
            hint="Only what the last query returns is the result: leave the query out, or run it by itself",
            span=query.composite.span,
        )
