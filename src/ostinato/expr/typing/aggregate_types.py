"""What type comes out of an aggregate."""

from __future__ import annotations

from ostinato.base.errors import TypeMismatchError, UnsupportedError
from ostinato.expr.nodes import Aggregate
from ostinato.expr.types import FLOAT, INT, Kind, Type, decimal, list_of
from ostinato.expr.typing.coerce import WIDEST, whole_digits

OPAQUE_HINT = "It can be shown, counted, and tested with IS NULL; fields of structs can be named"


def aggregate_type(node: Aggregate, own: Type) -> Type:
    """Over values of the type `own`."""
    if node.function == "count":
        return INT
    if not own.is_computable and node.function not in ("first", "last", "array"):
        raise TypeMismatchError(f"{node.function.upper()} cannot look into a value of type {own}", hint=OPAQUE_HINT, span=node.span)
    if node.function in ("min", "max", "first", "last"):
        return own
    if node.function == "array":
        return list_of(own)
    if node.function == "sum" and own.kind is Kind.INTERVAL:
        return own
    if not own.is_numeric and own.kind is not Kind.NULL:
        raise TypeMismatchError(f"{node.function.upper()} takes numbers, not {own}", span=node.span)
    if node.function in ("avg", "stddev"):
        return FLOAT
    if node.function == "sum":
        return _sum_type(own)
    raise UnsupportedError(f"The aggregate {node.function} is not offered", span=node.span)


def _sum_type(own: Type) -> Type:
    if own.kind is Kind.DECIMAL:
        return decimal(max(WIDEST, whole_digits(own) + own.scale), own.scale)
    return FLOAT if own.kind is Kind.FLOAT else INT
