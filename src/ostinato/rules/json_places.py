"""Where something stands in a JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ostinato.base.span import Span

BLANK = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()


def place_in(text: str, path: Sequence[str | int]) -> Span:
    """The value behind these names and numbers, one inside the other; the text is valid JSON, and has them. Of a name that is given twice
    the last counts, as for whoever reads it."""
    at = _behind_blank(text, 0)
    for step in path:
        at = _member(text, at, step) if isinstance(step, str) else _item(text, at, step)
    return Span(at, DECODER.raw_decode(text, at)[1])


def _behind_blank(text: str, at: int) -> int:
    found = BLANK.match(text, at)
    assert found is not None
    return found.end()


def _member(text: str, at: int, name: str) -> int:
    at, found = _behind_blank(text, at + 1), -1
    while text[at] != "}":
        key, at = DECODER.raw_decode(text, at)
        at = _behind_blank(text, _behind_blank(text, at) + 1)  # behind the colon
        if key == name:
            found = at
        at = _next(text, DECODER.raw_decode(text, at)[1])
    return found


def _item(text: str, at: int, number: int) -> int:
    at = _behind_blank(text, at + 1)
    for _ in range(number):
        at = _next(text, DECODER.raw_decode(text, at)[1])
    return at


def _next(text: str, at: int) -> int:
    """The next one behind the comma, or the closing bracket."""
    at = _behind_blank(text, at)
    return _behind_blank(text, at + 1) if text[at] == "," else at
