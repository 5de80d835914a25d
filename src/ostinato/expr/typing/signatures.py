"""Which operands each kind of function takes, and what type comes out. A rule returns the operands, converted, and the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from ostinato.base.errors import TypeMismatchError
from ostinato.expr.nodes import Call, Expr, Field, Literal, type_of
from ostinato.expr.times.nanoseconds import Duration, Moment, nanos_of_length, nanos_of_time
from ostinato.expr.types import BOOL, DATE, FLOAT, INT, INTERVAL, STRING, TIMESTAMP, Kind, Type, decimal, finer_unit
from ostinato.expr.typing.coerce import WIDEST, coerce, number_type, same_form, unified, unify, whole_digits
from ostinato.expr.typing.physical import INT64
from ostinato.expr.user_function import FunctionSignature

Typed = tuple[tuple[Expr, ...], Type]
Rule = Callable[[str, tuple[Expr, ...]], Typed]

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "neg": "-", "eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "and": "AND", "or": "OR", "not": "NOT", "in": "IN", "like": "LIKE", "distinct": "IS DISTINCT FROM",
}  # fmt: skip


ORDERS = ("lt", "le", "gt", "ge")


def spelled(name: str) -> str:
    return SYMBOLS.get(name, name)


def refuse(name: str, wanted: str, arg: Expr, hint: str | None = None) -> TypeMismatchError:
    return TypeMismatchError(f"`{spelled(name)}` takes {wanted}, not {type_of(arg)}", hint=hint, span=arg.span)


def booleans(name: str, args: tuple[Expr, ...]) -> Typed:
    for arg in args:
        if type_of(arg).kind not in (Kind.BOOL, Kind.NULL):
            raise refuse(name, "conditions", arg, hint="Compare it with something")
    return tuple(coerce(arg, BOOL) for arg in args), BOOL


def null_test(name: str, args: tuple[Expr, ...]) -> Typed:
    return args, BOOL


def comparison(name: str, args: tuple[Expr, ...]) -> Typed:
    if name in ORDERS:
        args = _whole_bounds(name, *args)
    elif type_of(args[0]).kind is Kind.INT:
        args = _whole_items(name, args[0], args[1:])
    elif type_of(args[1]).kind is Kind.INT and isinstance(args[0], Literal) and name != "in":
        args = _whole_items(name, args[1], args[:1])
    if len(args) == 2:
        args = _within_reach(*args)
    return unified(args, f"`{spelled(name)}`")[0], BOOL


def _whole_bounds(name: str, left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """An integer beside a decimal constant: the constant becomes the integer that gives the same answer, so that the integer need
    not be scaled, which large ones would not survive: i < 1.5 is i < 2, i <= 1.5 is i <= 1."""
    if type_of(left).kind is Kind.INT and type_of(right).kind is Kind.DECIMAL:
        return left, _whole_bound(right, "ROUND_CEILING" if name in ("lt", "ge") else "ROUND_FLOOR")
    if type_of(right).kind is Kind.INT and type_of(left).kind is Kind.DECIMAL:
        return _whole_bound(left, "ROUND_CEILING" if name in ("gt", "le") else "ROUND_FLOOR"), right
    return left, right


def _whole_bound(bound: Expr, rounding: str) -> Expr:
    if not isinstance(bound, Literal) or not isinstance(bound.value, Decimal):
        return bound
    return Literal(int(bound.value.to_integral_value(rounding)), span=bound.span, type=INT)


def _whole_items(name: str, whole: Expr, items: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The same for equality: whole constants become integers; with fractions an integer is never equal, so that they are left out."""
    fractions = [item for item in items if isinstance(item, Literal) and isinstance(item.value, Decimal) and item.value % 1]
    left = tuple(_whole_bound(item, "ROUND_FLOOR") for item in items if item not in fractions)
    if left or not fractions:
        return (whole, *left)
    if name == "distinct":
        return Call("is_null", (whole,), type=BOOL), Call("is_not_null", (whole,), type=BOOL)
    below, above = (_whole_bound(fractions[0], rounding) for rounding in ("ROUND_FLOOR", "ROUND_CEILING"))
    # One of both is true, never both: equal to nothing, and unknown where the integer is null.
    return Call("le", (whole, below), span=whole.span, type=BOOL), Call("ge", (whole, above), span=whole.span, type=BOOL)


def _within_reach(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """A time in nanoseconds beside a constant that nanoseconds do not reach, such as the year 9999: they are compared in microseconds,
    which gives the same answer, as no time in nanoseconds is equal to the constant."""
    if isinstance(left, Literal):
        right, left = _within_reach(right, left) if not isinstance(right, Literal) else (right, left)
        return left, right
    own = type_of(left)
    if own.unit != "ns" or not isinstance(right, Literal) or type_of(right).kind not in (Kind.STRING, Kind.DATE, own.kind):
        return left, right
    coarse = replace(own, unit="us")
    bound = coerce(right, coarse)
    return (left, right) if _is_reached(bound) else (coerce(left, coarse), bound)


def _is_reached(bound: Expr) -> bool:
    value = bound.value if isinstance(bound, Literal) else None
    if isinstance(value, datetime | Moment):
        return nanos_of_time(value) in INT64
    return not isinstance(value, timedelta | Duration) or nanos_of_length(value) in INT64


def same(name: str, args: tuple[Expr, ...]) -> Typed:
    """coalesce, greatest, least."""
    return unified(args, f"`{name}`")


def number(name: str, arg: Expr, wanted: str = "numbers") -> Type:
    own = type_of(arg)
    if own.kind is Kind.NULL:
        return INT
    if not own.is_numeric:
        raise refuse(name, wanted, arg, "CAST(x AS DOUBLE)" if own.kind is Kind.STRING else None)
    return own


def doubles(name: str, args: tuple[Expr, ...]) -> Typed:
    for arg in args:
        number(name, arg)
    return tuple(coerce(arg, FLOAT) for arg in args), FLOAT


def sum_of(name: str, args: tuple[Expr, ...]) -> Typed:
    kinds = {type_of(arg).kind for arg in args}
    if kinds & {Kind.DATE, Kind.TIMESTAMP, Kind.INTERVAL}:
        return time_sum(name, args)
    left, right = (number(name, arg, "numbers, times or intervals") for arg in args)
    shared = number_type(left, right)
    if shared.kind is Kind.DECIMAL:
        digits = max(whole_digits(left), whole_digits(right)) + 1
        shared = decimal(min(WIDEST, digits + shared.scale), shared.scale)
    elif shared.kind is Kind.INT:
        shared = INT
    else:
        shared = FLOAT
    return tuple(coerce(arg, shared) for arg in args), shared


def time_sum(name: str, args: tuple[Expr, ...]) -> Typed:
    left, right = _time_operands(name, args)
    a, b = type_of(left), type_of(right)
    if a.is_temporal and b.is_temporal:
        if name == "add":
            raise TypeMismatchError(f"{a} and {b} cannot be added", hint="Subtract them, or add an interval", span=right.span)
        both, shared = unified((left, right), "`-`")
        return both, INT if shared.kind is Kind.DATE else replace(INTERVAL, unit=shared.unit)
    if name == "add" and b.is_temporal:
        (right, left), result = time_sum(name, (right, left))
        return (left, right), result
    if a.kind is Kind.DATE and b.kind is Kind.INT:
        return (left, right), DATE
    if b.kind is Kind.INTERVAL and a.kind is Kind.DATE:
        moved = replace(TIMESTAMP, unit=b.unit)
        return (coerce(left, moved), right), moved
    if b.kind is Kind.INTERVAL and a.kind in (Kind.TIMESTAMP, Kind.INTERVAL):
        unit = finer_unit(a, b)
        moved = replace(a, unit=unit)
        return (coerce(left, moved), coerce(right, replace(b, unit=unit))), moved
    raise TypeMismatchError(
        f"{a} {spelled(name)} {b} has no meaning", hint="Times move by intervals, such as INTERVAL '5' MINUTE", span=right.span
    )


def _time_operands(name: str, args: tuple[Expr, ...]) -> tuple[Expr, Expr]:
    """A null, or a string constant beside a time, takes the type that gives the pair a meaning."""
    left, right = args
    a, b = type_of(left), type_of(right)
    if a.kind is Kind.NULL:
        left = coerce(left, _step(b) if name == "add" else b)
    elif b.kind is Kind.NULL:
        right = coerce(right, _step(a))
    elif isinstance(right, Literal) and b.kind is Kind.STRING and name == "sub" and a.is_temporal:
        right = coerce(right, unify((left, right), "`-`"))
    elif isinstance(left, Literal) and a.kind is Kind.STRING and name == "sub" and b.is_temporal:
        left = coerce(left, unify((right, left), "`-`"))
    return left, right


def _step(own: Type) -> Type:
    """What moves a time."""
    return INT if own.kind is Kind.DATE else replace(INTERVAL, unit=own.unit)


def product(name: str, args: tuple[Expr, ...]) -> Typed:
    kinds = tuple(type_of(arg).kind for arg in args)
    if Kind.INTERVAL in kinds:
        length = args[kinds.index(Kind.INTERVAL)]
        other = args[kinds.index(Kind.INTERVAL) - 1]
        if type_of(other).kind not in (Kind.INT, Kind.NULL):
            raise refuse(name, "an interval and an integer", other)
        return tuple(arg if arg is not other else coerce(arg, INT) for arg in args), type_of(length)
    left, right = (number(name, arg) for arg in args)
    if Kind.FLOAT in (left.kind, right.kind):
        return doubles(name, args)
    scale = left.scale + right.scale
    if Kind.DECIMAL not in (left.kind, right.kind):
        return tuple(coerce(arg, INT) for arg in args), INT
    if scale > WIDEST - 1:
        raise TypeMismatchError(
            f"{left} * {right} has more digits than are held exactly", hint="CAST one of them to DOUBLE", span=args[1].span
        )
    digits = sum(t.precision if t.kind is Kind.DECIMAL else WIDEST for t in (left, right))
    held = tuple(coerce(arg, INT) if type_of(arg).kind is Kind.NULL else arg for arg in args)
    return held, decimal(min(WIDEST, digits), scale)


def remainder(name: str, args: tuple[Expr, ...]) -> Typed:
    shared = number_type(*(number(name, arg) for arg in args))
    shared = INT if shared.kind is Kind.INT else shared
    return tuple(coerce(arg, shared) for arg in args), shared


def signed(name: str, args: tuple[Expr, ...]) -> Typed:
    own = type_of(args[0])
    if own.kind is Kind.INTERVAL:
        return args, own
    own = number(name, args[0], "a number or an interval")
    return (coerce(args[0], own),), INT if own.kind is Kind.INT else FLOAT if own.kind is Kind.FLOAT else own


def sign(name: str, args: tuple[Expr, ...]) -> Typed:
    own = number(name, args[0])
    return (coerce(args[0], own),), INT


def whole(name: str, args: tuple[Expr, ...]) -> Typed:
    """ceil, floor: the same kind without its fraction."""
    own = number(name, args[0])
    return (coerce(args[0], own),), _without_fraction(own, 0)


def rounded(name: str, args: tuple[Expr, ...]) -> Typed:
    own = number(name, args[0])
    digits = constant_int(name, args[1], "the number of digits") if len(args) > 1 else 0
    if not -WIDEST < digits < WIDEST:
        raise TypeMismatchError("`round` takes -18 to 18 digits", span=args[1].span)
    return (coerce(args[0], own), *args[1:]), _without_fraction(own, digits)


def _without_fraction(own: Type, digits: int) -> Type:
    if own.kind is Kind.DECIMAL:
        scale = min(own.scale, max(digits, 0))
        return decimal(max(1, min(WIDEST, whole_digits(own) + 1 + scale)), scale)
    return INT if own.kind is Kind.INT else FLOAT


def constant_int(name: str, arg: Expr, what: str) -> int:
    if not isinstance(arg, Literal) or not isinstance(arg.value, int) or isinstance(arg.value, bool):
        raise TypeMismatchError(f"`{name}`: {what} must be an integer constant", span=arg.span)
    return arg.value


def strings(result: Type) -> Rule:
    def rule(name: str, args: tuple[Expr, ...]) -> Typed:
        for arg in args:
            if type_of(arg).kind not in (Kind.STRING, Kind.NULL):
                raise refuse(name, "strings", arg, "CAST(x AS VARCHAR)")
        return tuple(coerce(arg, STRING) for arg in args), result

    return rule


def string_then_integers(name: str, args: tuple[Expr, ...]) -> Typed:
    """substring, left, right."""
    (text,), _ = strings(STRING)(name, args[:1])
    for arg in args[1:]:
        if type_of(arg).kind not in (Kind.INT, Kind.NULL):
            raise refuse(name, "integers after the string", arg)
    return (text, *(coerce(arg, INT) for arg in args[1:])), STRING


def like(name: str, args: tuple[Expr, ...]) -> Typed:
    typed, _ = strings(BOOL)(name, args)
    if len(args) == 3:
        escape = args[2]
        if not isinstance(escape, Literal) or not isinstance(escape.value, str) or len(escape.value) != 1:
            raise TypeMismatchError("ESCAPE takes one character as a constant", hint="LIKE '10!%' ESCAPE '!'", span=escape.span)
    return typed, BOOL


def calendar_part(name: str, args: tuple[Expr, ...]) -> Typed:
    return (_moment(name, args[0]),), INT


def clock_part(name: str, args: tuple[Expr, ...]) -> Typed:
    arg = _moment(name, args[0])
    return (coerce(arg, TIMESTAMP) if type_of(arg).kind is Kind.DATE else arg,), INT


def _moment(name: str, arg: Expr) -> Expr:
    own = type_of(arg)
    if own.kind is Kind.NULL:
        return coerce(arg, TIMESTAMP)
    if not own.is_temporal:
        raise refuse(name, "a date or timestamp", arg, "CAST(x AS TIMESTAMP)" if own.kind is Kind.STRING else None)
    return arg


def epoch(name: str, args: tuple[Expr, ...]) -> Typed:
    arg = args[0] if type_of(args[0]).kind is Kind.INTERVAL else _moment(name, args[0])
    result = FLOAT if name == "epoch" else INT
    return (coerce(arg, TIMESTAMP) if type_of(arg).kind is Kind.DATE else arg,), result


TRUNCATED = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")


def truncation(name: str, args: tuple[Expr, ...]) -> Typed:
    unit = args[0]
    if not isinstance(unit, Literal) or not isinstance(unit.value, str) or unit.value.lower() not in TRUNCATED:
        raise TypeMismatchError(
            "`date_trunc` takes its unit as a string constant",
            hint=f"One of {', '.join(TRUNCATED)}: date_trunc('hour', ts)",
            span=unit.span,
        )
    moment = _moment(name, args[1])
    lowered = Literal(unit.value.lower(), span=unit.span, type=STRING)
    return (lowered, moment), type_of(moment)


def as_declared(signature: FunctionSignature) -> Rule:
    """Of a function that was added: arguments become what it takes, where nothing is lost by that."""

    def rule(name: str, args: tuple[Expr, ...]) -> Typed:
        return tuple(_argument(name, arg, wanted) for arg, wanted in zip(args, signature.takes, strict=True)), signature.returns

    return rule


def _argument(name: str, arg: Expr, wanted: Type) -> Expr:
    if not same_form(unify((Field("", type=wanted), arg), f"`{name}`"), wanted):
        raise refuse(name, str(wanted), arg, f"CAST it to {wanted}")
    return coerce(arg, wanted)
