"""What any text has to be before it is read: text, of a length that can be compiled in a moment, and such as can be written down."""

from __future__ import annotations

import re

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span

LONGEST = 1_000_000  # characters
MOST_WORDS = 200_000  # reading and compiling is linear: this many take about a second
MOST_QUERIES = 5_000  # of one text: each takes about a millisecond to compile, and each is a part of the program
WORD = re.compile(r"""'[^']*'|"[^"]*"|\w+|[^\w\s]""")
SURROGATE = re.compile("[\ud800-\udfff]")


def check_text(text: object) -> str:
    """The text, if it can be a query."""
    if not isinstance(text, str):
        raise QuerySyntaxError(f"The query is a {type(text).__name__}, not a text", hint="Pass the query as a str")
    if len(text) > LONGEST:
        raise UnsupportedError(
            f"The query is too long: {len(text):,} characters",
            hint=f"At most {LONGEST:,}; pass long lists as a table, and join with it",
        )
    if (place := surrogate_in(text)) is not None:
        raise QuerySyntaxError(
            "The query has half a surrogate pair in it, which is no character",
            hint="The text was decoded wrongly: read it as UTF-8",
            span=Span(place, place + 1),
            text=text,
        )
    if (place := text.find("\0")) >= 0:  # where one reader of the text stops, and another goes on
        raise QuerySyntaxError("The query has a NUL character in it", hint="Remove it", span=Span(place, place + 1), text=text)
    if len(text) > MOST_WORDS:  # each word has a character
        for number, word in enumerate(WORD.finditer(text)):
            if number >= MOST_WORDS:
                raise UnsupportedError(
                    "The query is too long from here on",
                    hint=f"At most {MOST_WORDS:,} words and signs; pass long lists as a table, and join with it",
                    span=Span(word.start(), word.end()),
                    text=text,
                )
    return text


def check_queries(count: int) -> None:
    """How many queries one text has, or clauses one statement."""
    if count > MOST_QUERIES:
        hint = f"At most {MOST_QUERIES}; queries that do not read each other are added to an ost.QuerySet, which holds any number of them"
        raise UnsupportedError(f"The text has too many queries: {count:,}", hint=hint)


def check_name(name: str, what: str) -> None:
    """A name that cannot be written down cannot be looked for either."""
    if surrogate_in(name) is not None:
        raise OstinatoError(
            f"{what} {name!r} has half a surrogate pair in it, which is no character", hint="The name was decoded wrongly: read it as UTF-8"
        )


def surrogate_in(text: str) -> int | None:
    if text.isascii():
        return None
    found = SURROGATE.search(text)
    return None if found is None else found.start()
