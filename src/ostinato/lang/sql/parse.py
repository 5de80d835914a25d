"""The text between the parentheses of MATCH_RECOGNIZE, to a tree."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn, TypeVar

from ostinato.algebra.policies import RowsPerMatch
from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import Expr
from ostinato.expr.reading.literal_syntax import temporal_literal
from ostinato.expr.reading.parse import ExpressionParser
from ostinato.expr.reading.tokens import Token, tokenize
from ostinato.expr.times.nanoseconds import Duration, nanos_of_length
from ostinato.expr.unresolved import RawCall
from ostinato.lang.sql.parse_pattern import parse_pattern, variable_name
from ostinato.lang.sql.syntax import (
    DefineItem,
    MatchRecognize,
    MeasureItem,
    Name,
    OrderItem,
    RowsTree,
    RunningOrFinal,
    SkipTree,
    SubsetItem,
    WithinTree,
)

Item = TypeVar("Item")
CLAUSES = ("PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "WITHIN", "SUBSET", "DEFINE")
CLAUSE_ORDER = "The order is PARTITION BY, ORDER BY, MEASURES, ... PER MATCH, AFTER MATCH SKIP, PATTERN, WITHIN, SUBSET, DEFINE"


def parse_clause(text: str, offset: int = 0) -> MatchRecognize:
    """`text` is what stands between the parentheses; `offset` is where it begins in the whole query."""
    return _ClauseParser(tokenize(text, offset)).clause()


class _ClauseParser(ExpressionParser):
    def clause(self) -> MatchRecognize:
        start = self.peek().span
        partition = self._partition() if self.at_words("PARTITION", "BY") else ()
        order = self._order() if self.at_words("ORDER", "BY") else ()
        measures = self._measures() if self.at_word("MEASURES") else ()
        rows = self._rows_per_match()
        skip = self._skip() if self.at_word("AFTER") else SkipTree()
        if not self.at_word("PATTERN"):
            self._wrong_clause("PATTERN")
        pattern_start = self.next().span
        pattern = parse_pattern(self)
        pattern_span = self.span_from(pattern_start)
        within = self._within() if self.at_word("WITHIN") else None
        subsets = self._subsets() if self.at_word("SUBSET") else ()
        definitions = self._define()
        self._end()
        span = self.span_from(start)
        return MatchRecognize(pattern, definitions, partition, order, measures, rows, skip, within, subsets, span, pattern_span)

    # Clauses

    def _partition(self) -> tuple[Name, ...]:
        self.position += 2
        return self._listed(self._column)

    def _order(self) -> tuple[OrderItem, ...]:
        self.position += 2
        return self._listed(self._order_item)

    def _listed(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        items = [item()]
        while self.accept_op(","):
            items.append(item())
        return tuple(items)

    def _column(self) -> Name:
        token = self.expect_name("a column", self.reserved)
        value, quoted, span = token.value, token.kind == "quoted", token.span
        while self.at_op(".") and self.peek(1).kind in ("name", "quoted"):
            self.next()
            value, quoted, span = f"{value}.{self.peek().value}", True, span.to(self.peek().span)
            self.next()
        if self.at_op(".", "(", "+", "-", "*", "/", "%", "||", "::"):
            raise UnsupportedError(
                "PARTITION BY and ORDER BY take plain columns here",
                hint="Compute the value in a subquery before MATCH_RECOGNIZE, and leave out the table's name",
                span=token.span.to(self.peek().span),
            )
        self.refuse_index(span)
        return Name(value, quoted, span)

    def _order_item(self) -> OrderItem:
        column = self._column()
        direction = self.accept_word("ASC", "DESC")
        nulls_first: bool | None = None
        if self.accept_word("NULLS"):
            nulls_first = self.expect_word("FIRST", "LAST").is_word("FIRST")
        return OrderItem(column, direction is not None and direction.is_word("DESC"), nulls_first)

    def _measures(self) -> tuple[MeasureItem, ...]:
        self.next()
        return self._listed(self._measure)

    def _measure(self) -> MeasureItem:
        expr = self.expression()
        self.expect_word("AS", hint="Every measure has a name: expression AS name")
        name = self.expect_name("the name of the measure")
        return MeasureItem(expr, Name(name.value, name.kind == "quoted", name.span))

    def _rows_per_match(self) -> RowsTree:
        start = self.peek().span
        if self.at_word("ALL"):
            self._words("ALL", "ROWS", "PER", "MATCH")
            return RowsTree(self._shown_rows(), span=self.span_from(start))
        if not self.at_word("ONE"):
            return RowsTree()
        self._words("ONE", "ROW", "PER", "MATCH")
        omitted = self.peek().span
        if self.accept_words("OMIT", "EMPTY", "MATCHES"):
            hint = "Filter them outside, for example by a measure COUNT(*) AS length and WHERE length > 0"
            raise UnsupportedError("ONE ROW PER MATCH shows empty matches", hint=hint, span=self.span_from(omitted))
        timeouts = self.accept_words("SHOW", "TIMEOUT", "MATCHES")
        if not timeouts and self.at_word("SHOW"):
            self._words("SHOW", "EMPTY", "MATCHES")
        return RowsTree(RowsPerMatch.ONE, bool(timeouts), self.span_from(start))

    def _shown_rows(self) -> RowsPerMatch:
        """What may follow ALL ROWS PER MATCH."""
        if self.at_word("SHOW"):
            self._words("SHOW", "EMPTY", "MATCHES")
        elif self.at_word("OMIT"):
            self._words("OMIT", "EMPTY", "MATCHES")
            return RowsPerMatch.ALL_BUT_EMPTY
        elif self.at_word("WITH"):
            self._words("WITH", "UNMATCHED", "ROWS")
            return RowsPerMatch.ALL_AND_UNMATCHED
        return RowsPerMatch.ALL

    def _words(self, *words: str) -> None:
        for word in words:
            self.expect_word(word, hint=" ".join(words))

    def _skip(self) -> SkipTree:
        start = self.next().span
        hint = "AFTER MATCH SKIP PAST LAST ROW, TO NEXT ROW, TO FIRST A, or TO LAST A"
        self.expect_word("MATCH", hint=hint)
        self.expect_word("SKIP", hint=hint)
        if self.accept_word("PAST"):
            self.expect_word("LAST", hint=hint)
            self.expect_word("ROW", hint=hint)
            return SkipTree(span=self.span_from(start))
        self.expect_word("TO", "PAST", hint=hint)
        if self.accept_words("NEXT", "ROW"):
            return SkipTree(to_next_row=True, span=self.span_from(start))
        which = None
        if self.at_word("FIRST", "LAST") and self.peek(1).kind in ("name", "quoted") and not self.peek(1).is_word("PATTERN"):
            which = self.next()
        variable = variable_name(self.expect_name("NEXT ROW, or a pattern variable"))
        return SkipTree(to=variable, to_first=which is not None and which.is_word("FIRST"), span=self.span_from(start))

    def _subsets(self) -> tuple[SubsetItem, ...]:
        self.next()
        return self._listed(self._subset)

    def _subset(self) -> SubsetItem:
        token = self.expect_name("the name of a union", self.reserved)
        self.expect_op("=", hint="SUBSET U = (A, B)")
        self.expect_op("(", hint="SUBSET U = (A, B)")
        members = self._listed(lambda: variable_name(self.expect_name("a pattern variable", self.reserved)))
        self.expect_op(")", hint="SUBSET U = (A, B)")
        return SubsetItem(variable_name(token), members, self.span_from(token.span))

    def _within(self) -> WithinTree:
        start = self.next().span
        token = self.peek()
        if token.kind == "number":
            if not isinstance(token.value, int):
                self.fail("a whole number or an interval", hint="WITHIN INTERVAL '5' MINUTE")
            self.next()
            return WithinTree(token.value, self.span_from(start))
        literal = temporal_literal(self)
        if literal is None or not isinstance(literal.value, timedelta | Duration):
            self.fail("an interval", hint="WITHIN INTERVAL '5' MINUTE, or WITHIN 300 for an integer time column")
        if nanos_of_length(literal.value) < 0:
            raise QuerySyntaxError("The interval is negative", hint="WITHIN takes a length of time", span=self.span_from(start))
        return WithinTree(literal.value, self.span_from(start))

    def _define(self) -> tuple[DefineItem, ...]:
        if not self.at_word("DEFINE"):
            self._wrong_clause("DEFINE")
        self.next()
        return self._listed(self._definition)

    def _definition(self) -> DefineItem:
        token = self.expect_name("a pattern variable", self.reserved)
        self.expect_word("AS", hint="DEFINE A AS condition")
        condition = self.expression()
        return DefineItem(variable_name(token), condition, self.span_from(token.span))

    # What went wrong

    def _end(self) -> None:
        if not self.at_end():
            self._wrong_clause("the end of the clause", hint="Definitions are separated by commas")

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        token = self.peek()
        found = "the end of the clause" if token.kind == "end" else token.describe()
        raise QuerySyntaxError(f"Expected {expected}, found {found}", hint=hint, span=token.span)

    def _wrong_clause(self, expected: str, hint: str | None = None) -> NoReturn:
        token = self.peek()
        if self.at_word(*CLAUSES):
            word = token.text.upper()
            raise QuerySyntaxError(f"{word} stands in the wrong place, or twice", hint=CLAUSE_ORDER, span=token.span)
        missing = {"DEFINE": "Every query has a DEFINE; a variable that any row may take is DEFINE A AS TRUE"}
        self.fail(expected, hint=hint or missing.get(expected, CLAUSE_ORDER))

    # Expressions

    def special(self) -> Expr | None:
        """RUNNING or FINAL before a call."""
        token = self.peek()
        if not (self.at_word("RUNNING", "FINAL") and self.peek(1).kind == "name" and self.peek(2).is_op("(")):
            return None
        self.next()
        call = self.call(self.next())
        return RunningOrFinal(token.is_word("FINAL"), call, span=_span(token, call))

    def call(self, name: Token) -> Expr:
        """As in every language; the variable of `COUNT(A.*)` is folded here, where its quotes can still be seen."""
        first = self.peek(1)
        found = super().call(name)
        if isinstance(found, RawCall) and found.star_of is not None:
            return RawCall(found.name, found.args, found.star, variable_name(first).value, span=found.span)
        return found


def _span(token: Token, expr: Expr) -> Span:
    return token.span if expr.span is None else token.span.to(expr.span)
