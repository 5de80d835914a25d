"""Functions of strings, on single values that are not null."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any


def substring(text: str, start: int, length: int | None = None) -> str:
    """From 1; a negative start counts back from the end; 0 is taken as 1."""
    begin = start - 1 if start > 0 else 0 if start == 0 else len(text) + start
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)]


def left(text: str, count: int) -> str:
    """A negative count leaves that many out at the other end."""
    return text[:count]


def right(text: str, count: int) -> str:
    if count < 0:
        return text[-count:]
    return text[len(text) - min(count, len(text)) :]


def replace(text: str, old: str, new: str) -> str:
    return text.replace(old, new) if old else text


def like(text: str, pattern: str, escape: str | None = None) -> bool:
    return compiled_like(pattern, escape).fullmatch(text) is not None


@lru_cache(512)
def compiled_like(pattern: str, escape: str | None = None) -> re.Pattern[str]:
    parts = (".*" if part is None else "." if part == "" else re.escape(part) for part in like_parts(pattern, escape))
    return re.compile("".join(parts), re.DOTALL)


def like_parts(pattern: str, escape: str | None) -> list[str | None]:
    """A LIKE pattern piece by piece: a character, "" for any character, None for any string."""
    parts: list[str | None] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c == escape and i + 1 < len(pattern):
            i += 1
            parts.append(pattern[i])
        elif c == "%":
            parts.append(None)
        else:
            parts.append("" if c == "_" else c)
        i += 1
    return parts


STRING_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "upper": str.upper,
    "lower": str.lower,
    "reverse": lambda text: text[::-1],
    "length": len,
    "trim": lambda text, characters=" ": text.strip(characters) if characters else text,
    "ltrim": lambda text, characters=" ": text.lstrip(characters) if characters else text,
    "rtrim": lambda text, characters=" ": text.rstrip(characters) if characters else text,
    "replace": replace,
    "concat": lambda *texts: "".join(texts),
    "strpos": lambda text, part: text.find(part) + 1,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": str.__contains__,
    "like": like,
    "substring": substring,
    "left": left,
    "right": right,
}
