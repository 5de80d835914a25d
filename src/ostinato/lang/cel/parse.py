"""CEL text to its trees: a query each between semicolons."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.query_text import check_text
from ostinato.base.span import Span
from ostinato.expr.nodes import Expr
from ostinato.expr.reading.tokens import Token, tokenize
from ostinato.lang.cel.parse_expression import CelExpressionParser
from ostinato.lang.cel.syntax import CelQuery, Filter, Fold, Item, Next, Node, Select, StreamName
from ostinato.lang.cel.words import RESERVED
from ostinato.lang.parsed_query import Composite

DEEPEST = 100  # operators inside of each other; `a NEXT b NEXT c` is two
QUERY = "A query is SELECT ... FROM ... PUBLISH name; a semicolon ends it"
CONDITIONS = "FOLD {relevant, step, aggregates}: which events are relevant, and whether the step succeeds; write TRUE for any"

ELSEWHERE = {
    "WHERE": "Conditions stand before the stream: FILTER {price > 10} (stock)",
    "HAVING": "Put FILTER {...} (...) around the expression",
    "GROUP": "Aggregates grow in FOLD, one event after the other",
    "ORDER": "Events are in the order of their times",
    "JOIN": "NEXT and FOLD combine events one after the other",
    "WITHIN": "FILTER {DUR <= 10 MINUTES} (...) asks how long an event lasts",
}


def parse_queries(text: str) -> tuple[CelQuery, ...]:
    """The trees of the queries in a text, in its order. Errors point into it."""
    try:
        parser = _Parser(tokenize(check_text(text)))
        if parser.at_end():
            raise QuerySyntaxError("The text has no query", hint=QUERY, span=parser.peek().span)
        found = [parser.query(text)]
        while parser.accept_op(";") and not parser.at_end():
            found.append(parser.query(text))
        parser.ends()
        return tuple(found)
    except OstinatoError as error:
        error.within(text)
        raise


class _Parser(CelExpressionParser):
    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self.depth = 0

    def ends(self) -> None:
        """Where the text has to end."""
        self._refuse_clauses()
        self.expect_end(hint=QUERY)

    def _refuse_clauses(self) -> None:
        token = self.peek()
        if token.is_word(*ELSEWHERE):
            word = token.text.upper()
            raise UnsupportedError(f"{word} is no clause of CEL", hint=ELSEWHERE[word], span=token.span)

    def query(self, text: str) -> CelQuery:
        start = self.peek().span
        node = self._select()
        span = self.span_from(start)
        if isinstance(node, Select) and node.published is not None:
            body = node.item if node.items is None else Select(node.items, node.item, span=node.span)
            return CelQuery(body, node.published, span=span, text=text)
        return CelQuery(node, span=span, text=text)

    def _select(self) -> Node:
        """A query: the whole of it, or what stands in parentheses."""
        start, items = self.peek().span, None
        if self.accept_word("SELECT"):
            items = self._items()
            self.expect_word("FROM", hint="SELECT attributes FROM streams")
        else:
            self.accept_word("FROM")
        item = self._combined()
        published = self._published() if self.accept_word("PUBLISH") else None
        if items == (Item(None, None),):
            items = None
        if items is None and published is None:
            return item
        return Select(items, item, published, self.span_from(start))

    def _published(self) -> Composite:
        name = self.expect_name("a name for the stream", RESERVED)
        return Composite(name.value, name.span)

    def _items(self) -> tuple[Item, ...]:
        found = [self._item()]
        while self.accept_op(","):
            found.append(self._item())
        return tuple(found)

    def _item(self) -> Item:
        if star := self.accept_op("*"):
            return Item(None, None, star.span)
        start = self.peek().span
        expr = self.expression()
        name = self.expect_name("a name for the attribute", RESERVED).value if self.accept_word("AS") else None
        return Item(expr, name, self.span_from(start))

    def _combined(self) -> Node:
        """Operands with NEXT and FOLD between them, from the left."""
        left, before = self._operand(), self.depth
        while self.at_word("NEXT", "FOLD"):
            self._deeper()
            left = self._next(left) if self.at_word("NEXT") else self._fold(left)
        self.depth = before
        return left

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnsupportedError(f"More than {DEEPEST} operators stand inside of each other", span=self.peek().span)

    def _operand(self) -> Node:
        start, before = self.peek().span, self.depth
        self._deeper()
        if self.accept_word("FILTER"):
            condition = self._braced("FILTER", "FILTER {price > 10} (stream)")
            found: Node = Filter(condition, self._operand(), self.span_from(start))
        elif self.accept_op("("):
            found = self._select()
            self._refuse_clauses()
            self.expect_op(")", hint="A query inside of another one stands in parentheses")
        else:
            found = self._stream()
        self.depth = before
        return found

    def _stream(self) -> StreamName:
        token = self.peek()
        if token.is_word("SELECT"):
            hint = "A query inside of another one stands in parentheses: (SELECT ... FROM ...)"
            raise QuerySyntaxError("SELECT stands inside of a query", hint=hint, span=token.span)
        name = self.expect_name("a stream, FILTER {...} (...) or a query in parentheses", RESERVED)
        if self.at_op("."):
            hint = 'Streams have plain names; quote one that has a dot in it: "a.b"'
            raise QuerySyntaxError(f"`{name.text}.` begins no name of a stream", hint=hint, span=self.span_from(name.span))
        return StreamName(name.value, name.span)

    def _next(self, first: Node) -> Next:
        start = self.next().span
        condition = self._braced("NEXT", "NEXT {$2.name = $1.name} stream") if self.at_op("{") else None
        span = self.span_from(start)
        return Next(first, self._operand(), condition, span)

    def _fold(self, first: Node) -> Fold:
        start = self.next().span
        self.expect_op("{", hint=CONDITIONS)
        items = () if self.at_op("}") else self._items()
        self.expect_op("}", hint="Commas separate the conditions and the aggregates")
        span = self.span_from(start)
        relevant, step = self._condition(items, 0, span), self._condition(items, 1, span)
        for item in items[2:]:
            if item.expr is None or item.name is None:
                hint = "Behind the two conditions stand aggregates: $.cnt + 1 AS cnt"
                raise QuerySyntaxError("An aggregate has no name", hint=hint, span=item.span)
        return Fold(first, self._operand(), relevant, step, items[2:], span)

    def _condition(self, items: tuple[Item, ...], place: int, span: Span) -> Expr:
        if place >= len(items):
            raise QuerySyntaxError("FOLD takes two conditions", hint=CONDITIONS, span=span)
        item = items[place]
        if item.expr is None or item.name is not None:
            raise QuerySyntaxError("A condition is expected here", hint=CONDITIONS, span=item.span)
        return item.expr

    def _braced(self, word: str, example: str) -> Expr:
        self.expect_op("{", hint=f"Conditions stand in braces: {example}")
        if self.at_op("}"):
            self.fail("a condition", hint=f"{word} without one needs no braces" if word == "NEXT" else example)
        condition = self.expression()
        self.expect_op("}", hint=f"One condition stands in the braces of {word}; join several with AND")
        return condition
