"""A place in a list of tokens, and what every parser does there: look, take, demand, fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ostinato.base.errors import QuerySyntaxError
from ostinato.base.span import Span
from ostinato.expr.reading.tokens import Token


class TokenCursor:
    def __init__(self, tokens: Sequence[Token]) -> None:
        """`tokens` ends with the one of kind "end", which is never passed."""
        self.tokens = tokens
        self.position = 0

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def next(self) -> Token:
        token = self.peek()
        if token.kind != "end":
            self.position += 1
        return token

    def at_end(self) -> bool:
        return self.peek().kind == "end"

    def at_word(self, *words: str) -> bool:
        """Any of the words (given in upper case) comes next."""
        return self.peek().is_word(*words)

    def at_words(self, *words: str) -> bool:
        """All of the words come next, in this order."""
        return all(self.peek(i).is_word(word) for i, word in enumerate(words))

    def at_op(self, *ops: str) -> bool:
        return self.peek().is_op(*ops)

    def accept_word(self, *words: str) -> Token | None:
        return self.next() if self.at_word(*words) else None

    def accept_words(self, *words: str) -> bool:
        if not self.at_words(*words):
            return False
        self.position += len(words)
        return True

    def accept_op(self, *ops: str) -> Token | None:
        return self.next() if self.at_op(*ops) else None

    def expect_word(self, *words: str, hint: str | None = None) -> Token:
        return self.accept_word(*words) or self.fail(" or ".join(words), hint=hint)

    def expect_op(self, *ops: str, hint: str | None = None) -> Token:
        return self.accept_op(*ops) or self.fail(" or ".join(f"`{op}`" for op in ops), hint=hint)

    def expect_name(self, what: str = "a name", reserved: frozenset[str] = frozenset()) -> Token:
        """An identifier, quoted or not; `value` is the name itself."""
        token = self.peek()
        if token.kind == "quoted" or (token.kind == "name" and token.text.upper() not in reserved):
            return self.next()
        self.fail(what)

    def expect_end(self, hint: str | None = None) -> None:
        if not self.at_end():
            self.fail("the end of the text", hint=hint)

    def span_from(self, start: Span) -> Span:
        """From `start` to the token taken last."""
        return start.to(self.tokens[self.position - 1].span) if self.position else start

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        token = self.peek()
        raise QuerySyntaxError(f"Expected {expected}, found {token.describe()}", hint=hint, span=token.span)
