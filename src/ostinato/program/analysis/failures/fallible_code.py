"""What of a pattern can fail at some value: such a query is put in quarantine by itself, so it is not evaluated as one with others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ostinato.expr.types import Kind, Type
from ostinato.expr.values.casts import limit
from ostinato.program.analysis.failures.scalar_ranges import scalar_may_fail
from ostinato.program.analysis.failures.value_ranges import ANY, WHOLE, Range, column_ranges, of_type
from ostinato.program.code_inputs import COLUMN, POINT
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.measure_code import MatchAggregate
from ostinato.program.pattern import Pattern
from ostinato.program.scalar_code import ScalarCode

NEVER_FAILS = ("and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "in", "is_null", "is_not_null", "distinct", "coalesce", "mod",
               "greatest", "least", "like", "starts_with", "ends_with", "contains", "upper", "lower", "length")  # fmt: skip
OF_DOUBLES = ("add", "sub", "mul", "div", "neg", "abs", "sqrt", "exp", "ln", "log10", "power")
BOUNDED = ("add", "sub", "mul", "neg", "abs")  # fail of whole numbers that 64 bits do not hold, and of no others


def rows_may_fail(pattern: Pattern) -> bool:
    """In its row code, which is evaluated for every row, whether a query wants it or not."""
    return _columns_may_fail(pattern.rows, pattern)


def may_fail(pattern: Pattern) -> bool:
    """In a condition over the match, in a negation, or in what is returned."""
    return any(_code_may_fail(code, pattern) for code in _codes(pattern))


def _code_may_fail(code: ColumnCode | ScalarCode | MatchAggregate, pattern: Pattern) -> bool:
    if isinstance(code, ColumnCode):
        return _columns_may_fail(code, pattern)
    if isinstance(code, ScalarCode):
        held = column_ranges(pattern.rows, lambda name, type_: _held(name, type_, pattern))
        slots = [held[result] if held[result].fits else ANY for result in pattern.rows.results[pattern.bits :]]
        return scalar_may_fail(code, slots, pattern.registers)
    return code.function == "sum" and code.type.kind is not Kind.FLOAT


def _columns_may_fail(code: ColumnCode, pattern: Pattern) -> bool:
    ranges = column_ranges(code, lambda name, type_: _held(name, type_, pattern))
    return any(_op_may_fail(op, code, found) for op, found in zip(code.ops, ranges, strict=True))


def _op_may_fail(op: ColumnOp, code: ColumnCode, found: Range) -> bool:
    """A value out of range."""
    whole = op.type.kind in WHOLE and all(code.ops[arg].type.kind in WHOLE for arg in op.args)
    if op.op == "cast":
        wider = all(code.ops[arg].type.scale <= op.type.scale for arg in op.args)
        return op.type.kind is not Kind.FLOAT and not (whole and wider and found.fits and found.within(limit(op.type)))
    if op.op == "user":
        return True
    if op.op != "call" or op.params[0] in NEVER_FAILS or (op.type.kind is Kind.FLOAT and op.params[0] in OF_DOUBLES):
        return False
    return not (whole and op.params[0] in BOUNDED and found.fits)


def _held(name: str, type_: Type, pattern: Pattern) -> Range:
    """Of a column, wherever code reads it: its type bounds it. What else code is given is anything."""
    for before, parts in ((COLUMN, 1), (POINT, 2), ("event:", 2)):
        if name.startswith(before):
            name = name.split(":", parts)[parts]
            break
    return of_type(type_) if pattern.reads.types.get(name) == type_ else ANY


def _codes(value: Any) -> Iterator[ColumnCode | ScalarCode | MatchAggregate]:
    """All of it, wherever it stands in the pattern."""
    if isinstance(value, ColumnCode | ScalarCode | MatchAggregate):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _codes(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from _codes(one)
