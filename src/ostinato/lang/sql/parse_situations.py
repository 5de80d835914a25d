"""The text between the parentheses of SITUATIONS OF, to a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.expr.reading.tokens import tokenize
from ostinato.lang.situations.parse_definition import definition
from ostinato.lang.situations.parse_expression import SituationParser
from ostinato.lang.situations.syntax import Definition, Name, Returned
from ostinato.lang.situations.words import RESERVED
from ostinato.lang.sql.situations_syntax import SituationsOf

ORDER = "The order is PARTITION BY, ORDER BY, DEFINE, MEASURES; PARTITION BY and MEASURES may be left out"
Item = TypeVar("Item")


def parse_situations(text: str, offset: int = 0) -> SituationsOf:
    """`text` is what stands between the parentheses; `offset` is where it begins in the whole query."""
    return _ClauseParser(tokenize(text, offset)).clause()


class _ClauseParser(SituationParser):
    def clause(self) -> SituationsOf:
        start = self.peek().span
        partition = self._listed(self._column) if self.accept_words("PARTITION", "BY") else ()
        if not self.accept_words("ORDER", "BY"):
            self.fail("ORDER BY", hint="ORDER BY names the time of the events")
        order = self._listed(self._ordered)
        self.expect_word("DEFINE", hint=ORDER)
        definitions = self._listed(self._definition)
        measures = self._listed(self._measure) if self.accept_word("MEASURES") else ()
        self.expect_end(hint="Definitions have commas between them. " + ORDER)
        return SituationsOf(definitions, order, partition, measures, self.span_from(start))

    def _listed(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        items = [item()]
        while self.accept_op(","):
            items.append(item())
        return tuple(items)

    def _column(self) -> Name:
        """A column, or a field of one that is a struct, with or without the name of the table."""
        token = self.expect_name("a column", RESERVED)
        name = token.value
        while self.accept_op("."):
            name = f"{name}.{self.expect_name('a field').value}"
        return Name(name, self.span_from(token.span))

    def _ordered(self) -> Name:
        found = self._column()
        self.accept_word("ASC")
        if word := self.accept_word("DESC", "NULLS"):
            raise UnsupportedError("Situations are derived in the order of time", hint="ORDER BY time, ascending", span=word.span)
        return found

    def _definition(self) -> Definition:
        found = definition(self)
        if found.stream is not None:
            hint = "SITUATIONS OF reads one table; merge several before, or write TPStream"
            raise UnsupportedError("FROM cannot stand in DEFINE here", hint=hint, span=found.stream.span)
        return found

    def _measure(self) -> Returned:
        start = self.peek().span
        expr = self.expression()
        self.expect_word("AS", hint="Every measure has a name: max(speed) AS top")
        return Returned(expr, self.expect_name("the name of the measure", RESERVED).value, self.span_from(start))

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        token = self.peek()
        found = "the end of the clause" if token.kind == "end" else token.describe()
        raise QuerySyntaxError(f"Expected {expected}, found {found}", hint=hint, span=token.span)
