"""Texts that can only be TPStream: they begin with FROM and have DEFINE."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError
from ostinato.expr.reading.tokens import Token, tokenize


def recognise(text: str) -> bool:
    try:
        tokens = tokenize(text)
    except OstinatoError:
        return False
    return tokens[0].is_word("FROM") and _defines(tokens)


def _defines(tokens: list[Token]) -> bool:
    """Outside of parentheses: in SQL, DEFINE stands inside of them."""
    depth = 0
    for token, behind in zip(tokens, tokens[1:], strict=False):
        depth += token.is_op("(") - token.is_op(")")
        if token.is_op(";") or token.is_word("PATTERN"):
            return False
        if depth == 0 and token.is_word("DEFINE") and behind.kind in ("name", "quoted"):
            return True
    return False
