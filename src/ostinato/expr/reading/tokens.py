"""Query text to tokens, the same for every language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ostinato.base.errors import QuerySyntaxError
from ostinato.base.span import Span

MULTIPLE = ("<=>", "<>", "!=", "<=", ">=", "==", "||", "::", "..", "->", "=>")
SINGLE = frozenset("()[]{}<>,;.:+-*/%=?|^$~@&!#")
NUMBER = re.compile(r"(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
BLANK = re.compile(r"\s+")
DECORATOR = re.compile(r"\$[0-9]+")
# As papers print them
SYMBOLS = {
    "∧": ("name", "AND"), "∨": ("name", "OR"), "¬": ("name", "NOT"),
    "≤": ("op", "<="), "≥": ("op", ">="), "≠": ("op", "!="), "×": ("op", "*"), "−": ("op", "-"), "∼": ("op", "~"),
}  # fmt: skip
CLOSING = {'"': "double quote", "`": "backquote", "'": "single quote"}


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is name, quoted, number, string, op or end. `text` is what stands in the query (for `∧` and its like the word); `value` is
    the name without quotes, the number (int, Decimal, or float where there is an exponent) or the string's content."""

    kind: str
    text: str
    value: Any
    span: Span

    def is_word(self, *words: str) -> bool:
        """An unquoted name, whatever its case."""
        return self.kind == "name" and self.text.upper() in words

    def is_op(self, *ops: str) -> bool:
        return self.kind == "op" and self.text in ops

    def describe(self) -> str:
        return "the end of the text" if self.kind == "end" else f"`{self.text}`"


def tokenize(text: str, offset: int = 0) -> list[Token]:
    """All tokens, ending with one of kind "end". `offset` is where `text` begins in the whole query."""
    return _Tokenizer(text, offset).run()


class _Tokenizer:
    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset
        self.at = 0
        self.tokens: list[Token] = []

    def run(self) -> list[Token]:
        while self._skip_blank():
            self._token()
        self._add("end", self.at, None)
        return self.tokens

    def _span(self, start: int, end: int) -> Span:
        return Span(start + self.offset, end + self.offset)

    def _add(self, kind: str, end: int, value: Any) -> None:
        self.tokens.append(Token(kind, self.text[self.at : end], value, self._span(self.at, end)))
        self.at = end

    def _skip_blank(self) -> bool:
        """Go to the next token; False at the end of the text."""
        text = self.text
        while self.at < len(text):
            if text[self.at].isspace():
                blank = BLANK.match(text, self.at)
                assert blank is not None
                self.at = blank.end()
            elif text.startswith("--", self.at):
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end + 1
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at + 2)
                if end < 0:
                    raise QuerySyntaxError("This comment is never closed", hint="End it with */", span=self._span(self.at, self.at + 2))
                self.at = end + 2
            else:
                return True
        return False

    def _token(self) -> None:
        c = self.text[self.at]
        if c in CLOSING:
            self._quoted(c)
        elif is_digit(c) or (c == "." and self._starts_fraction()):
            self._number()
        elif c.isalpha() or c == "_":
            self._name()
        else:
            self._operator()

    def _starts_fraction(self) -> bool:
        """`.5`, but not the second half of `a.5`, `)..5` or `a[..5]`."""
        if not is_digit(self.text[self.at + 1 : self.at + 2]):
            return False
        previous = self.tokens[-1] if self.tokens else None
        return previous is None or not (previous.kind in ("name", "quoted") or previous.is_op("]", ")", "."))

    def _quoted(self, quote: str) -> None:
        end = self.at + 1
        while True:
            end = self.text.find(quote, end)
            if end < 0:
                raise QuerySyntaxError(
                    f"This {CLOSING[quote]} is never closed",
                    hint=f"Close it with {quote}; inside, write {quote}{quote} for the character itself",
                    span=self._span(self.at, self.at + 1),
                )
            if not self.text.startswith(quote * 2, end):
                break
            end += 2
        value = self.text[self.at + 1 : end].replace(quote * 2, quote)
        if quote != "'" and not value:
            raise QuerySyntaxError("A quoted name cannot be empty", span=self._span(self.at, end + 1))
        self._add("string" if quote == "'" else "quoted", end + 1, value)

    def _number(self) -> None:
        found = NUMBER.match(self.text, self.at)
        assert found is not None
        written, end = found.group(), found.end()
        if end < len(self.text) and (self.text[end].isalpha() or self.text[end] == "_"):
            raise QuerySyntaxError(
                f"`{written}{self.text[end]}` is neither a number nor a name",
                hint="A name that begins with a digit needs double quotes",
                span=self._span(self.at, end + 1),
            )
        if len(written) > 400:
            raise QuerySyntaxError("This number is too long", span=self._span(self.at, end))
        if "e" in written or "E" in written:
            self._add("number", end, float(written))
        elif "." in written:
            self._add("number", end, Decimal(written))
        else:
            self._add("number", end, int(written))

    def _name(self) -> None:
        end = self.at + 1
        while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            end += 1
        self._add("name", end, self.text[self.at : end])

    def _operator(self) -> None:
        if decorator := DECORATOR.match(self.text, self.at):
            return self._add("op", decorator.end(), decorator.group())
        for op in MULTIPLE:
            if self.text.startswith(op, self.at):
                return self._add("op", self.at + len(op), op)
        c = self.text[self.at]
        if c in SYMBOLS:
            kind, word = SYMBOLS[c]
            self.tokens.append(Token(kind, word, word, self._span(self.at, self.at + 1)))
            self.at += 1
            return None
        if c not in SINGLE:
            raise QuerySyntaxError(f"Unexpected character {c!r}", span=self._span(self.at, self.at + 1))
        self._add("op", self.at + 1, c)
        return None


def is_digit(c: str) -> bool:
    """ASCII only: str.isdigit also takes superscripts, which are no numbers."""
    return len(c) == 1 and "0" <= c <= "9"
