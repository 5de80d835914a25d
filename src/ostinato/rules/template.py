"""Texts with places for values: `${limit}`. What is put there is a constant of the language, never a part of the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ostinato.base.errors import OstinatoError, UnknownNameError
from ostinato.base.span import Span
from ostinato.expr.text import literal_text

# Comments and what stands in quotes are passed over whole; then places are found.
PIECES = re.compile(
    r"""(?P<quiet>--[^\n]*|/\*.*?\*/)|(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`)|\$\{\s*(?P<name>\w*)\s*\}""", re.DOTALL
)
VALUES = (bool, int, float, str, Decimal, date, datetime, timedelta)


def filled(template: str, values: Mapping[str, Any]) -> str:
    """The text with `values` in their places; each place needs one, and each value a place. A null of a table says nothing."""
    given = {name: value for name, value in values.items() if value is not None}
    used: set[str] = set()

    def put(found: re.Match[str]) -> str:
        if found["quiet"] is not None:
            return found[0]
        if found["quoted"] is not None:
            return _checked_quote(found, template)
        name = found["name"]
        if name not in given:
            told = ", ".join(sorted(given)) or "none"
            raise UnknownNameError(
                f"there is no value for ${{{name}}}", hint=f"The parameters are: {told}", span=_span(found), text=template
            )
        used.add(name)
        return _constant(name, given[name])

    text = PIECES.sub(put, template)
    unused = sorted(set(given) - used)
    if unused:
        raise UnknownNameError(f"the template has no place ${{{unused[0]}}}", hint="Leave the parameter out, or put it into the template")
    return text


def _checked_quote(found: re.Match[str], template: str) -> str:
    if "${" in found[0]:
        at = found.start() + found[0].index("${")
        raise OstinatoError(
            "a parameter inside of quotes", hint="Leave out the quotes: texts get theirs", span=Span(at, at + 2), text=template
        )
    return found[0]


def _constant(name: str, value: Any) -> str:
    if not isinstance(value, VALUES):
        raise OstinatoError(f"the parameter {name!r} is a {type(value).__name__}", hint="It is a number, a text, a time or a truth value")
    if isinstance(value, str) and ("\\" in value or "\0" in value):
        # dialects of SQL differ in what a backslash means inside of quotes
        raise OstinatoError(f"the parameter {name!r} has a backslash or a null in it", hint="Write the query without a template")
    text = literal_text(value)
    return f"({text})" if text.startswith("-") else text


def _span(found: re.Match[str]) -> Span:
    return Span(found.start(), found.end())
