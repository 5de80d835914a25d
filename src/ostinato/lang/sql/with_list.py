"""The common table expressions (WITH lists) of a statement, and which of them can be seen from where."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.base.span import Span
from ostinato.lang.sql.statement import Statement


@dataclass(frozen=True)
class CommonTable:
    """`name AS (query)`, from the name to the closing parenthesis."""

    name: str
    span: Span


@dataclass(frozen=True)
class CommonTables:
    """One WITH list: where it begins, its definitions, and where the query that it belongs to ends."""

    start: int
    definitions: tuple[CommonTable, ...]
    scope_end: int

    def visible_at(self, place: int) -> Span | None:
        """The text of the definitions that can be used at `place`, from WITH on; None if there are none."""
        before = self._before(place)
        return Span(self.start, before[-1].span.end) if before else None

    def names_at(self, place: int) -> tuple[str, ...]:
        return tuple(definition.name.lower() for definition in self._before(place))

    def _before(self, place: int) -> list[CommonTable]:
        if not self.start < place < self.scope_end:
            return []
        return [definition for definition in self.definitions if definition.span.end <= place]


def find_common_tables(statement: Statement) -> tuple[CommonTables, ...]:
    """All WITH lists in the order of the text, so that outer ones come before inner ones."""
    found = []
    enclosing = [len(statement.text)]  # where each open parenthesis closes
    for at, word in enumerate(statement.words):
        if statement.is_symbol(at, "("):
            enclosing.append(statement.words[statement.closing(at)].span.start)
        elif statement.is_symbol(at, ")"):
            enclosing.pop()
        elif word.is_name("WITH"):
            definitions = _definitions(statement, at + 1)
            if definitions:
                found.append(CommonTables(word.span.start, definitions, enclosing[-1]))
    return tuple(found)


def _definitions(statement: Statement, at: int) -> tuple[CommonTable, ...]:
    """`[RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), ...`; nothing if it is another use of the word WITH."""
    words = statement.words
    if at < len(words) and words[at].is_name("RECURSIVE"):
        at += 1
    found: list[CommonTable] = []
    while at < len(words) and words[at].is_identifier:
        name = words[at]
        at += 1
        if statement.is_symbol(at, "("):
            at = statement.closing(at) + 1
        if at >= len(words) or not words[at].is_name("AS"):
            break
        at += 1
        while at < len(words) and (words[at].is_name("NOT") or words[at].is_name("MATERIALIZED")):
            at += 1
        if not statement.is_symbol(at, "("):
            break
        at = statement.closing(at)
        found.append(CommonTable(name.value, Span(name.span.start, words[at].span.end)))
        at += 1
        if not statement.is_symbol(at, ","):
            break
        at += 1
    return tuple(found)
