"""Whether what was read from bytes has the types that the classes of a program declare."""

from __future__ import annotations

import dataclasses
import types
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints


def misfit(value: Any, wanted: Any, name: str) -> str | None:
    """The first field that holds something else than it declares, as `Program.columns`; None if there is none."""
    if wanted is Any:
        return None
    origin = get_origin(wanted)
    if origin in (Union, types.UnionType):
        return None if any(misfit(value, one, name) is None for one in get_args(wanted)) else name
    if origin is tuple:
        return _of_tuple(value, get_args(wanted), name)
    if isinstance(wanted, type) and issubclass(wanted, bool | int | float | Enum):
        return None if type(value) is wanted else name
    if not isinstance(value, wanted):
        return name
    return _of_fields(value) if dataclasses.is_dataclass(wanted) else None


def _of_tuple(value: Any, items: tuple[Any, ...], name: str) -> str | None:
    if not isinstance(value, tuple):
        return name
    if items and items[-1] is Ellipsis:
        items = items[:1] * len(value)
    if len(items) != len(value):
        return name
    return next((found for one, item in zip(value, items, strict=True) if (found := misfit(one, item, name)) is not None), None)


def _of_fields(value: Any) -> str | None:
    kind: type = type(value)
    hints = declared(kind)
    fields = ((getattr(value, field.name), hints[field.name], f"{kind.__name__}.{field.name}") for field in dataclasses.fields(value))
    return next((found for held, wanted, name in fields if (found := misfit(held, wanted, name)) is not None), None)


@cache
def declared(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
