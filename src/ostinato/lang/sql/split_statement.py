"""Cut the clauses MATCH_RECOGNIZE and SITUATIONS OF out of a SQL statement, and write out ALLEN.

What is around the clauses is never parsed, only split into tokens by the tokenizer of its dialect: the engine that executes the
statement reads it as it was written, with a relation name where each clause stood.
"""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.base.errors import UnsupportedError
from ostinato.base.span import Span
from ostinato.lang.sql.allen_predicate import Predicate, allen_predicates
from ostinato.lang.sql.input_table import KEYWORD, begins_situations, find_input, find_source, situations_body, span_of
from ostinato.lang.sql.splice import Spliced, copy, insert
from ostinato.lang.sql.statement import Statement, Word, read_statement
from ostinato.lang.sql.with_list import find_common_tables

MOST_CLAUSES = 200
PLACEHOLDER = "__ostinato_match_"


@dataclass(frozen=True)
class Clause:
    """One `input MATCH_RECOGNIZE (...)`, or, where it is `derived`, `SITUATIONS OF input (...)`.

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
    derived: bool = False


@dataclass(frozen=True)
class SplitStatement:
    """`outer` is the statement with every clause replaced by its placeholder. `bare` says that the statement is no more than
    `SELECT * FROM` and one clause over a table, so that its result is the clause's."""

    text: str
    outer: Spliced
    clauses: tuple[Clause, ...]
    bare: bool


def split_statement(text: str, dialect: str = "duckdb") -> SplitStatement:
    """Find every clause of the statement `text`, at any depth."""
    statement = read_statement(text, dialect)
    splitter = _Splitter(statement)
    places = [place for i in range(len(statement.words)) if (place := _place(statement, i)) is not None]
    if len(places) > MOST_CLAUSES:
        span = statement.words[places[MOST_CLAUSES].keyword].span
        raise UnsupportedError(f"The statement has {len(places):,} clauses", hint=f"At most {MOST_CLAUSES} clauses", span=span)
    for place in sorted(places, key=lambda place: place.body):
        splitter.add(place)
    outer = splitter.splice(Span(0, len(text)))
    return SplitStatement(text, outer, tuple(splitter.clauses), _is_bare(statement, splitter))


@dataclass(frozen=True)
class _Place:
    """The words at which a clause has its keyword, and at which its parenthesis opens."""

    keyword: int
    body: int
    derived: bool = False


def _place(statement: Statement, at: int) -> _Place | None:
    if statement.words[at].is_name(KEYWORD) and statement.is_symbol(at + 1, "("):
        return _Place(at, at + 1)
    if not begins_situations(statement, at):
        return None
    body = situations_body(statement, at)
    return _Place(at, len(statement.words) if body is None else body, derived=True)


class _Splitter:
    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.text = statement.text
        self.common_tables = find_common_tables(statement)
        self.clauses: list[Clause] = []
        self.predicates = allen_predicates(statement)

    def add(self, place: _Place) -> None:
        """Clauses come in the order in which their parentheses open, so that one that is part of another's input is there before."""
        words = self.statement.words
        keyword = words[place.keyword].span
        read = find_source(self.statement, place.keyword) if place.derived else find_input(self.statement, place.keyword)
        if self.clauses and self.clauses[-1].offset <= keyword.start < self.clauses[-1].offset + len(self.clauses[-1].body):
            raise UnsupportedError(
                f"{words[place.keyword].upper} inside of another clause",
                hint="Match in a subquery or a common table expression, and use its columns here",
                span=keyword,
            )
        end = self.statement.closing(place.body)
        input_span = span_of(self.statement, read)
        body = Span(words[place.body].span.end, words[end].span.start)
        self.clauses.append(
            Clause(
                placeholder=self._placeholder(),
                table=self._table(_joined(words[read.first : read.end]), keyword) if read.is_name else None,
                input=self._input_query(input_span, keyword),
                body=self.text[body.start : body.end],
                offset=body.start,
                span=Span(min(keyword.start, input_span.start), words[end].span.end),
                input_span=input_span,
                qualifiers=read.names,
                derived=place.derived,
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
        """The text of `span`, with the clauses found so far and the predicates between them replaced."""
        result = Spliced(())
        at = span.start
        for part in _outermost([*self.clauses, *self.predicates], span):
            result += copy(self.text, Span(at, part.span.start)) + insert(_replacement(part), part.span)
            at = part.span.end
        return result + copy(self.text, Span(at, span.end))


def _replacement(part: Clause | Predicate) -> str:
    return part.placeholder if isinstance(part, Clause) else part.text


def _outermost(parts: list[Clause | Predicate], span: Span) -> list[Clause | Predicate]:
    """Those in `span` that are not part of another one, in the order of the text."""
    inside = [c for c in parts if span.start <= c.span.start and c.span.end <= span.end]
    covered = [c for c in inside if not any(o is not c and o.span.start <= c.span.start and c.span.end <= o.span.end for o in inside)]
    return sorted(covered, key=lambda c: c.span.start)


def _joined(words: tuple[Word, ...]) -> str:
    return "".join(word.value for word in words)


def _is_bare(statement: Statement, splitter: _Splitter) -> bool:
    """`SELECT * FROM table MATCH_RECOGNIZE (...) [[AS] alias]`, `SELECT * FROM SITUATIONS OF table (...)`: three
    words stand before the clause."""
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
