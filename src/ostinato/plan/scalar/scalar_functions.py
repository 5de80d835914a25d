"""Functions that scalar code can compute from values of several events, one rule each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from ostinato.expr.nodes import Call, Expr, Literal, type_of
from ostinato.expr.types import FLOAT, INT, TIMESTAMP, Kind, Type
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.plan.scalar.scalar_types import common_type, convert, scale_of
from ostinato.program.opcodes import NULL_OPERAND, Op

RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")


class Translator(Protocol):
    """What a rule needs: the code being written, and operands for subexpressions."""

    code: ScalarAssembly

    def value(self, expr: Expr) -> int: ...

    def value_as(self, expr: Expr, wanted: Type) -> int: ...


def compare(to: Translator, relation: str, left: Expr, right: Expr) -> int:
    shared = common_type(type_of(left), type_of(right))
    a, b = to.value_as(left, shared), to.value_as(right, shared)
    if NULL_OPERAND in (a, b):
        return NULL_OPERAND
    if shared.kind is Kind.STRING and relation not in ("eq", "ne"):
        a, b = to.code.compute(Op.RANK, a), to.code.compute(Op.RANK, b)
    first = Op.EQ_FLOAT if shared.kind is Kind.FLOAT else Op.EQ_INT
    return to.code.compute(Op(first + RELATIONS.index(relation)), a, b)


def _relation(to: Translator, call: Call) -> int:
    return compare(to, call.name, *call.args)


def _chain(op: Op) -> Callable[[Translator, Call], int]:
    def rule(to: Translator, call: Call) -> int:
        result = to.value(call.args[0])
        for arg in call.args[1:]:
            result = to.code.compute(op, result, to.value(arg))
        return result

    return rule


def _unary(op: Op) -> Callable[[Translator, Call], int]:
    return lambda to, call: to.code.compute(op, to.value(call.args[0]))


def _sum(to: Translator, call: Call) -> int:
    """Addition and subtraction, of numbers and of times."""
    left, right = (type_of(arg) for arg in call.args)
    wanted = type_of(call)
    if wanted.kind in (Kind.TIMESTAMP, Kind.INTERVAL):
        operands = [to.value_as(arg, TIMESTAMP if type_of(arg).kind is Kind.DATE else type_of(arg)) for arg in call.args]
    elif Kind.DATE in (left.kind, right.kind):
        operands = [to.value(arg) for arg in call.args]
    else:
        operands = [to.value_as(arg, wanted) for arg in call.args]
    name = {"add": (Op.ADD_INT, Op.ADD_FLOAT), "sub": (Op.SUB_INT, Op.SUB_FLOAT)}[call.name]
    return to.code.compute(name[wanted.kind is Kind.FLOAT], *operands)


def _product(to: Translator, call: Call) -> int:
    wanted = type_of(call)
    if wanted.kind is Kind.FLOAT:
        return to.code.compute(Op.MUL_FLOAT, *(to.value_as(arg, FLOAT) for arg in call.args))
    product = to.code.compute(Op.MUL_INT, *(to.value(arg) for arg in call.args))
    given = replace(wanted, scale=sum(scale_of(type_of(arg)) for arg in call.args))
    return convert(to.code, product, given, wanted, call)


def _quotient(to: Translator, call: Call) -> int:
    kinds = {type_of(arg).kind for arg in call.args}
    if type_of(call).kind is Kind.INT:
        return to.code.compute(Op.QUOTIENT_INT, *(to.value(arg) for arg in call.args))
    if kinds == {Kind.INT}:
        quotient = to.code.compute(Op.DIV_INT, *(to.value(arg) for arg in call.args))
    else:
        quotient = to.code.compute(Op.DIV_FLOAT, *(to.value_as(arg, FLOAT) for arg in call.args))
    return convert(to.code, quotient, FLOAT, type_of(call), call)


def _rest(to: Translator, call: Call) -> int:
    shared = common_type(*(type_of(arg) for arg in call.args))
    op = Op.MOD_FLOAT if shared.kind is Kind.FLOAT else Op.MOD_INT
    rest = to.code.compute(op, *(to.value_as(arg, shared) for arg in call.args))
    return convert(to.code, rest, shared, type_of(call), call)


def _signed(whole: Op, broken: Op) -> Callable[[Translator, Call], int]:
    def rule(to: Translator, call: Call) -> int:
        op = broken if type_of(call).kind is Kind.FLOAT else whole
        return to.code.compute(op, to.value_as(call.args[0], type_of(call)))

    return rule


def _sign(to: Translator, call: Call) -> int:
    value, zero = call.args[0], Literal(0, type=INT)
    return to.code.compute(Op.SUB_INT, compare(to, "gt", value, zero), compare(to, "lt", value, zero))


def _without_fraction(op: Op) -> Callable[[Translator, Call], int]:
    def rule(to: Translator, call: Call) -> int:
        value = to.value(call.args[0])
        return to.code.compute(op, value) if type_of(call.args[0]).kind is Kind.FLOAT else value

    return rule


def _extreme(relation: str) -> Callable[[Translator, Call], int]:
    """greatest and least leave nulls out."""

    def rule(to: Translator, call: Call) -> int:
        kind = type_of(call).kind
        op = {"gt": (Op.MAX_INT, Op.MAX_FLOAT, Op.MAX_STRING), "lt": (Op.MIN_INT, Op.MIN_FLOAT, Op.MIN_STRING)}[relation]
        chosen = op[{Kind.FLOAT: 1, Kind.STRING: 2}.get(kind, 0)]
        result = to.value_as(call.args[0], type_of(call))
        for arg in call.args[1:]:
            result = to.code.compute(chosen, result, to.value_as(arg, type_of(call)))
        return result

    return rule


def _power(to: Translator, call: Call) -> int:
    return to.code.compute(Op.POWER, *(to.value_as(arg, FLOAT) for arg in call.args))


def _seconds(to: Translator, call: Call) -> int:
    """epoch: times as seconds."""
    value, own = _time(to, call)
    return to.code.compute(Op.DIV_INT, value, to.code.whole(1_000_000 * own.ticks))


def _microseconds(to: Translator, call: Call) -> int:
    """Floored: the remainder that has the sign of the dividend is made positive first."""
    value, own = _time(to, call)
    if own.ticks == 1:
        return value
    unit = to.code.whole(own.ticks)
    rest = to.code.compute(Op.MOD_INT, to.code.compute(Op.ADD_INT, to.code.compute(Op.MOD_INT, value, unit), unit), unit)
    return to.code.compute(Op.QUOTIENT_INT, to.code.compute(Op.SUB_INT, value, rest), unit)


def _nanoseconds(to: Translator, call: Call) -> int:
    value, own = _time(to, call)
    return value if own.ticks == 1000 else to.code.compute(Op.MUL_INT, value, to.code.whole(1000))


def _time(to: Translator, call: Call) -> tuple[int, Type]:
    own = type_of(call.args[0])
    held = TIMESTAMP if own.kind is Kind.DATE else own
    return to.value_as(call.args[0], held), held


def _float_only(op: Op) -> Callable[[Translator, Call], int]:
    def rule(to: Translator, call: Call) -> int:
        result = to.code.compute(op, to.value_as(call.args[0], FLOAT))
        return convert(to.code, result, FLOAT, type_of(call), call)

    return rule


def _coalesce(to: Translator, call: Call) -> int:
    operands = [to.value_as(arg, type_of(call)) for arg in call.args]
    result = operands[-1]
    for earlier in reversed(operands[:-1]):
        result = to.code.compute(Op.COALESCE, earlier, result)
    return result


def _in(to: Translator, call: Call) -> int:
    subject, *items = call.args
    result = compare(to, "eq", subject, items[0])
    for item in items[1:]:
        result = to.code.compute(Op.OR, result, compare(to, "eq", subject, item))
    return result


def _distinct(to: Translator, call: Call) -> int:
    """Null equals null and nothing else: unequal, or exactly one of them null."""
    nulls = [to.code.compute(Op.IS_NULL, to.value(arg)) for arg in call.args]
    different = to.code.compute(Op.COALESCE, compare(to, "ne", *call.args), to.code.whole(0))
    return to.code.compute(Op.OR, different, to.code.compute(Op.NE_INT, *nulls))


def _truth(wanted: int) -> Callable[[Translator, Call], int]:
    def rule(to: Translator, call: Call) -> int:
        known = to.code.compute(Op.COALESCE, to.value(call.args[0]), to.code.whole(1 - wanted))
        return to.code.compute(Op.EQ_INT, known, to.code.whole(wanted))

    return rule


def _added(to: Translator, call: Call) -> int:
    assert call.function is not None
    return to.code.call(call.function, [to.value_as(arg, type_of(arg)) for arg in call.args])


RULES: dict[str, Callable[[Translator, Call], int]] = {
    **dict.fromkeys(RELATIONS, _relation),
    "and": _chain(Op.AND),
    "or": _chain(Op.OR),
    "not": _unary(Op.NOT),
    "is_null": _unary(Op.IS_NULL),
    "is_not_null": _unary(Op.IS_NOT_NULL),
    "is_true": _truth(1),
    "is_false": _truth(0),
    "add": _sum,
    "sub": _sum,
    "mul": _product,
    "div": _quotient,
    "mod": _rest,
    "neg": _signed(Op.NEG_INT, Op.NEG_FLOAT),
    "abs": _signed(Op.ABS_INT, Op.ABS_FLOAT),
    "sqrt": _float_only(Op.SQRT),
    "coalesce": _coalesce,
    "sign": _sign,
    "ceil": _without_fraction(Op.CEIL),
    "floor": _without_fraction(Op.FLOOR),
    "round": _without_fraction(Op.ROUND),
    "exp": _float_only(Op.EXP),
    "ln": _float_only(Op.LN),
    "log10": _float_only(Op.LOG10),
    "power": _power,
    "greatest": _extreme("gt"),
    "least": _extreme("lt"),
    "epoch": _seconds,
    "epoch_us": _microseconds,
    "epoch_ns": _nanoseconds,
    "in": _in,
    "distinct": _distinct,
}

FRACTION_DROPPING = ("ceil", "floor", "round")


def rule_for(call: Call) -> Callable[[Translator, Call], int] | None:
    """Whole digits of decimals, rounding to a number of digits, and functions over columns are left to the columns."""
    if call.function is not None:
        return _added if call.function.compiled else None
    if call.name in FRACTION_DROPPING and (type_of(call.args[0]).kind is Kind.DECIMAL or len(call.args) > 1):
        return None
    return RULES.get(call.name)


NOT_STRICT = frozenset({"and", "or", "is_null", "is_not_null", "is_true", "is_false", "coalesce", "distinct", "in", "greatest", "least"})
