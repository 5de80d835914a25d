"""Cut the MATCH_RECOGNIZE clauses out of a SQL statement.

What is around the clauses is never parsed, only split into tokens by the tokenizer of its dialect: the engine that executes the
statement reads it as it was written, with a relation name where each clause stood.
"""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.base.errors import UnsupportedError
from ostinato.base.span import Span
from ostinato.lang.sql.input_table import KEYWORD, find_input, span_of
from ostinato.lang.sql.splice import Spliced, copy, insert
from ostinato.lang.sql.statement import Statement, Word, read_statement
from ostinato.lang.sql.with_list import find_common_tables

MOST_CLAUSES = 200
PLACEHOLDER = "__ostinato_match_"


@dataclass(frozen=True)
class Clause:
    """One `input MATCH_RECOGNIZE (...)`.

    `placeholder` names the relation that takes its place. `table` is the input's name where the input is a plain table or view, None
    where it is a subquery or a common table expression, or has its columns named anew; `input` is a query that gives the input's rows,
    in the statement's own dialect, in which earlier clauses are replaced by their placeholders. `body` is what stands between the
    parentheses, from `offset`. `qualifiers` are the names under which the clause may speak of its input."""

    placeholder: str
    table: str | None
    input: Spliced
    body: str
    offset: int
    span: Span
    input_span: Span
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True)
class SplitStatement:
    """`outer` is the statement with every clause replaced by its placeholder. `bare` says that the statement is no more than
    `SELECT * FROM table MATCH_RECOGNIZE (...)`, so that its result is the clause's."""

    text: str
    outer: Spliced
    clauses: tuple[Clause, ...]
    bare: bool


def split_statement(text: str, dialect: str = "duckdb") -> SplitStatement:
    """Find every clause of the statement `text`, at any depth."""
    statement = read_statement(text, dialect)
    splitter = _Splitter(statement)
    places = [i for i, word in enumerate(statement.words) if word.is_name(KEYWORD) and statement.is_symbol(i + 1, "(")]
    if len(places) > MOST_CLAUSES:
        span = statement.words[places[MOST_CLAUSES]].span
        raise UnsupportedError(f"The statement has {len(places):,} clauses", hint=f"At most {MOST_CLAUSES} {KEYWORD} clauses", span=span)
    for place in places:
        splitter.add(place)
    outer = splitter.splice(Span(0, len(text)))
    return SplitStatement(text, outer, tuple(splitter.clauses), _is_bare(statement, splitter))


class _Splitter:
    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.text = statement.text
        self.common_tables = find_common_tables(statement)
        self.clauses: list[Clause] = []

    def add(self, place: int) -> None:
        words = self.statement.words
        keyword = words[place].span
        if self.clauses and self.clauses[-1].span.start <= keyword.start < self.clauses[-1].span.end:
            raise UnsupportedError(
                f"{KEYWORD} inside the clause of another {KEYWORD}",
                hint="Match in a subquery or a common table expression, and use its columns here",
                span=keyword,
            )
        end = self.statement.closing(place + 1)
        read = find_input(self.statement, place)
        input_span = span_of(self.statement, read)
        body = Span(words[place + 1].span.end, words[end].span.start)
        self.clauses.append(
            Clause(
                placeholder=self._placeholder(),
                table=self._table(_joined(words[read.first : read.end]), keyword) if read.is_name else None,
                input=self._input_query(input_span, keyword),
                body=self.text[body.start : body.end],
                offset=body.start,
                span=Span(input_span.start, words[end].span.end),
                input_span=input_span,
                qualifiers=read.names,
            )
        )

    def _table(self, name: str, keyword: Span) -> str | None:
        defined = (tables.names_at(keyword.start) for tables in self.common_tables)
        return None if any(name.lower() in names for names in defined) else name

    def _placeholder(self) -> str:
        number = len(self.clauses) + 1
        while f"{PLACEHOLDER}{number}" in self.text.lower():
            number += 1000
        return f"{PLACEHOLDER}{number}"

    def _input_query(self, span: Span, keyword: Span) -> Spliced:
        query = insert("SELECT * FROM ", keyword) + self.splice(span)
        for tables in reversed(self.common_tables):
            visible = tables.visible_at(keyword.start)
            if visible is not None:
                query = self.splice(visible) + insert(" SELECT * FROM (", keyword) + query + insert(")", keyword)
        return query

    def splice(self, span: Span) -> Spliced:
        """The text of `span`, with the clauses found so far replaced."""
        result = Spliced(())
        at = span.start
        for clause in _outermost(self.clauses, span):
            result += copy(self.text, Span(at, clause.span.start)) + insert(clause.placeholder, clause.span)
            at = clause.span.end
        return result + copy(self.text, Span(at, span.end))


def _outermost(clauses: list[Clause], span: Span) -> list[Clause]:
    """The clauses in `span` that are not part of another clause's input, in the order of the text."""
    inside = [c for c in clauses if span.start <= c.span.start and c.span.end <= span.end]
    covered = [c for c in inside if not any(o is not c and o.span.start <= c.span.start and c.span.end <= o.span.end for o in inside)]
    return sorted(covered, key=lambda c: c.span.start)


def _joined(words: tuple[Word, ...]) -> str:
    return "".join(word.value for word in words)


def _is_bare(statement: Statement, splitter: _Splitter) -> bool:
    """`SELECT * FROM table MATCH_RECOGNIZE (...) [[AS] alias]`: only the three words stand before the input."""
    if len(splitter.clauses) != 1 or splitter.clauses[0].table is None:
        return False
    words, clause = statement.words, splitter.clauses[0]
    before = [word for word in words if word.span.end <= clause.span.start]
    after = [word for word in words if word.span.start >= clause.span.end]
    if [word.upper for word in before] != ["SELECT", "*", "FROM"] or any(word.kind == "quoted" for word in before):
        return False
    if after and after[0].is_name("AS"):
        return len(after) == 2 and after[1].is_identifier
    return not after or (len(after) == 1 and after[0].is_alias)
