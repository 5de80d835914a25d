"""A SQL statement as words: the tokens of its dialect, with their places and their matching parentheses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokens import Token as DialectToken
from sqlglot.tokens import TokenType

from ostinato.base.errors import QuerySyntaxError, UnknownNameError
from ostinato.base.query_text import check_text
from ostinato.base.span import Span

TRIED = 20
QUOTED = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|/\*.*?\*/|(?P<open>['"`]|/\*)""", re.DOTALL)
STRINGS = (TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING)


@dataclass(frozen=True, slots=True)
class Word:
    """`kind` is name (also a keyword), quoted, string or symbol; `is_alias` says that the dialect allows it as a table's alias."""

    kind: str
    value: str
    span: Span
    is_alias: bool

    @property
    def upper(self) -> str:
        return self.value.upper()

    def is_name(self, name: str) -> bool:
        return self.kind == "name" and self.upper == name

    def is_any(self, values: tuple[str, ...]) -> bool:
        return self.kind in ("name", "symbol") and self.upper in values

    @property
    def is_identifier(self) -> bool:
        return self.kind in ("name", "quoted")


class Statement:
    """One statement, without a closing semicolon."""

    def __init__(self, text: str, words: tuple[Word, ...]) -> None:
        self.text = text
        self.words = words
        self._partner = _match_parentheses(words)

    def is_symbol(self, at: int, symbol: str) -> bool:
        return 0 <= at < len(self.words) and self.words[at].kind == "symbol" and self.words[at].value == symbol

    def closing(self, at: int) -> int:
        """The parenthesis that closes the one at `at`."""
        return self._partner[at]

    def opening(self, at: int) -> int:
        return self._partner[at]


def read_statement(text: str, dialect: str) -> Statement:
    """Split `text` into words; more than one statement is refused."""
    text = check_text(text)
    known = _dialect(dialect)
    words = [_word(token, text, known) for token in _tokens(text, known)]
    while words and words[-1].kind == "symbol" and words[-1].value == ";":
        words.pop()
    if not words:
        raise QuerySyntaxError("The query is empty", hint="Write SELECT ... FROM table MATCH_RECOGNIZE (...)")
    for word in words:
        if word.kind == "symbol" and word.value == ";":
            raise QuerySyntaxError("More than one statement", hint="Run one statement at a time", span=word.span)
    return Statement(text, tuple(words))


def _dialect(name: str) -> Dialect:
    try:
        return Dialect.get_or_raise(name)
    except ValueError as error:
        hint = "Use dialect='duckdb' or dialect='spark'"
        raise UnknownNameError(f"Unknown SQL dialect `{name}`", detail=str(error), hint=hint) from error


def _tokens(text: str, dialect: Dialect) -> list[DialectToken]:
    try:
        return dialect.tokenize(text)
    except TokenError as error:
        # `$` in a pattern is an anchor, but DuckDB's dialect takes it for the beginning of a quoted string
        if "$" in text:
            try:
                return dialect.tokenize(text.replace("$", "^"))
            except TokenError:
                pass
        raise _never_closed(text, dialect) from error


def _never_closed(text: str, dialect: Dialect) -> QuerySyntaxError:
    """The tokenizer does not say where it gave up: the last position up to which the text can be split is where the quote opens. Most
    often it is where quotes open and close by turns; dialects differ in what escapes one, so others are tried, but not all of them."""
    opened = [at for at in range(len(text) - 1, -1, -1) if text[at] in "'\"`/$"]
    for at in (*_open_at_end(text), *opened[:TRIED]):
        if _splits(text[:at], dialect):
            return QuerySyntaxError("This quote or comment is never closed", hint="Close it", span=Span(at, at + 1))
    return QuerySyntaxError("This text cannot be split into words", span=Span(0, 1))


def _open_at_end(text: str) -> tuple[int, ...]:
    """Where the quote or comment begins that is open at the end of the text, if none is escaped."""
    found = next((part for part in QUOTED.finditer(text) if part["open"]), None)
    return () if found is None else (found.start(),)


def _splits(text: str, dialect: Dialect) -> bool:
    try:
        dialect.tokenize(text)
    except TokenError:
        return False
    return True


def _word(token: DialectToken, text: str, dialect: Dialect) -> Word:
    span = Span(token.start, token.end + 1)
    kind, value = "name", token.text
    if token.token_type in STRINGS:
        kind = "string"
    elif token.token_type is TokenType.IDENTIFIER:
        kind = "quoted"
    elif not (value[:1].isalpha() or value[:1] == "_"):
        kind, value = "symbol", text[span.start : span.end]
    return Word(kind, value, span, kind == "quoted" or token.token_type in dialect.parser_class.TABLE_ALIAS_TOKENS)


def _match_parentheses(words: tuple[Word, ...]) -> dict[int, int]:
    partner: dict[int, int] = {}
    open_at: list[int] = []
    for i, word in enumerate(words):
        if word.kind != "symbol" or word.value not in "()":
            continue
        if word.value == "(":
            open_at.append(i)
        elif not open_at:
            raise QuerySyntaxError("This parenthesis closes nothing", hint="Remove it, or open it before", span=word.span)
        else:
            start = open_at.pop()
            partner[start], partner[i] = i, start
    if open_at:
        raise QuerySyntaxError("This parenthesis is never closed", hint="Add a closing parenthesis", span=words[open_at[-1]].span)
    return partner
