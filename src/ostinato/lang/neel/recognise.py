"""Texts that can only be NEEL. What SASE+ has too, a plain sequence, is left to SASE+."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError
from ostinato.expr.reading.parse import COMPARISONS
from ostinato.expr.reading.tokens import Token, tokenize

CLAUSES = ("WHERE", "WITHIN", "RETURN", "OUTPUT", "PUBLISH")


def recognise(text: str) -> bool:
    try:
        tokens = tokenize(text)
    except OstinatoError:
        return False
    if not tokens[0].is_word("PATTERN"):
        return False
    starts = [place for place, token in enumerate(tokens) if token.is_word("PATTERN")]
    return any(_has_a_sign(_pattern(tokens, start + 1)) for start in starts)


def _pattern(tokens: list[Token], start: int) -> list[Token]:
    """From a place up to the parenthesis that ends it, or, of one event, up to the next clause."""
    depth = 0
    for place in range(start, len(tokens)):
        token = tokens[place]
        if depth == 0 and (token.is_word(*CLAUSES) or token.is_op(";")):
            return tokens[start:place]
        depth += token.is_op("(") - token.is_op(")")
        if token.is_op(")") and depth == 0:
            return tokens[start : place + 1]
    return []


def _has_a_sign(tokens: list[Token]) -> bool:
    """`AND(`, `!` before something else than a parenthesis, or a comparison."""
    pairs = zip(tokens, tokens[1:], strict=False)
    return any(
        (token.is_word("AND") and after.is_op("(")) or (token.is_op("!") and not after.is_op("(")) or token.is_op(*COMPARISONS)
        for token, after in pairs
    )
