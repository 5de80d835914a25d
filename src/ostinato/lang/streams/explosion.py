"""Patterns whose state can grow without bound: said when a query is compiled, not when the memory is full."""

from __future__ import annotations

from typing import Any

from ostinato.algebra.pattern import Alternation, Negation, Pattern, Repetition, Variable, parts_of
from ostinato.algebra.policies import MatchOrder, Output, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import MatchIntervals
from ostinato.base.errors import OstinatoError
from ostinato.base.span import Span
from ostinato.lang.parsed_query import ParsedQuery

WITHOUT_ENUMERATION = (Output.COUNT, Output.AGGREGATES, Output.COMPRESSED)


class ExplosionWarning(UserWarning):
    """The partial matches of a query, or its matches, can outgrow any memory."""


def explosion(parsed: ParsedQuery[Any], query: MatchQuery | MatchIntervals, text: str, runs_merge: bool) -> ExplosionWarning | None:
    """`runs_merge`: runs with the same future are one, so that where matches are not enumerated nothing grows with their number."""
    if isinstance(query, MatchIntervals):
        return _endless(parsed, query, text)
    if query.within is not None or (query.output in WITHOUT_ENUMERATION and runs_merge):
        return None
    shown = query.kleene[0] if query.kleene else ""
    place = parsed.places.get(shown, parsed.span)
    if query.selection is Selection.ANY and shown:
        said = f"The number of matches can double with every event: `{shown}[ ]` may take it or skip it, and nothing ends a match"
        return _warning(text, said, _bound(query), place)
    if query.selection is Selection.ANY and _most_events(query.pattern) > 1:
        said = "Every partial match is kept for ever: any event may be skipped, and nothing ends a match"
        return _warning(text, said, _bound(query), parsed.span)
    if query.selection is Selection.NEXT and shown:
        said = f"Partial matches inside `{shown}[ ]` are kept for ever: they may skip what they cannot take, and nothing ends them"
        return _warning(text, said, "Bound it with WITHIN", place)
    return None


def _endless(parsed: ParsedQuery[Any], query: MatchIntervals, text: str) -> ExplosionWarning | None:
    if query.within is not None or not query.constraints:
        return None
    said = "Every situation is kept for ever: each may match one that comes at any time"
    return _warning(text, said, "Bound the pattern with WITHIN", parsed.span)


def _most_events(pattern: Pattern) -> int:
    """How many events a match can hold: of alternatives those of one. A repetition without end counts as two."""
    if isinstance(pattern, Variable):
        return 1
    if isinstance(pattern, Negation):
        return 0
    inside = [_most_events(item) for item in parts_of(pattern)]
    if isinstance(pattern, Repetition):
        return inside[0] * (2 if pattern.at_most is None else pattern.at_most)
    return max(inside, default=0) if isinstance(pattern, Alternation) else sum(inside)


def _bound(query: MatchQuery) -> str:
    """Nested patterns, which are listed by their intervals, have one selection alone."""
    return "Bound it with WITHIN" + ("" if query.listed is MatchOrder.INTERVAL else ", or use skip_till_next_match")


def _warning(text: str, message: str, hint: str, span: Span) -> ExplosionWarning:
    return ExplosionWarning(str(OstinatoError(message, hint=hint, span=span, text=text)))
