"""Verifies column code by the rules that gave its expressions their types: what they would still have to convert is no program."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from ostinato.base.errors import OstinatoError
from ostinato.expr.nodes import Expr, Field, Literal
from ostinato.expr.times.nanoseconds import Duration, Moment
from ostinato.expr.types import BOOL, Kind, Type
from ostinato.expr.typing.cast_rules import CASTS
from ostinato.expr.typing.coerce import same_form
from ostinato.expr.typing.functions import FUNCTIONS
from ostinato.expr.typing.physical import INT64, to_physical
from ostinato.expr.user_function import FunctionSignature
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.verification.function_check import check_signature
from ostinato.program.verification.requirement import require
from ostinato.program.verification.type_check import check_type

Inputs = Callable[[str], Type | None]  # the type of what is given by a name, None if nothing is
LITERALS: dict[Kind, tuple[type, ...]] = {
    Kind.NULL: (),
    Kind.BOOL: (bool,),
    Kind.INT: (int,),
    Kind.FLOAT: (float,),
    Kind.DECIMAL: (Decimal, int),
    Kind.STRING: (str,),
    Kind.DATE: (dt.date,),
    Kind.TIMESTAMP: (dt.datetime, Moment),
    Kind.INTERVAL: (dt.timedelta, Duration),
    Kind.LIST: (),
    Kind.OPAQUE: (),
}


def check_columns(code: ColumnCode, name: str, inputs: Inputs, allowed_shifts: range = range(0)) -> None:
    """`allowed_shifts`: how far shifts may go; there are none where rows have no neighbours."""
    for number, op in enumerate(code.ops):
        check_type(op.type)
        require(all(0 <= arg < number for arg in op.args), f"operations in {name} that look back only")
        rule = OPERATIONS.get(op.op)
        require(
            rule is not None and rule(op, [code.ops[arg] for arg in op.args], inputs, allowed_shifts),
            f"operations in {name} that fit their operands",
        )
    require(all(0 <= result < len(code.ops) for result in code.results), f"results of {name} among its operations")


def _input(op: ColumnOp, args: list[ColumnOp], inputs: Inputs, allowed_shifts: range) -> bool:
    if args or len(op.params) != 1 or not isinstance(op.params[0], str):
        return False
    given = inputs(op.params[0])
    return given is not None and same_form(given, op.type)


def _literal(op: ColumnOp, args: list[ColumnOp], inputs: Inputs, allowed_shifts: range) -> bool:
    return not args and len(op.params) == 1 and _is_held(op.params[0], op.type)


def _is_held(value: Any, type_: Type) -> bool:
    if value is None:
        return type_.is_computable
    if not isinstance(value, LITERALS[type_.kind]) or isinstance(value, bool) != (type_.kind is Kind.BOOL):
        return False
    if isinstance(value, dt.datetime) and type_.kind is Kind.DATE:
        return False
    try:
        held = to_physical(value, type_)
        return not isinstance(held, int) or held in INT64
    except (OstinatoError, ArithmeticError, ValueError, TypeError):
        return False


def _shift(op: ColumnOp, args: list[ColumnOp], inputs: Inputs, allowed_shifts: range) -> bool:
    alone = len(args) == 1 and len(op.params) == 1 and type(op.params[0]) is int
    return alone and op.params[0] in allowed_shifts and same_form(args[0].type, op.type)


def _call(op: ColumnOp, args: list[ColumnOp], inputs: Inputs, allowed_shifts: range) -> bool:
    """Typing it again changes nothing."""
    function = FUNCTIONS.get(op.params[0]) if len(op.params) == 1 and isinstance(op.params[0], str) else None
    if function is None or not function.least <= len(args) <= function.most:
        return False
    given = tuple(_stand_in(arg) for arg in args)
    try:
        typed, result = function.rule(function.name, given)
    except OstinatoError:
        return False
    return len(typed) == len(given) and all(map(_is_same, typed, given)) and same_form(result, op.type)


def _user(op: ColumnOp, args: list[ColumnOp], inputs: Inputs, allowed_shifts: range) -> bool:
    """As its signature says; whether there is such a function is seen where the code is to run."""
    signature = op.params[0] if len(op.params) == 1 else None
    if not isinstance(signature, FunctionSignature) or len(args) != len(signature.takes):
        return False
    check_signature(signature)
    return all(same_form(arg.type, wanted) for arg, wanted in zip(args, signature.takes, strict=True)) and same_form(
        signature.returns, op.type
    )


def _stand_in(op: ColumnOp) -> Expr:
    """Of an operand only the type counts, and the value where it is a constant."""
    return Literal(op.params[0], type=op.type) if op.op == "literal" else Field("", type=op.type)


def _is_same(typed: Expr, given: Expr) -> bool:
    return typed is given or (isinstance(typed, Literal) and typed == given and typed.type == given.type)


def _cast(op: ColumnOp, args: list[ColumnOp], inputs: Inputs, allowed_shifts: range) -> bool:
    return len(args) == 1 and not op.params and op.type.kind in CASTS[args[0].type.kind]


def _case(op: ColumnOp, args: list[ColumnOp], inputs: Inputs, allowed_shifts: range) -> bool:
    conditions, values = args[:-1:2], (*args[1::2], *args[-1:])
    if op.params or len(args) % 2 == 0:
        return False
    return all(same_form(c.type, BOOL) for c in conditions) and all(same_form(value.type, op.type) for value in values)


OPERATIONS: dict[str, Callable[[ColumnOp, list[ColumnOp], Inputs, range], bool]] = {
    "input": _input,
    "literal": _literal,
    "shift": _shift,
    "call": _call,
    "user": _user,
    "cast": _cast,
    "case": _case,
}
