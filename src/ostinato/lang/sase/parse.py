"""SASE+ text to its tree: PATTERN, WHERE, WITHIN, RETURN, OUTPUT; several queries in one text to a tree each."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.query_text import check_text
from ostinato.base.span import Span
from ostinato.expr.nodes import Expr
from ostinato.expr.reading.tokens import tokenize
from ostinato.lang.events.parse_clauses import behind_call, conjuncts_of, return_clause, window_clause
from ostinato.lang.events.syntax import Component
from ostinato.lang.events.words import CLAUSES
from ostinato.lang.sase.parse_expression import SaseExpressionParser
from ostinato.lang.sase.parse_pattern import parse_pattern
from ostinato.lang.sase.syntax import Item, OutputClause, SaseQuery, Strategy, all_components

STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
ELSEWHERE = {
    "FROM": "The streams are named in the pattern, by the types of its events",
    "INTO": "Name the events that a query returns: RETURN Name(...); later queries of the text use that name as an event type",
    "HAVING": "Conditions on a finished match stand in WHERE, e.g. a.LEN > 3",
}


def parse(text: str) -> SaseQuery:
    """The tree of a text that is one query. Errors point into `text`."""
    first, *more = parse_queries(text)
    if more:
        raise UnsupportedError("One query is expected here, and the text has several", hint="Run the text as a whole").within(text)
    return first


def parse_queries(text: str) -> tuple[SaseQuery, ...]:
    """The trees of the queries in a text, which semicolons separate."""
    try:
        parser = _QueryParser(SaseExpressionParser(tokenize(check_text(text))), text)
        found = [parser.query()]
        while not parser.cursor.at_end():
            found.append(parser.query())
        return tuple(found)
    except OstinatoError as error:
        error.within(text)
        raise


class _QueryParser:
    def __init__(self, cursor: SaseExpressionParser, text: str) -> None:
        self.cursor = cursor
        self.text = text

    def query(self) -> SaseQuery:
        cursor = self.cursor
        cursor.expect_word("PATTERN", hint="A SASE+ query begins with PATTERN SEQ(...)")
        items = parse_pattern(cursor)
        strategy, conjuncts = self._where(items) if cursor.accept_word("WHERE") else (None, ())
        window = window_clause(cursor) if cursor.accept_word("WITHIN") else None
        composite, returns = return_clause(cursor, ELSEWHERE) if cursor.accept_word("RETURN") else (None, ())
        output = self._output() if cursor.accept_word("OUTPUT") else None
        if not cursor.accept_op(";"):
            self._expect_end()
        return SaseQuery(items, strategy, conjuncts, window, returns, composite, output, self.text)

    def _where(self, items: tuple[Item, ...]) -> tuple[Strategy | None, tuple[Expr, ...]]:
        strategy = self._strategy(items)
        if self.cursor.accept_op("{"):
            conjuncts = () if self.cursor.at_op("}") else self._conjuncts()
            self.cursor.expect_op("}", hint="Join conditions with `and` or commas")
            return strategy, conjuncts
        if strategy is not None and (self.cursor.at_end() or self.cursor.at_word(*CLAUSES) or self.cursor.at_op(";")):
            return strategy, ()
        if strategy is not None:
            self.cursor.fail("`{`", hint="The conditions stand in braces after the strategy")
        return None, self._conjuncts()

    def _strategy(self, items: tuple[Item, ...]) -> Strategy | None:
        name = self.cursor.peek()
        if name.kind != "name" or not self.cursor.peek(1).is_op("("):
            return None
        if name.text.lower() not in STRATEGIES:
            if self.cursor.peek(behind_call(self.cursor)).is_op("{"):
                raise QuerySyntaxError(
                    f"There is no selection strategy `{name.text}`", hint=f"One of {', '.join(STRATEGIES)}", span=name.span
                )
            return None
        self.cursor.next()
        self.cursor.expect_op("(")
        self._strategy_arguments(items, name.span)
        return Strategy(name.text.lower(), self.cursor.span_from(name.span))

    def _strategy_arguments(self, items: tuple[Item, ...], start: Span) -> None:
        """Every variable of the pattern, each once, lists with `[ ]`: it tells nothing new, so it may not disagree either."""
        declared = {component.variable.lower(): component for component in all_components(items)}
        named: set[str] = set()
        while True:
            name = self.cursor.expect_name("a variable of the pattern")
            component = declared.get(name.value.lower())
            if component is None or name.value.lower() in named:
                problem = "is not a variable of the pattern" if component is None else "is named twice"
                raise QuerySyntaxError(f"`{name.value}` {problem}", hint=_variables_hint(declared), span=name.span)
            named.add(name.value.lower())
            if self.cursor.at_op("["):
                self._list_brackets(component)
            if not self.cursor.accept_op(","):
                break
        self.cursor.expect_op(")")
        missing = [component.variable for key, component in declared.items() if key not in named]
        if missing:
            raise QuerySyntaxError(
                f"The strategy does not name `{missing[0]}`", hint=_variables_hint(declared), span=self.cursor.span_from(start)
            )

    def _list_brackets(self, component: Component) -> None:
        bracket = self.cursor.next()
        self.cursor.expect_op("]")
        if not component.quantifier.is_kleene:
            span = self.cursor.span_from(bracket.span)
            raise QuerySyntaxError(f"`{component.variable}` is a single event, not a list", hint="Leave the brackets out", span=span)

    def _conjuncts(self) -> tuple[Expr, ...]:
        found = list(conjuncts_of(self.cursor.expression()))
        while self.cursor.accept_op(","):
            found.extend(conjuncts_of(self.cursor.expression()))
        return tuple(found)

    def _output(self) -> OutputClause:
        name = self.cursor.expect_name("an output format", self.cursor.reserved)
        return OutputClause(name.value.lower(), name.span)

    def _expect_end(self) -> None:
        token = self.cursor.peek()
        if token.is_word(*ELSEWHERE):
            word = token.text.upper()
            raise UnsupportedError(f"{word} is no clause of a query here", hint=ELSEWHERE[word], span=token.span)
        if token.is_word(*CLAUSES):
            raise QuerySyntaxError(
                f"{token.text.upper()} is out of place or repeated", hint=f"The order is {', '.join(CLAUSES)}, each once", span=token.span
            )
        self.cursor.expect_end(hint=f"The clauses are {', '.join(CLAUSES)}")


def _variables_hint(declared: dict[str, Component]) -> str:
    shown = ", ".join(c.variable + ("[ ]" if c.quantifier.is_kleene else "") for c in declared.values())
    return f"Name the variables of the pattern: ({shown})"
