"""The row pattern: what stands between the parentheses of PATTERN."""

from __future__ import annotations

from dataclasses import replace

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.reading.tokens import Token
from ostinato.lang.sql.syntax import Edge, Hidden, InOrder, Name, NoRows, OneOf, PatternTree, Permuted, Repeated, RowVariable

DEEPEST = 50  # levels of parentheses; later passes recurse over the tree
MOST = 1_000_000  # a bound that no pattern means seriously
QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def variable_name(token: Token) -> Name:
    """Unquoted variables fold to upper case, as SQL identifiers do; CLASSIFIER() returns the folded name."""
    quoted = token.kind == "quoted"
    return Name(token.value if quoted else token.value.upper(), quoted, token.span)


def parse_pattern(cursor: TokenCursor) -> PatternTree:
    """`( pattern )`, with the cursor before the opening parenthesis."""
    opening = cursor.expect_op("(", hint="PATTERN (A B+)")
    if cursor.at_op(")"):
        raise QuerySyntaxError("The pattern is empty", hint="Name the variables: PATTERN (A B+)", span=opening.span.to(cursor.peek().span))
    found = _PatternParser(cursor).alternation()
    cursor.expect_op(")", hint="Variables are separated by blanks, alternatives by |")
    return found


class _PatternParser:
    def __init__(self, cursor: TokenCursor) -> None:
        self.cursor = cursor
        self.depth = 0
        self.closing = ")"  # what ends the innermost brackets, beside an alternative

    def alternation(self) -> PatternTree:
        items = [self.sequence()]
        while self.cursor.accept_op("|"):
            items.append(self.sequence())
        return items[0] if len(items) == 1 else OneOf(tuple(items))

    def sequence(self) -> PatternTree:
        items = [self.factor()]
        while not (self.cursor.at_end() or self.cursor.at_op(")", "|", "||", self.closing)):
            items.append(self.factor())
        return items[0] if len(items) == 1 else InOrder(tuple(items))

    def factor(self) -> PatternTree:
        item = self.primary()
        token = self.cursor.peek()
        if token.is_op("*", "+", "?"):
            self.cursor.next()
            at_least, at_most = QUANTIFIERS[token.text]
            item = Repeated(item, at_least, at_most)
        elif token.is_op("{") and not self.cursor.peek(1).is_op("-"):
            at_least, at_most = self.bounds()
            item = Repeated(item, at_least, at_most)
        else:
            return item
        if self.cursor.accept_op("?"):
            item = replace(item, greedy=False)
        again = self.cursor.peek()
        if again.is_op("*", "+", "?") or (again.is_op("{") and not self.cursor.peek(1).is_op("-")):
            raise QuerySyntaxError("Two quantifiers in a row", hint="Put parentheses around the inner one: (A+)?", span=again.span)
        return item

    def primary(self) -> PatternTree:
        cursor = self.cursor
        token = cursor.peek()
        if token.is_op("^", "$"):
            cursor.next()
            return Edge(token.text == "^", token.span)
        if token.is_op("{") and cursor.peek(1).is_op("-"):
            return self.hidden()
        if token.is_word("PERMUTE") and cursor.peek(1).is_op("("):
            return self.permuted()
        if cursor.accept_op("("):
            if cursor.accept_op(")"):
                return NoRows()
            inside = self.within(token, ")")
            cursor.expect_op(")")
            return inside
        if token.kind in ("name", "quoted"):
            return RowVariable(variable_name(cursor.next()))
        if token.is_op("|", "||", ")"):
            cursor.fail("a pattern variable", hint="An alternative without rows is written ()")
        if token.is_op(","):
            cursor.fail("a pattern variable", hint="Variables are separated by blanks")
        if token.is_op("*", "+", "?", "{"):
            cursor.fail("a pattern variable", hint="A quantifier stands after what it repeats: A+")
        cursor.fail("a pattern variable")

    def within(self, opening: Token, closing: str) -> PatternTree:
        """What stands inside brackets of any kind, up to what closes them."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnsupportedError("The pattern is nested too deeply", hint=f"At most {DEEPEST} levels", span=opening.span)
        outer, self.closing = self.closing, closing
        inside = self.alternation()
        self.depth, self.closing = self.depth - 1, outer
        return inside

    def hidden(self) -> PatternTree:
        """`{- ... -}`"""
        opening = self.cursor.next()
        self.cursor.next()
        inside = self.within(opening, "-")
        self.cursor.expect_op("-", hint="An exclusion is closed by -}")
        self.cursor.expect_op("}", hint="An exclusion is closed by -}")
        return Hidden(inside, self.cursor.span_from(opening.span))

    def permuted(self) -> PatternTree:
        """`PERMUTE(A, B+, ...)`"""
        word = self.cursor.next()
        self.cursor.expect_op("(")
        items = [self.within(word, ",")]
        while self.cursor.accept_op(","):
            items.append(self.within(word, ","))
        self.cursor.expect_op(")", hint="The items of PERMUTE are separated by commas")
        return Permuted(tuple(items), self.cursor.span_from(word.span))

    def bounds(self) -> tuple[int, int | None]:
        """`{n}`, `{n,}`, `{,m}` or `{n,m}`."""
        cursor = self.cursor
        start = cursor.expect_op("{").span
        at_least: int | None = None if cursor.at_op(",") else self._count()
        at_most = at_least
        if cursor.accept_op(","):
            at_most = None if cursor.at_op("}") else self._count()
            if at_least is None and at_most is None:
                cursor.fail("a number", hint="Write {n}, {n,}, {,m} or {n,m}")
        cursor.expect_op("}", hint="Write {n}, {n,}, {,m} or {n,m}")
        self._check_bounds(at_least or 0, at_most, cursor.span_from(start))
        return at_least or 0, at_most

    def _check_bounds(self, at_least: int, at_most: int | None, span: Span) -> None:
        if at_most == 0:
            raise QuerySyntaxError("A quantifier must allow at least one row", hint="Leave the variable out, or write ()", span=span)
        if at_most is not None and at_most < at_least:
            raise QuerySyntaxError("The upper bound is below the lower one", hint=f"Write {{{at_most},{at_least}}}", span=span)
        if max(at_least, at_most or 0) > MOST:
            raise UnsupportedError("The bound is too large", hint=f"At most {MOST}", span=span)

    def _count(self) -> int:
        token = self.cursor.peek()
        if token.kind != "number" or not isinstance(token.value, int):
            self.cursor.fail("a whole number", hint="Write {n}, {n,}, {,m} or {n,m}")
        self.cursor.next()
        return token.value
