"""Expressions evaluated on single values, by definition: three-valued logic, exact integers, errors that matter only where the
value does. Slow and plain; columns are held to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ostinato.base.errors import DataError, UnsupportedError
from ostinato.expr.nodes import Aggregate, Call, Case, Cast, Classifier, Expr, Field, Literal, MatchNumber, Nav, type_of
from ostinato.expr.typing.physical import from_physical, in_range, to_physical
from ostinato.expr.values import number_functions as numbers
from ostinato.expr.values import time_functions as times
from ostinato.expr.values.casts import cast
from ostinato.expr.values.string_functions import STRING_FUNCTIONS
from ostinato.expr.values.user_values import user_value


class EvaluationContext(Protocol):
    """What an expression looks at. All values are plain Python ones; None is null."""

    def field(self, name: str) -> Any: ...

    def nav(self, node: Nav) -> Any: ...

    def aggregate(self, node: Aggregate) -> Any: ...

    def match_number(self) -> int: ...

    def classifier(self, node: Classifier) -> str | None: ...


def evaluate(expr: Expr, context: EvaluationContext) -> Any:
    """The value of a typed expression, as a plain Python value."""
    return from_physical(_value(expr, context), type_of(expr))


def _value(expr: Expr, context: EvaluationContext) -> Any:
    """In physical form."""
    if isinstance(expr, Call):
        return _call(expr, context)
    if isinstance(expr, Cast):
        value = _value(expr.arg, context)
        return None if value is None else cast(value, type_of(expr.arg), expr.to)
    if isinstance(expr, Case):
        return _case(expr, context)
    if isinstance(expr, Literal):
        return to_physical(expr.value, type_of(expr))
    return to_physical(_looked_up(expr, context), type_of(expr))


def _looked_up(expr: Expr, context: EvaluationContext) -> Any:
    if isinstance(expr, Field):
        return context.field(expr.name)
    if isinstance(expr, Nav):
        return context.nav(expr)
    if isinstance(expr, Aggregate):
        return context.aggregate(expr)
    if isinstance(expr, MatchNumber):
        return context.match_number()
    if isinstance(expr, Classifier):
        return context.classifier(expr)
    raise UnsupportedError(f"{type(expr).__name__} has no value", span=expr.span)


def _case(expr: Case, context: EvaluationContext) -> Any:
    for condition, value in expr.branches:
        if _value(condition, context) is True:
            return _value(value, context)
    return None if expr.otherwise is None else _value(expr.otherwise, context)


def _call(call: Call, context: EvaluationContext) -> Any:
    if call.name in LAZY:
        return LAZY[call.name](call, context)
    args = [_value(arg, context) for arg in call.args]
    if call.function is not None:
        return user_value(call.function, args)
    if call.name in NULL_TAKING:
        return NULL_TAKING[call.name](*args)
    if None in args:
        return None
    return _strict(call, args)


def _strict(call: Call, args: list[Any]) -> Any:
    """Functions that are null as soon as an argument is."""
    name, own = call.name, type_of(call.args[-1])
    if name in COMPARED:
        return COMPARED[name](*args)
    if name in numbers.EXACT:
        return numbers.arithmetic(name, type_of(call), *args)
    if name in numbers.FLOAT_FUNCTIONS:
        return numbers.FLOAT_FUNCTIONS[name](*args)
    if name in STRING_FUNCTIONS:
        return STRING_FUNCTIONS[name](*args)
    if name in times.CALENDAR_PARTS:
        return times.calendar_part(name, args[0], own)
    if name in times.CLOCK_PARTS:
        return times.clock_part(name, args[0], own)
    return OTHERS[name](call, args)


COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}

OTHERS: dict[str, Callable[[Call, list[Any]], Any]] = {
    "mod": lambda call, args: numbers.remainder(*args),
    "sign": lambda call, args: (args[0] > 0) - (args[0] < 0),
    "ceil": lambda call, args: numbers.ceil(args[0], type_of(call.args[0])),
    "floor": lambda call, args: numbers.floor(args[0], type_of(call.args[0])),
    "round": lambda call, args: numbers.rounded(args[0], args[1] if len(args) > 1 else 0, type_of(call.args[0]), type_of(call)),
    "not": lambda call, args: not args[0],
    "epoch": lambda call, args: times.epoch(args[0], type_of(call.args[0])),
    "epoch_us": lambda call, args: args[0] // type_of(call.args[0]).ticks,
    "epoch_ns": lambda call, args: in_range(args[0] * (1000 // type_of(call.args[0]).ticks), type_of(call)),
    "date_trunc": lambda call, args: times.truncated(args[0], args[1], type_of(call.args[1])),
}

NULL_TAKING: dict[str, Callable[..., Any]] = {
    "is_null": lambda a: a is None,
    "is_not_null": lambda a: a is not None,
    "is_true": lambda a: a is True,
    "is_false": lambda a: a is False,
    "distinct": lambda a, b: (a is None) != (b is None) or (a is not None and a != b),
    "greatest": lambda *args: _extreme(args, lambda new, best: _sorts_before(best, new)),
    "least": lambda *args: _extreme(args, lambda new, best: _sorts_before(new, best)),
}


def _extreme(args: tuple[Any, ...], better: Callable[[Any, Any], bool]) -> Any:
    best = None
    for value in args:
        if value is not None and (best is None or better(value, best)):
            best = value
    return best


def _sorts_before(a: Any, b: Any) -> bool:
    """The order of MIN and MAX: NaN, which is not equal to itself, is greater than every number."""
    return a < b or (b != b and a == a)


def _decided(call: Call, context: EvaluationContext, deciding: bool) -> bool | None:
    """AND and OR: one deciding operand settles it, whatever the others are, errors included."""
    unknown, failure = False, None
    for arg in call.args:
        try:
            value = _value(arg, context)
        except DataError as e:
            failure = failure or e
            continue
        if value is deciding:
            return deciding
        unknown |= value is None
    if failure is not None:
        raise failure
    return None if unknown else not deciding


def _in(call: Call, context: EvaluationContext) -> bool | None:
    wanted, *items = (_value(arg, context) for arg in call.args)
    if wanted is None:
        return None
    if any(item is not None and item == wanted for item in items):
        return True
    return None if None in items else False


def _coalesce(call: Call, context: EvaluationContext) -> Any:
    for arg in call.args:
        value = _value(arg, context)
        if value is not None:
            return value
    return None


LAZY: dict[str, Callable[[Call, EvaluationContext], Any]] = {
    "and": lambda call, context: _decided(call, context, False),
    "or": lambda call, context: _decided(call, context, True),
    "coalesce": _coalesce,
    "in": _in,
}

HANDLED = frozenset(
    [*COMPARED, *OTHERS, *NULL_TAKING, *LAZY, *numbers.EXACT, *numbers.FLOAT_FUNCTIONS, *STRING_FUNCTIONS]
    + [*times.CALENDAR_PARTS, *times.CLOCK_PARTS]
)
