"""Texts whose queries are written in different languages: each is parsed and lowered by its own, and what one returns is a stream for those
after it. Such a text is a language of its own, called after those of its queries: "sase; neel"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ostinato.algebra.event_streams import EventQuery
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import MatchIntervals, SituationStream
from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.reading.tokens import tokenize
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.language import Language
from ostinato.lang.parsed_query import Composite, ParsedQuery
from ostinato.lang.streams.composite_event import with_time
from ostinato.lang.streams.known_streams import KnownStreams

SEPARATOR = "; "


@dataclass(frozen=True)
class Part:
    """A query of a text with its language. `published`: what it returns was given a name that its own language does not know."""

    language: Language[Any]
    tree: Any
    text: str
    published: Composite | None = None


def queries_in(text: str, languages: Iterable[Language[Any]]) -> tuple[Span, ...]:
    """Where the queries of a text stand, which semicolons separate, but for those inside of a query of one of these languages. What cannot
    be read at all is one."""
    try:
        tokens = tokenize(text)
    except OstinatoError:
        return (Span(0, len(text)),)
    known = list({language.name: language for language in languages}.values())
    ends = [
        token.span
        for at, token in enumerate(tokens)
        if token.kind == "end" or (token.is_op(";") and not any(one.continues(tokens, at) for one in known))
    ]
    starts = [0, *(span.end for span in ends)]
    found = [Span(start, end.start) for start, end in zip(starts, ends, strict=False)]
    places = [token.span.start for token in tokens]
    return tuple(span for span in found if bisect_left(places, span.start) < bisect_left(places, span.end))


def alone(text: str, blank: str, span: Span) -> str:
    """One query, where it stands; what is around it is blank."""
    return blank[: span.start] + text[span.start : span.end] + blank[span.end :]


def blanked(text: str) -> str:
    """Every line of it, with nothing in it."""
    return re.sub(r"[^\n]", " ", text)


def can_read(language: Language[Any], text: str) -> bool:
    try:
        language.parse(text, CompileOptions())
    except OstinatoError:
        return False
    return True


def several(languages: tuple[Language[Any], ...]) -> Language[Part]:
    """The language of texts whose queries are written in these, one after the other."""

    def parse(text: str, options: CompileOptions) -> tuple[ParsedQuery[Part], ...]:
        spans = queries_in(text, languages)
        if len(spans) != len(languages):
            named = SEPARATOR.join(one.name for one in languages)
            raise QuerySyntaxError(
                f"The text has {len(spans)} queries, and language= names {len(languages)}", hint=f'Name one for each: language="{named}"'
            )
        blank = blanked(text)
        placed = ((language, text, alone(text, blank, span)) for language, span in zip(languages, spans, strict=True))
        return tuple(part for one in placed for part in _parsed(*one, options))

    titles = tuple(dict.fromkeys(language.title for language in languages))
    return Language(
        name=SEPARATOR.join(language.name for language in languages),
        title=" and ".join(titles),
        suffixes=(),
        sign="are separated by semicolons",
        recognise=lambda text: False,
        parse=parse,
        bind=_bind,
        lower=_lower,
        render=lambda part: f"-- {part.language.title}\n{part.language.render(part.tree)}",
        naming=next((language.naming for language in languages if language.naming is not None), None),
        strategies=tuple(dict.fromkeys(name for language in languages for name in language.strategies)),
    )


def _parsed(language: Language[Any], text: str, own: str, options: CompileOptions) -> tuple[ParsedQuery[Part], ...]:
    """One query of the text, `own`; its language may make several of it, which read each other."""
    with _pointing_into(text):
        published = None if language.publishes is None else language.publishes(own)
        queries = language.parse(own if published is None else published[1], options)
        if language.is_statement and len(queries) != 1:
            raise UnsupportedError(f"A query of {language.title} among others has one clause", span=queries[1].span)
    name = None if published is None else published[0]
    return tuple(
        replace(query, tree=Part(language, query.tree, text, name), composite=name or query.composite, relation=None) for query in queries
    )


@contextmanager
def _pointing_into(text: str) -> Iterator[None]:
    """Errors point into the whole text, and not into the one in which the other queries are blank."""
    try:
        yield
    except OstinatoError as error:
        error.text = text
        raise


def _bind(part: Part, streams: KnownStreams) -> Part:
    """No host is asked: nothing may stand around a clause, whose matches others read."""
    with _pointing_into(part.text):
        return replace(part, tree=part.language.bind(part.tree, replace(streams, host=None)))


def _lower(part: Part, streams: KnownStreams, options: CompileOptions) -> MatchQuery | EventQuery | MatchIntervals | SituationStream:
    with _pointing_into(part.text):
        part.language.refuse({"output": options.output})
        query = part.language.lower(part.tree, streams, options)
        return with_time(query, part.published) if part.published is not None and isinstance(query, MatchQuery) else query
