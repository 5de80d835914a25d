"""Bringing operands to one type. Constants are converted at once, everything else by a `Cast` that says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from ostinato.base.errors import DataError, TypeMismatchError
from ostinato.expr.nodes import Cast, Expr, Literal, type_of
from ostinato.expr.times.nanoseconds import Duration, Moment, as_utc, is_zoned
from ostinato.expr.times.temporal_text import parse_date, parse_interval, parse_timestamp
from ostinato.expr.types import FLOAT, INT, NULL, STRING, TIMESTAMP, TIMESTAMP_NS, Kind, Type, decimal, finer_unit
from ostinato.expr.typing.physical import from_physical, to_physical

WIDEST = 19  # digits of an int64


def same_form(a: Type, b: Type) -> bool:
    """Whether values of both types are held alike and mean the same."""
    if a.kind is not b.kind or a.opaque != b.opaque:
        return False
    return a.scale == b.scale and (a.zone is None) == (b.zone is None) and a.unit == b.unit


def coerce(expr: Expr, to: Type) -> Expr:
    own = type_of(expr)
    if same_form(own, to):
        return expr
    if isinstance(expr, Literal):
        return replace(expr, value=_converted(expr, to), type=to)
    return Cast(expr, to, span=expr.span, type=to)


def _converted(literal: Literal, to: Type) -> Any:
    value = literal.value
    if value is None:
        return None
    if to.kind is Kind.FLOAT:
        return float(value)
    if to.kind is Kind.DECIMAL:
        if abs(Decimal(value).scaleb(to.scale)) >= 2**63:
            raise TypeMismatchError(f"{value} has too many digits for {to}", hint="CAST the other side to DOUBLE", span=literal.span)
        return Decimal(value)
    if isinstance(value, str):
        value = _from_text(literal, to)
    if to.kind is Kind.TIMESTAMP:
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        value = as_utc(value) if to.zone is not None and not is_zoned(value) else value
    return in_unit(value, to, literal)


def in_unit(value: Any, to: Type, literal: Literal) -> Any:
    """A constant as values of its new type are written."""
    if to.unit != "ns":
        return value
    try:
        return from_physical(to_physical(value, to), to)
    except DataError as error:
        raise TypeMismatchError("This constant is out of the range of nanoseconds", hint=error.hint, span=literal.span) from None


def _from_text(literal: Literal, to: Type) -> Any:
    try:
        if to.kind is Kind.DATE:
            return parse_date(literal.value)
        if to.kind is Kind.INTERVAL:
            return parse_interval(literal.value)
        value = parse_timestamp(literal.value)
    except ValueError as e:
        raise TypeMismatchError(f"This string stands for a {to}, but {e}", span=literal.span) from None
    if to.zone is None and is_zoned(value):
        raise TypeMismatchError("This constant has a time zone, but the timestamp has none", hint="Leave the zone out", span=literal.span)
    return value


def unify(exprs: Sequence[Expr], doing: str) -> Type:
    """The type that all can be brought to without loss of meaning. Strings become times only where they are constants."""
    found = NULL
    refuse_opaque(exprs, doing)
    for expr in sorted(exprs, key=_pliancy):
        met = _met(found, expr)
        if met is None:
            raise _incompatible(found, expr, doing)
        found = met
    return found


def refuse_opaque(exprs: Sequence[Expr], doing: str) -> None:
    """Values that are only passed through."""
    for expr in exprs:
        own = type_of(expr)
        if not own.is_computable:
            fields = [name for name, field in own.opaque.fields if field.is_computable] if own.opaque is not None else []
            hint = f"Name a field of it, such as .{fields[0]}" if fields else "It can be shown, counted, and tested with IS NULL"
            raise TypeMismatchError(f"{doing} cannot look into a value of type {own}", hint=hint, span=expr.span)


def _pliancy(expr: Expr) -> int:
    """Constants follow what they stand beside, strings most of all."""
    if not isinstance(expr, Literal):
        return 0
    return 2 if isinstance(expr.value, str) else 1


def _met(found: Type, expr: Expr) -> Type | None:
    own = type_of(expr)
    if found.kind is Kind.NULL or own.kind is Kind.NULL:
        return own if found.kind is Kind.NULL else found
    if found.is_numeric and own.is_numeric:
        return number_type(found, own)
    if same_form(found, own):
        return found if found == own else replace(own, bits=64, signed=True, zone=own.zone and "UTC")
    if isinstance(expr, Literal) and isinstance(expr.value, str) and (found.is_temporal or found.kind is Kind.INTERVAL):
        return _text_meets(found, expr)
    if found.is_temporal and own.is_temporal:
        return _times_meet(found, own, expr)
    if found.kind is own.kind is Kind.INTERVAL:
        return replace(own, unit=finer_unit(found, own))
    return None


def _text_meets(found: Type, literal: Literal) -> Type:
    """A date compared with a string that has a time of day is compared as a timestamp, and what is finer than microseconds as such."""
    try:
        if found.kind is Kind.INTERVAL:
            return replace(found, unit="ns") if isinstance(parse_interval(literal.value), Duration) else found
        moment = parse_timestamp(literal.value)
    except ValueError:
        return TIMESTAMP if found.kind is Kind.DATE else found  # what is wrong is said where the constant is converted
    if isinstance(moment, Moment):
        return TIMESTAMP_NS if found.kind is Kind.DATE else replace(found, unit="ns")
    if found.kind is Kind.DATE:
        try:
            parse_date(literal.value)
        except ValueError:
            return TIMESTAMP
    return found


def _times_meet(found: Type, own: Type, expr: Expr) -> Type | None:
    unit = finer_unit(found, own)
    if found.zone is None and own.zone is None:
        return TIMESTAMP_NS if unit == "ns" else TIMESTAMP
    if found.zone is not None and own.zone is not None:
        return Type(Kind.TIMESTAMP, zone="UTC", unit=unit)
    # A constant without a zone is UTC; two columns must say what they mean.
    if own.zone is None and isinstance(expr, Literal):
        return replace(found, unit=unit)
    return None


def number_type(a: Type, b: Type) -> Type:
    if a == b:
        return a
    if Kind.FLOAT in (a.kind, b.kind):
        return FLOAT
    if Kind.DECIMAL not in (a.kind, b.kind):
        return INT
    scale = max(a.scale, b.scale)
    return decimal(min(WIDEST, max(whole_digits(a), whole_digits(b)) + scale), scale)


def whole_digits(type_: Type) -> int:
    return type_.precision - type_.scale if type_.kind is Kind.DECIMAL else WIDEST


def _incompatible(found: Type, expr: Expr, doing: str) -> TypeMismatchError:
    own = type_of(expr)
    hint = None
    if found.is_temporal and own.is_temporal:
        hint = "CAST(x AS TIMESTAMPTZ) reads a timestamp without zone as UTC"
    elif STRING.kind in (found.kind, own.kind):
        hint = f"CAST one of them, for example to {own if found.kind is Kind.STRING else found}"
    return TypeMismatchError(f"{found} and {own} do not go together in {doing}", hint=hint, span=expr.span)


def unified(exprs: Sequence[Expr], doing: str) -> tuple[tuple[Expr, ...], Type]:
    shared = unify(exprs, doing)
    return tuple(coerce(e, shared) for e in exprs), shared
