"""CREATE VIEW Name AS SELECT * FROM ... MATCH_RECOGNIZE (...): in a text of several queries its matches are events of that name."""

from __future__ import annotations

import re

from ostinato.base.span import Span
from ostinato.lang.parsed_query import Composite

_SPACE = r"(?:\s|--[^\n]*+|/\*(?>.*?\*/))"
_VIEW = re.compile(
    rf'{_SPACE}*+CREATE{_SPACE}++(?:TEMP(?:ORARY)?{_SPACE}++)?VIEW{_SPACE}++(?P<name>\w+|"[^"]+"){_SPACE}++AS\b', re.IGNORECASE | re.DOTALL
)


def published(text: str) -> tuple[Composite, str] | None:
    """The name, and the statement behind it, every word in its place; None where there is none."""
    found = _VIEW.match(text)
    if found is None:
        return None
    composite = Composite(found["name"].strip('"'), Span(found.start("name"), found.end("name")))
    return composite, re.sub(r"[^\n]", " ", text[: found.end()]) + text[found.end() :]
