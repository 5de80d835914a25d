"""Patterns that nothing can match: said when a query is compiled, since no result would ever tell."""

from __future__ import annotations

from typing import Any

from ostinato.algebra.contradictions import Contradiction, contradiction
from ostinato.algebra.situations import MatchIntervals
from ostinato.base.errors import OstinatoError
from ostinato.lang.parsed_query import ParsedQuery


class ContradictionWarning(UserWarning):
    """A query can have no result, whatever comes."""


def contradictory(parsed: ParsedQuery[Any], query: MatchIntervals, text: str) -> ContradictionWarning | None:
    found = contradiction(query)
    if found is None:
        return None
    places = [parsed.constraints[number] for number in found.constraints if number < len(parsed.constraints)]
    said = [f"`{_words(text[place.start : place.end])}`" for place in places] + _durations(found) + (["WITHIN"] if found.within else [])
    together = "cannot hold" if len(said) == 1 else "contradict each other"
    error = OstinatoError(
        f"Nothing can match: {_listed(said)} {together}",
        hint="The query has no results, whatever comes: change one of these, or allow more relations",
        span=places[-1] if places else parsed.span,
        text=text,
    )
    return ContradictionWarning(str(error))


def _durations(found: Contradiction) -> list[str]:
    return [f"how long `{name}` lasts" for name in found.durations]


def _listed(said: list[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def _words(text: str) -> str:
    return " ".join(text.split())
