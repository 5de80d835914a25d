"""Verifies types: only those that a column of Arrow, or a list of its values, can have."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.expr.types import Kind, Type, list_of
from ostinato.expr.typing.arrow_types import from_arrow, to_arrow
from ostinato.program.verification.requirement import require


def check_type(type_: Type) -> None:
    require(_is_known(type_), "types that columns can have")


@lru_cache(4096)
def _is_known(type_: Type) -> bool:
    if type_.kind is Kind.LIST:
        return type_.item is not None and type_ == list_of(type_.item) and _is_known(type_.item)
    try:
        return from_arrow(to_arrow(type_)) == type_
    except (OstinatoError, pa.ArrowException, LookupError, ValueError, TypeError, OverflowError):
        return False
