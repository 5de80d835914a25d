"""Which types an explicit CAST connects."""

from __future__ import annotations

from ostinato.base.errors import TypeMismatchError
from ostinato.expr.nodes import Cast, Expr, type_of
from ostinato.expr.types import Kind

NUMBERS = frozenset((Kind.INT, Kind.FLOAT, Kind.DECIMAL))
TIMES = frozenset((Kind.DATE, Kind.TIMESTAMP))

CASTS: dict[Kind, frozenset[Kind]] = {
    Kind.NULL: frozenset(Kind),
    Kind.BOOL: frozenset((Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.STRING)),
    Kind.INT: NUMBERS | {Kind.BOOL, Kind.STRING},
    Kind.FLOAT: NUMBERS | {Kind.BOOL, Kind.STRING},
    Kind.DECIMAL: NUMBERS | {Kind.BOOL, Kind.STRING},
    Kind.STRING: frozenset(Kind) - {Kind.NULL, Kind.LIST, Kind.OPAQUE},
    Kind.DATE: TIMES | {Kind.STRING},
    Kind.TIMESTAMP: TIMES | {Kind.STRING},
    Kind.INTERVAL: frozenset((Kind.INTERVAL, Kind.STRING)),
    Kind.LIST: frozenset(),
    Kind.OPAQUE: frozenset(),
}

HINTS = {
    (Kind.TIMESTAMP, Kind.INT): "epoch(x) gives seconds",
    (Kind.TIMESTAMP, Kind.FLOAT): "epoch(x) gives seconds",
    (Kind.INTERVAL, Kind.INT): "epoch(x) gives seconds",
    (Kind.INTERVAL, Kind.FLOAT): "epoch(x) gives seconds",
    (Kind.INT, Kind.TIMESTAMP): "TIMESTAMP '1970-01-01' + x * INTERVAL '1' SECOND",
}


def check_cast(arg: Expr, cast: Cast) -> None:
    own = type_of(arg)
    if cast.to.kind not in CASTS[own.kind]:
        hint = HINTS.get((own.kind, cast.to.kind))
        if not own.is_computable:
            hint = "Values of this type are passed through as they are; cast the column before"
        raise TypeMismatchError(f"{own} cannot be cast to {cast.to}", hint=hint, span=cast.span)
