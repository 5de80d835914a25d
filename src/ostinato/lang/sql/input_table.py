"""What stands before MATCH_RECOGNIZE, or behind SITUATIONS OF: the table that the clause reads, found without knowing the rest of the
statement."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.lang.sql.statement import Statement

KEYWORD = "MATCH_RECOGNIZE"
SITUATIONS = "SITUATIONS"  # behind it OF, the table and the clause
BODY = ("PARTITION", "ORDER", "DEFINE", "MEASURES")  # with one of these such a clause begins
BEFORE_TABLE = ("FROM", "JOIN", ",", "(")
# What may follow a table and is the host's business: samples, old versions, row numbers of arrays
HOST_FORMS = ("TABLESAMPLE", "VERSION", "TIMESTAMP", "FOR", "WITH", "PIVOT", "UNPIVOT")


@dataclass(frozen=True)
class InputTable:
    """Words `first` to `end` are the table as the host has to read it. An alias is left out unless it names the columns anew:
    nothing else could refer to it but the clause itself, which may call the table by `names`. `is_name` says that it is the plain name
    of a table or view."""

    first: int
    end: int
    is_name: bool
    names: tuple[str, ...] = ()


def find_input(statement: Statement, place: int) -> InputTable:
    """The table before the keyword at `place`."""
    first = _first_word(statement, place)
    found = _table(statement, first, place) if 0 < first < place else None
    if found is None:
        raise QuerySyntaxError(
            f"{KEYWORD} needs a table before it",
            hint=f"Write FROM table {KEYWORD} (...), where table is a name, a query or VALUES in parentheses, with or without an alias",
            span=statement.words[place].span,
        )
    return found


def _table(statement: Statement, first: int, place: int) -> InputTable | None:
    """What fills the words from `first` up to `place`; None: no table does."""
    derived = situations_end(statement, first)
    end, is_name = _primary(statement, first, place) if derived is None else (derived, False)
    if not first < end <= place:
        return None
    alias = _alias(statement, end, place)
    names = _names(statement, first, end, is_name) if alias is None or end == place else (_alias_word(statement, end),)
    if alias == "plain":
        return InputTable(first, end, is_name, names)
    if alias == "columns" or (end < place and statement.words[end].is_any(HOST_FORMS)):
        return InputTable(first, place, False, names)
    return None


def _first_word(statement: Statement, place: int) -> int:
    first = place
    while first > 0 and not statement.words[first - 1].is_any(BEFORE_TABLE):
        first -= 1
        if statement.is_symbol(first, ")"):
            first = statement.opening(first)
    return _values_before(statement, first)


def _values_before(statement: Statement, first: int) -> int:
    """The rows of `FROM VALUES (1, 2), (3, 4)` stand between commas, as tables do."""
    at = first
    while statement.is_symbol(at, "(") and statement.is_symbol(at - 1, ",") and statement.is_symbol(at - 2, ")"):
        at = statement.opening(at - 2)
    return at - 1 if at < first and at > 0 and statement.words[at - 1].is_name("VALUES") else first


def _primary(statement: Statement, first: int, place: int) -> tuple[int, bool]:
    """The end of the name, function call, file name, subquery or list of rows that begins at `first` (`first` itself: there is none)."""
    at = first
    if statement.words[at].is_name("LATERAL"):
        span = statement.words[at].span
        raise UnsupportedError(f"LATERAL before {KEYWORD}", hint="Give the input as a subquery of its own", span=span)
    if statement.words[at].kind == "string":
        return at + 1, False
    if statement.is_symbol(at, "("):
        return statement.closing(at) + 1, False
    if statement.words[at].is_name("VALUES") and statement.is_symbol(at + 1, "("):
        return _end_of_rows(statement, at + 1), False
    while at < place and statement.words[at].is_identifier:
        at += 1
        if not statement.is_symbol(at, "."):
            break
        at += 1
    if at > first and at < place and statement.is_symbol(at, "("):
        return statement.closing(at) + 1, False
    return at, at > first


def _end_of_rows(statement: Statement, at: int) -> int:
    end = statement.closing(at) + 1
    while statement.is_symbol(end, ",") and statement.is_symbol(end + 1, "("):
        end = statement.closing(end + 1) + 1
    return end


def _alias(statement: Statement, at: int, place: int) -> str | None:
    """`[[AS] alias [(columns)]]` fills the words up to `place`: "plain", or "columns" where columns are named; None if it does not."""
    if at == place:
        return "plain"
    if statement.words[at].is_name("AS"):
        at += 1
    if at >= place or not statement.words[at].is_identifier or statement.words[at].is_name(KEYWORD):
        return None
    at += 1
    if at == place:
        return "plain"
    return "columns" if statement.is_symbol(at, "(") and statement.closing(at) + 1 == place else None


def _alias_word(statement: Statement, at: int) -> str:
    return statement.words[at + 1 if statement.words[at].is_name("AS") else at].value


def _names(statement: Statement, first: int, end: int, is_name: bool) -> tuple[str, ...]:
    """Of a table without an alias: its whole name, and the last part of it."""
    words = [word.value for word in statement.words[first:end]] if is_name else []
    return ("".join(words), words[-1]) if len(words) > 1 else tuple(words)


def span_of(statement: Statement, table: InputTable) -> Span:
    return Span(statement.words[table.first].span.start, statement.words[table.end - 1].span.end)


def begins_situations(statement: Statement, at: int) -> bool:
    """`SITUATIONS OF` where a table may stand."""
    words = statement.words
    return 0 < at < len(words) - 1 and words[at].is_name(SITUATIONS) and words[at + 1].is_name("OF") and words[at - 1].is_any(BEFORE_TABLE)


def situations_body(statement: Statement, at: int) -> int | None:
    """Where the parenthesis of the clause opens that begins at `at`; None: it does not."""
    if not begins_situations(statement, at):
        return None
    at += 2
    while at < len(statement.words) and not statement.is_symbol(at, ")"):
        if statement.is_symbol(at, "("):
            if statement.words[at + 1].upper.split()[0] in BODY:  # ORDER BY is one word to some tokenizers
                return at
            at = statement.closing(at)
        at += 1
    return None


def situations_end(statement: Statement, at: int) -> int | None:
    """The end of the clause that begins at `at`; None: none does."""
    body = situations_body(statement, at)
    return None if body is None else statement.closing(body) + 1


def find_source(statement: Statement, at: int) -> InputTable:
    """The table of the clause SITUATIONS OF that begins at `at`."""
    body = situations_body(statement, at)
    found = None if body is None else _table(statement, at + 2, body)
    if found is None:
        raise QuerySyntaxError(
            f"{SITUATIONS} OF needs a table, and what is derived from it",
            hint=f"FROM {SITUATIONS} OF table (PARTITION BY key ORDER BY time DEFINE A AS condition): a name, or a query in parentheses",
            span=statement.words[at].span.to(statement.words[at + 1].span),
        )
    return found
