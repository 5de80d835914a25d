"""Texts that can only be TPStream: they begin with FROM and have DEFINE and PATTERN."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError
from ostinato.expr.reading.tokens import tokenize


def recognise(text: str) -> bool:
    try:
        tokens = tokenize(text)
    except OstinatoError:
        return False
    if not tokens[0].is_word("FROM") or any(token.is_word("MATCH_RECOGNIZE") for token in tokens):
        return False
    words = [token.text.upper() for token in tokens if token.is_word("DEFINE", "PATTERN")]
    return words[:1] == ["DEFINE"] and "PATTERN" in words
