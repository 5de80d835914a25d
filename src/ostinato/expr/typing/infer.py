"""Types for expressions: names resolved, operands brought together, every node typed."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from ostinato.base.errors import OstinatoError, SchemaError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.expr.nodes import Aggregate, Call, Case, Cast, Classifier, Expr, Field, Literal, MatchNumber, Nav, type_of
from ostinato.expr.shape import balanced
from ostinato.expr.types import BOOL, FLOAT, INT, STRING, Kind
from ostinato.expr.typing.aggregate_types import aggregate_type
from ostinato.expr.typing.cast_rules import check_cast
from ostinato.expr.typing.coerce import coerce, unify
from ostinato.expr.typing.functions import FUNCTIONS, check_count, resolve
from ostinato.expr.typing.literal_types import literal_type
from ostinato.expr.typing.schema import Named, Schema
from ostinato.expr.typing.signatures import as_declared
from ostinato.expr.unresolved import RawCall, RawColumn


def infer(expr: Expr, schema: Schema) -> Expr:
    """The same expression with all types filled in and conversions made explicit. Inferring again changes nothing."""
    return _Inference(schema).typed(expr)


class _Inference:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        # Nodes that occur more than once in a tree (BETWEEN, simple CASE) are looked at once; the key keeps the node alive.
        self._done: dict[int, tuple[Expr, Expr]] = {}

    def typed(self, expr: Expr) -> Expr:
        known = self._done.get(id(expr))
        if known is None:
            known = (expr, self._typed(expr))
            self._done[id(expr)] = known
        return known[1]

    def _typed(self, expr: Expr) -> Expr:
        if isinstance(expr, Literal):
            return expr if expr.type is not None else _literal(expr)
        if isinstance(expr, RawColumn | Field):
            return self._field(expr)
        if isinstance(expr, RawCall):
            return self.typed(_resolved(expr))
        if isinstance(expr, Call):
            return self._call(expr)
        if isinstance(expr, Cast):
            arg = self.typed(expr.arg)
            check_cast(arg, expr)
            return replace(expr, arg=arg, type=expr.to)
        if isinstance(expr, Case):
            return self._case(expr)
        if isinstance(expr, Nav):
            body = self.typed(expr.body)
            return replace(expr, body=body, type=body.type)
        if isinstance(expr, Aggregate):
            return self._aggregate(expr)
        if isinstance(expr, MatchNumber):
            return replace(expr, type=INT)
        if isinstance(expr, Classifier):
            return replace(expr, type=STRING)
        raise UnsupportedError(f"{type(expr).__name__} cannot stand in an expression", span=expr.span)

    def _field(self, expr: RawColumn | Field) -> Field:
        parts = (expr.name,) if isinstance(expr, Field) else expr.parts
        own = self.schema.find(".".join(parts))
        if own is None:
            raise unknown_column(".".join(parts), self.schema, expr)
        return Field(own, span=expr.span, type=self.schema.type_of(own))

    def _call(self, call: Call) -> Expr:
        if call.function is not None:
            args, result = as_declared(call.function)(call.name, tuple(self.typed(arg) for arg in call.args))
            return replace(call, args=args, type=result)
        function = FUNCTIONS.get(call.name)
        if function is None:
            raise UnknownNameError(f"There is no function {call.name}", span=call.span)
        check_count(function, len(call.args), call.span)
        if call.name in ("and", "or") and len(call.args) > 2:
            return self.typed(balanced(call.name, call.args))
        args, result = function.rule(call.name, tuple(self.typed(arg) for arg in call.args))
        return replace(call, args=args, type=result)

    def _case(self, case: Case) -> Case:
        conditions = [self.typed(condition) for condition, _ in case.branches]
        for condition in conditions:
            if type_of(condition).kind not in (Kind.BOOL, Kind.NULL):
                raise TypeMismatchError(f"WHEN takes a condition, not {condition.type}", span=condition.span)
        values = [self.typed(value) for _, value in case.branches]
        otherwise = None if case.otherwise is None else self.typed(case.otherwise)
        shared = unify([*values, *([otherwise] if otherwise is not None else [])], "CASE")
        branches = tuple((coerce(c, BOOL), coerce(v, shared)) for c, v in zip(conditions, values, strict=True))
        return replace(case, branches=branches, otherwise=None if otherwise is None else coerce(otherwise, shared), type=shared)

    def _aggregate(self, node: Aggregate) -> Aggregate:
        body = None if node.body is None else self.typed(node.body)
        if body is None:
            if node.function != "count":
                raise TypeMismatchError(f"{node.function.upper()} needs something to aggregate", span=node.span)
            return replace(node, type=INT)
        result = aggregate_type(node, type_of(body))
        if node.function in ("avg", "stddev") and type_of(body).kind is Kind.DECIMAL:
            body = coerce(body, FLOAT)
        return replace(node, body=body, type=result)


def _literal(expr: Literal) -> Literal:
    found = literal_type(expr.value, expr.span)
    return replace(expr, value=float(expr.value) if found is FLOAT else expr.value, type=found)


def _resolved(call: RawCall) -> Expr:
    if call.star or call.distinct:
        form = "*" if call.star else "DISTINCT"
        raise UnsupportedError(f"{call.name}({form}) cannot stand here", hint="Aggregates go over the rows of a match", span=call.span)
    return resolve(call.name, call.args, call.span)


def unknown_column(name: str, schema: Schema, expr: Expr) -> OstinatoError:
    folded = [own for own in schema.names if own.lower() == name.lower()]
    unusable = next((column for column in schema.unusable if column[0].lower() == name.lower()), None)
    if unusable is not None and not folded:
        own, type_, hint = unusable
        return SchemaError(f"Column {own} has the type {type_}, which expressions cannot use", hint=hint, span=expr.span)
    if len(folded) > 1:
        return UnknownNameError(f"The column {name} is ambiguous", hint=f"Quote it: {' or '.join(folded)}", span=expr.span)
    beneath = schema.beneath(name)
    if beneath is not None:
        return _no_field(name, *beneath, expr)
    lowered = [own.lower() for own in schema.names]
    last = name.rpartition(".")[2].lower()
    close = [last] if last in lowered else get_close_matches(name.lower(), lowered, 1)
    hint = f"The columns are {', '.join(schema.names)}"
    if close:
        hint = f"Did you mean {next(own for own in schema.names if own.lower() == close[0])}?"
    return UnknownNameError(f"There is no column {name}", hint=hint, span=expr.span)


def _no_field(name: str, struct: str, fields: Named, expr: Expr) -> OstinatoError:
    """A path that leads into a column, and ends there in nothing."""
    if not fields:
        return TypeMismatchError(f"`{struct}` is no struct, and has no fields", hint=f"Use {struct} as a whole", span=expr.span)
    hint = f"Its fields are {', '.join(own for own, _ in fields)}"
    return UnknownNameError(f"`{struct}` has no field for `{name}`", hint=hint, span=expr.span)
