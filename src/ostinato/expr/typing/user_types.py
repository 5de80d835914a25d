"""Which values functions that are added to the language can take and give."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.expr.types import Kind, Type

MOST_ARGUMENTS = 16
_WORDS = (Kind.BOOL, Kind.DATE, Kind.TIMESTAMP, Kind.INTERVAL)


def are_for_columns(types: Sequence[Type]) -> bool:
    return all(type_.is_computable and type_.kind is not Kind.NULL for type_ in types)


def are_for_single_values(types: Sequence[Type]) -> bool:
    """Compiled functions compute with 64 bits: numbers as they are, times as integers."""
    return all(type_.kind in _WORDS or (type_.kind in (Kind.INT, Kind.FLOAT) and type_.bits == 64 and type_.signed) for type_ in types)
