"""Operator-precedence parsing of expressions, shared by all languages. A language overrides `special`, `reference` and `call`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import Call, Cast, Expr, Literal
from ostinato.expr.reading.cursor import TokenCursor
from ostinato.expr.reading.keyword_forms import EXTRACTED as EXTRACTED  # part of the syntax that renderers write
from ostinato.expr.reading.keyword_forms import case_form, cast_form, extract_form, worded_call
from ostinato.expr.reading.literal_syntax import temporal_literal, type_name
from ostinato.expr.reading.tokens import Token, tokenize
from ostinato.expr.shape import DEEPEST, balanced, check_depth, span_of, too_deep
from ostinato.expr.unresolved import RawCall, RawColumn

OR, AND, NOT, COMPARISON, CONCAT, SUM, PRODUCT, SIGN, CONVERSION = range(10, 100, 10)

COMPARISONS = {"=": "eq", "==": "eq", "<>": "ne", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
ARITHMETIC = {
    "||": ("concat", CONCAT), "+": ("add", SUM), "-": ("sub", SUM), "*": ("mul", PRODUCT), "/": ("div", PRODUCT), "%": ("mod", PRODUCT),
}  # fmt: skip
PREDICATES = ("IS", "IN", "LIKE", "BETWEEN", "NOT", "ISNULL", "NOTNULL", "ILIKE", "SIMILAR")
RESERVED = frozenset(
    ("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "ESCAPE", "CASE", "WHEN", "THEN", "ELSE", "END", "FROM", "AS", "NULL", "TRUE")
    + ("FALSE", "DISTINCT", "SELECT", "WHERE")
)


class ExpressionParser(TokenCursor):
    """`percent`: whether `80%` directly after a number means 0.80 (SASE+). `%` before an operand is always the remainder."""

    percent = False
    reserved: frozenset[str] = RESERVED

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self._nesting = 0

    # What a language may override

    def special(self) -> Expr | None:
        """A primary of the language's own; None (and nothing taken) to go on with the shared ones."""
        return None

    def reference(self) -> Expr:
        """A name, possibly qualified. The name is the next token."""
        parts = [self.expect_name("a column", self.reserved)]
        while self.at_op(".") and self.peek(1).kind in ("name", "quoted"):
            self.next()
            parts.append(self.next())
        span = parts[0].span.to(parts[-1].span)
        self.refuse_index(span)
        return RawColumn(tuple(p.value for p in parts), tuple(p.kind == "quoted" for p in parts), span=span)

    def refuse_index(self, value: Span) -> None:
        """Behind a value: `tags[1]`."""
        if self.at_op("["):
            hint = "Compute the element before, as a column of its own"
            raise UnsupportedError("Elements of lists and maps cannot be named", hint=hint, span=value.to(self.peek().span))

    def call(self, name: Token) -> Expr:
        """`name` is taken, `(` comes next."""
        self.expect_op("(")
        if self.accept_op("*"):
            self.expect_op(")")
            return RawCall(name.value, (), True, span=self.span_from(name.span))
        if self.peek().kind in ("name", "quoted") and self.peek(1).is_op(".") and self.peek(2).is_op("*"):
            variable = self.next().value
            self.position += 2
            self.expect_op(")")
            return RawCall(name.value, (), True, variable, span=self.span_from(name.span))
        if (worded := worded_call(self, name, self.expression, COMPARISON)) is not None:
            self.expect_op(")")
            return RawCall(*worded, span=self.span_from(name.span))
        distinct = bool(self.accept_word("DISTINCT"))
        args = () if self.at_op(")") else self.arguments()
        self.expect_op(")", hint="Separate arguments with commas")
        return RawCall(name.value, args, distinct=distinct, span=self.span_from(name.span))

    # Expressions

    def arguments(self) -> tuple[Expr, ...]:
        """One or more expressions with commas between."""
        items = [self.expression()]
        while self.accept_op(","):
            items.append(self.expression())
        return tuple(items)

    def expression(self, power: int = 0) -> Expr:
        """An expression whose operators all bind more tightly than `power`."""
        self._nesting += 1
        if self._nesting > DEEPEST:
            raise too_deep(self.peek().span)
        try:
            left = self._infixes(self._prefix(), power)
        finally:
            self._nesting -= 1
        if not self._nesting:
            check_depth(left)
        return left

    def _infixes(self, left: Expr, power: int) -> Expr:
        folds = 0
        while (found := self._infix(left, power)) is not None:
            left = found
            folds += 1
            if folds > DEEPEST:
                raise too_deep(self.peek().span)
        return left

    def _infix(self, left: Expr, power: int) -> Expr | None:
        token = self.peek()
        if token.kind == "op":
            if token.text in ARITHMETIC and ARITHMETIC[token.text][1] > power:
                name, own = ARITHMETIC[token.text]
                self.next()
                return self._call(name, left, self.expression(own))
            if token.text in COMPARISONS and power < COMPARISON:
                return self._comparison(left)
            if token.text == "<=>" and power < COMPARISON:
                self.next()
                return self._not(self._call("distinct", left, self.expression(COMPARISON)))
            if token.text == "::" and power < CONVERSION:
                self.next()
                return Cast(left, type_name(self), span=self.span_from(span_of(left)))
        elif token.is_word("AND") and power < AND:
            return self._chain(left, "AND", "and", AND)
        elif token.is_word("OR") and power < OR:
            return self._chain(left, "OR", "or", OR)
        elif token.is_word(*PREDICATES) and power < COMPARISON:
            return self._predicate(left)
        return None

    def _chain(self, left: Expr, word: str, name: str, power: int) -> Expr:
        terms = [left]
        while self.accept_word(word):
            terms.append(self.expression(power))
        return balanced(name, terms)

    def _comparison(self, left: Expr) -> Expr:
        op = self.next()
        found = self._call(COMPARISONS[op.text], left, self.expression(COMPARISON))
        if self.peek().kind == "op" and self.peek().text in COMPARISONS:
            raise QuerySyntaxError("Comparisons cannot be chained", hint="Write a < b AND b < c", span=self.peek().span)
        return found

    def _predicate(self, left: Expr) -> Expr:
        negated = bool(self.accept_word("NOT"))
        if not negated and self.accept_word("IS"):
            return self._is(left)
        if self.accept_word("IN"):
            found = self._in(left)
        elif self.accept_word("BETWEEN"):
            low = self.expression(COMPARISON)
            self.expect_word("AND", hint="BETWEEN low AND high")
            high = self.expression(COMPARISON)
            found = self._call("and", self._call("ge", left, low), self._call("le", left, high))
        elif self.accept_word("LIKE"):
            args = [left, self.expression(COMPARISON)]
            if self.accept_word("ESCAPE"):
                args.append(self.expression(COMPARISON))
            found = self._call("like", *args)
        elif self.at_word("ISNULL", "NOTNULL", "ILIKE", "SIMILAR"):
            word = self.peek()
            hints = {"ILIKE": "lower(x) LIKE '...'", "SIMILAR": "LIKE"}
            raise UnsupportedError(
                f"{word.text.upper()} is not offered", hint=f"Write {hints.get(word.text.upper(), 'IS [NOT] NULL')}", span=word.span
            )
        else:
            self.fail("IN, LIKE or BETWEEN")
        return self._not(found) if negated else found

    def _in(self, left: Expr) -> Expr:
        self.expect_op("(")
        if self.at_word("SELECT", "WITH"):
            raise UnsupportedError("Subqueries are not offered here", hint="List the values, or join outside", span=self.peek().span)
        items = self.arguments()
        self.expect_op(")", hint="Separate the values with commas")
        return self._call("in", left, *items)

    def _is(self, left: Expr) -> Expr:
        negated = bool(self.accept_word("NOT"))
        if self.accept_word("NULL"):
            return self._call("is_not_null" if negated else "is_null", left)
        if self.accept_word("DISTINCT"):
            self.expect_word("FROM", hint="IS [NOT] DISTINCT FROM")
            found = self._call("distinct", left, self.expression(COMPARISON))
        elif word := self.accept_word("TRUE", "FALSE"):
            found = self._call("is_true" if word.is_word("TRUE") else "is_false", left)
        elif self.accept_word("UNKNOWN"):
            found = self._call("is_null", left)
        else:
            self.fail("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
        return self._not(found) if negated else found

    def _call(self, name: str, *args: Expr) -> Call:
        return Call(name, args, span=self.span_from(span_of(args[0])))

    def _not(self, arg: Expr) -> Call:
        return Call("not", (arg,), span=arg.span)

    # What an expression begins with

    def _prefix(self) -> Expr:
        token = self.peek()
        if token.is_op("-", "+"):
            return self._signed()
        if token.is_word("NOT"):
            self.next()
            arg = self.expression(NOT)
            return Call("not", (arg,), span=token.span.to(span_of(arg)))
        found = self.special()
        return self._primary() if found is None else found

    def _signed(self) -> Expr:
        sign = self.next()
        if sign.text == "-" and self.peek().kind == "number" and not self.peek(1).is_op("::"):
            number = self.number()
            return Literal(-number.value, span=sign.span.to(span_of(number)))
        arg = self.expression(SIGN)
        if sign.text == "+":
            return arg
        return Call("neg", (arg,), span=sign.span.to(span_of(arg)))

    def _primary(self) -> Expr:
        token = self.peek()
        if token.kind == "number":
            return self.number()
        if token.kind == "string":
            self.next()
            return Literal(token.value, span=token.span)
        if token.is_op("("):
            return self._parenthesised()
        if token.kind == "name":
            found = self._keyword()
            if found is not None:
                return found
        if token.kind == "quoted" or (token.kind == "name" and token.text.upper() not in self.reserved):
            if self.peek(1).is_op("("):
                return self.call(self.next())
            return self.reference()
        self.fail("an expression")

    def _parenthesised(self) -> Expr:
        self.next()
        if self.at_word("SELECT", "WITH"):
            raise UnsupportedError("Subqueries are not offered here", hint="Join outside the pattern", span=self.peek().span)
        inside = self.expression()
        self.expect_op(")")
        return inside

    def number(self) -> Literal:
        token = self.next()
        if self.percent and self._percent_follows(token):
            self.next()
            return Literal(Decimal(token.value) / 100, span=self.span_from(token.span))
        return Literal(token.value, span=token.span)

    def _percent_follows(self, number: Token) -> bool:
        """`80%*x` and `80 % * x` are eight tenths of x; `80 % x`, `80%x` and `80 % -x` are remainders."""
        sign, after = self.peek(), self.peek(1)
        if not sign.is_op("%") or isinstance(number.value, float):
            return False
        if sign.span.start != number.span.end and after.is_op("-", "+"):
            return False
        operand = after.kind in ("number", "string", "quoted") or after.is_op("(")
        return not (operand or (after.kind == "name" and after.text.upper() not in self.reserved))

    def _keyword(self) -> Expr | None:
        token = self.peek()
        if token.is_word("TRUE", "FALSE", "NULL"):
            self.next()
            return Literal({"TRUE": True, "FALSE": False, "NULL": None}[token.text.upper()], span=token.span)
        if token.is_word("CASE"):
            return case_form(self, self.expression)
        if token.is_word("CAST") and self.peek(1).is_op("("):
            return cast_form(self, self.expression)
        if token.is_word("EXTRACT") and self.peek(1).is_op("("):
            return extract_form(self, self.expression)
        if token.is_word("EXISTS") and self.peek(1).is_op("("):
            raise UnsupportedError("EXISTS is not offered here", hint="Join outside the pattern", span=token.span)
        return temporal_literal(self)


def parse_expression(text: str, offset: int = 0) -> Expr:
    """A whole text as one expression, without any language's own forms."""
    parser = ExpressionParser(tokenize(text, offset))
    found = parser.expression()
    parser.expect_end()
    return found
