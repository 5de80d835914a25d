"""Texts that can only be CEL: conditions in braces behind FILTER, NEXT or FOLD, or PUBLISH at the end of a query."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError
from ostinato.expr.reading.tokens import Token, tokenize
from ostinato.lang.cel.words import OPERATORS


def recognise(text: str) -> bool:
    try:
        tokens = tokenize(text)
    except OstinatoError:
        return False
    if tokens[0].is_word("PATTERN") or any(token.is_word("MATCH_RECOGNIZE") for token in tokens):
        return False
    return any(_is_sign(tokens[place : place + 3]) for place in range(len(tokens)))


def _is_sign(tokens: list[Token]) -> bool:
    if len(tokens) < 2:
        return False
    first, second, *rest = tokens
    if first.is_word(*OPERATORS):
        return second.is_op("{")
    ends = bool(rest) and (rest[0].kind == "end" or rest[0].is_op(";", ")"))
    return first.is_word("PUBLISH") and second.kind in ("name", "quoted") and ends
