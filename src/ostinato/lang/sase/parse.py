"""SASE+ text to its tree: PATTERN, WHERE, WITHIN, RETURN, OUTPUT; several queries in one text to a tree each."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.base.query_text import check_text
from ostinato.base.span import NOWHERE, Span
from ostinato.expr.nodes import AGGREGATES, Call, Expr
from ostinato.expr.reading.tokens import tokenize
from ostinato.expr.times.temporal_text import is_calendar_unit
from ostinato.expr.typing.functions import AMBIGUOUS, CONDITIONALS, SPELLINGS
from ostinato.lang.parsed_query import Composite
from ostinato.lang.sase.parse_expression import SaseExpressionParser
from ostinato.lang.sase.parse_pattern import parse_pattern
from ostinato.lang.sase.syntax import Component, Item, OutputClause, Return, SaseQuery, Strategy, all_components
from ostinato.lang.streams.window import Window, window_unit

STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
CLAUSES = ("PATTERN", "WHERE", "WITHIN", "RETURN", "OUTPUT")
ELSEWHERE = {
    "FROM": "The streams are named in the pattern, by the types of its events",
    "INTO": "Name the events that a query returns: RETURN Name(...); later queries of the text use that name as an event type",
    "HAVING": "Conditions on a finished match stand in WHERE, e.g. a.LEN > 3",
}
KEYWORD_FORMS = ("cast", "extract", "exists", "date", "timestamp", "timestamptz", "interval")
# A name and parentheses are a call, not an event, where the name is one of these.
CALLED = frozenset((*SPELLINGS, *CONDITIONALS, *AMBIGUOUS, *AGGREGATES, *KEYWORD_FORMS))


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
        window = self._within() if cursor.accept_word("WITHIN") else None
        composite, returns = self._returned() if cursor.accept_word("RETURN") else (None, ())
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
            if self.cursor.peek(self._closing_parenthesis()).is_op("{"):
                raise QuerySyntaxError(
                    f"There is no selection strategy `{name.text}`", hint=f"One of {', '.join(STRATEGIES)}", span=name.span
                )
            return None
        self.cursor.next()
        self.cursor.expect_op("(")
        self._strategy_arguments(items, name.span)
        return Strategy(name.text.lower(), self.cursor.span_from(name.span))

    def _closing_parenthesis(self) -> int:
        """How far ahead the token is that follows the call which begins here."""
        depth, ahead = 0, 1
        while (token := self.cursor.peek(ahead)).kind != "end":
            depth += token.is_op("(") - token.is_op(")")
            ahead += 1
            if depth == 0:
                break
        return ahead

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
        found = list(_split(self.cursor.expression()))
        while self.cursor.accept_op(","):
            found.extend(_split(self.cursor.expression()))
        return tuple(found)

    def _within(self) -> Window:
        number = self.cursor.peek()
        if number.kind != "number" or isinstance(number.value, float):
            self.cursor.fail("the length of the window", hint="WITHIN 3 hours, WITHIN 500 events, or WITHIN 10 for an integer time")
        self.cursor.next()
        word, unit = self.cursor.peek(), None
        if word.kind == "name" and word.text.upper() not in CLAUSES:
            unit = window_unit(word.text)
            if unit is None:
                raise _no_unit(word.text, word.span)
            self.cursor.next()
        return Window(number.text, unit, self.cursor.span_from(number.span))

    def _returned(self) -> tuple[Composite | None, tuple[Return, ...]]:
        if not self._at_composite():
            return None, self._returns()
        name = self.cursor.next()
        self.cursor.expect_op("(")
        items = self._returns()
        self.cursor.expect_op(")", hint="The attributes of an event stand between commas: RETURN Name(a.x, b.y AS z)")
        return Composite(name.value, name.span), items

    def _at_composite(self) -> bool:
        """`Name(...)` as all that is returned, and no function: a value of a function would need a name of its own."""
        name = self.cursor.peek()
        if name.kind not in ("name", "quoted") or not self.cursor.peek(1).is_op("("):
            return False
        if name.kind == "name" and (name.text.lower() in CALLED or name.text.upper() in self.cursor.reserved):
            return False
        after = self.cursor.peek(self._closing_parenthesis())
        return after.kind == "end" or after.is_op(";") or after.is_word("OUTPUT", *ELSEWHERE)

    def _returns(self) -> tuple[Return, ...]:
        items = [self._return()]
        while self.cursor.accept_op(","):
            items.append(self._return())
        return tuple(items)

    def _return(self) -> Return:
        expr = self.cursor.expression()
        name = self.cursor.expect_name("a name for the attribute", self.cursor.reserved).value if self.cursor.accept_word("AS") else None
        return Return(expr, name, expr.span or NOWHERE)

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


def _no_unit(word: str, span: Span) -> OstinatoError:
    if is_calendar_unit(word):
        return UnsupportedError(f"A window in {word.lower()} has no fixed length", hint="Write days or weeks", span=span)
    hint = "nanoseconds, microseconds, milliseconds, seconds, minutes, hours, days, weeks or events"
    return QuerySyntaxError(f"`{word}` is not a unit of time", hint=f"Units are {hint}", span=span)


def _split(expr: Expr) -> tuple[Expr, ...]:
    """The conjuncts of a condition; BETWEEN is two of them."""
    if isinstance(expr, Call) and expr.name == "and":
        return tuple(part for arg in expr.args for part in _split(arg))
    return (expr,)


def _variables_hint(declared: dict[str, Component]) -> str:
    shown = ", ".join(c.variable + ("[ ]" if c.quantifier.is_kleene else "") for c in declared.values())
    return f"Name the variables of the pattern: ({shown})"
