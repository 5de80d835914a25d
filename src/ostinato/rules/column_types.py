"""Types of columns as they stand in the file of a set: simple ones by their Arrow names, nested ones as objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

SIMPLE = {
    str(type_): type_
    for type_ in (
        pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
        pa.float16(), pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(),
        pa.binary_view(), pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
        *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")), *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    )
}  # fmt: skip
WITH_NUMBERS: dict[str, Callable[..., pa.DataType]] = {
    r"timestamp\[(s|ms|us|ns), tz=([^\]]+)\]": lambda unit, zone: pa.timestamp(unit, zone),
    r"decimal(32|64|128|256)\((\d+), (-?\d+)\)": lambda bits, digits, scale: getattr(pa, f"decimal{bits}")(int(digits), int(scale)),
    r"fixed_size_binary\[(\d+)\]": lambda size: pa.binary(int(size)),
}


def type_name(type_: pa.DataType) -> Any:
    """As JSON."""
    if str(type_) in SIMPLE or any(re.fullmatch(form, str(type_)) for form in WITH_NUMBERS):
        return str(type_)
    if pa.types.is_struct(type_):
        return {"struct": [field_name(field) for field in type_]}
    if pa.types.is_map(type_):
        return {"map": [field_name(type_.key_field), field_name(type_.item_field)]}
    if pa.types.is_fixed_size_list(type_):
        return {"list": field_name(type_.value_field), "size": type_.list_size}
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return {"list" if pa.types.is_list(type_) else "large_list": field_name(type_.value_field)}
    if pa.types.is_dictionary(type_):
        return {"dictionary": type_name(type_.value_type), "index": type_name(type_.index_type), "ordered": bool(type_.ordered)}
    raise ValueError(f"a column of type {type_} cannot be written")


def field_name(field: pa.Field) -> dict[str, Any]:
    return {"name": field.name, "type": type_name(field.type), **({} if field.nullable else {"nullable": False})}


def type_named(given: Any) -> pa.DataType:
    """What `type_name` gave; anything else is a ValueError."""
    if isinstance(given, str):
        return _simple(given)
    match given:
        case {"struct": list(fields), **rest} if not rest:
            return pa.struct([field_named(one) for one in fields])
        case {"map": [key, item], **rest} if not rest:
            return pa.map_(field_named(key), field_named(item))
        case {"list": item, "size": int(size), **rest} if not rest and size >= 0:
            return pa.list_(field_named(item), size)
        case {"list": item, **rest} if not rest:
            return pa.list_(field_named(item))
        case {"large_list": item, **rest} if not rest:
            return pa.large_list(field_named(item))
        case {"dictionary": values, "index": index, "ordered": bool(ordered), **rest} if not rest:
            return pa.dictionary(type_named(index), type_named(values), ordered)
    raise ValueError("a type of a column expected")


def _simple(name: str) -> pa.DataType:
    if name in SIMPLE:
        return SIMPLE[name]
    for form, make in WITH_NUMBERS.items():
        found = re.fullmatch(form, name)
        if found:
            return make(*found.groups())
    raise ValueError(f"there is no type {name!r}")


def field_named(given: Any) -> pa.Field:
    match given:
        case {"name": str(name), "type": type_, **rest} if set(rest) <= {"nullable"} and isinstance(rest.get("nullable", True), bool):
            try:
                return pa.field(name, type_named(type_), rest.get("nullable", True))
            except (TypeError, pa.ArrowException) as error:
                raise ValueError(str(error)) from error
    raise ValueError("a column with a name and a type expected")
