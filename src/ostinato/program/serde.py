"""Programs as bytes, with a version, and back. Of functions that were added to the language the bytes hold what they are called, what they
take and give; the functions themselves are given by whoever reads them."""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import json
import zlib
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from ostinato.base.errors import StateError
from ostinato.expr.times.nanoseconds import Duration, Moment
from ostinato.expr.types import Kind, Opaque, Type
from ostinato.expr.user_function import FunctionSignature, UserFunction, not_here
from ostinato.program import (
    column_code,
    elements,
    instances,
    intervals,
    measure_code,
    negation,
    ordered_nfa,
    pattern,
    program,
    scalar_code,
    tree,
)
from ostinato.program import input as inputs
from ostinato.program.field_types import misfit
from ostinato.program.program import VERSION, Program

MAGIC = b"OSTP"
MOST_BYTES = 1 << 28  # of a program as text
_MODULES = (
    column_code, elements, inputs, instances, intervals, measure_code, negation, ordered_nfa, pattern, program, scalar_code, tree,
)  # fmt: skip
_CLASSES = {
    cls.__name__: cls for module in _MODULES for cls in vars(module).values() if isinstance(cls, type) and dataclasses.is_dataclass(cls)
} | {"Type": Type, "Opaque": Opaque, "FunctionSignature": FunctionSignature}


def dumps(value: Program) -> bytes:
    """Deterministic: equal programs give equal bytes."""
    body = json.dumps(_plain(value), separators=(",", ":"), ensure_ascii=False).encode()
    return MAGIC + VERSION.to_bytes(2, "big") + zlib.compress(body)


def loads(data: bytes, functions: Mapping[str, UserFunction] | None = None) -> Program:
    """`functions` by name: one that is missing is a StateError. Without them the program can be looked at; it runs if it needs none."""
    if data[:4] != MAGIC:
        raise StateError("these bytes are not an Ostinato program")
    version = int.from_bytes(data[4:6], "big")
    if version != VERSION:
        raise StateError(
            f"the program has format {version}, this release reads format {VERSION}", hint="compile the query again with this release"
        )
    try:
        loaded = _value(json.loads(_unpacked(data[6:])), functions)
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as cause:
        raise StateError("the program is damaged", detail=str(cause)) from cause
    if not isinstance(loaded, Program):
        raise StateError("these bytes hold no program")
    wrong = misfit(loaded, Program, "Program")
    if wrong is not None:
        raise StateError("the program is damaged", detail=f"{wrong} holds something else")
    return loaded


def _unpacked(data: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(data, MOST_BYTES)
    if not unpacking.eof:
        raise ValueError("it is cut off, or larger than any program")
    return text


def _plain(value: Any) -> Any:
    """As JSON; what JSON has no word for is a one-entry object {"$kind": ...}."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"$float": value.hex()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, Kind):
        return {"$kind": value.name}
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    if isinstance(value, dt.datetime):
        return {"$datetime": value.isoformat()}
    if isinstance(value, dt.date):
        return {"$date": value.isoformat()}
    if isinstance(value, Moment):
        return {"$moment": [value.nanos, value.zoned]}
    if isinstance(value, Duration):
        return {"$nanoseconds": value.nanos}
    if isinstance(value, dt.timedelta):
        return {"$microseconds": value // dt.timedelta(microseconds=1)}
    if isinstance(value, UserFunction):
        value = value.signature
    if type(value).__name__ in _CLASSES:
        return {"$" + type(value).__name__: {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}}
    raise TypeError(f"a program cannot hold a {type(value).__name__}")


_SCALARS: dict[str, Callable[[Any], Any]] = {
    "$float": float.fromhex,
    "$bytes": lambda text: base64.b64decode(text, validate=True),
    "$kind": lambda name: Kind[name],
    "$decimal": Decimal,
    "$datetime": dt.datetime.fromisoformat,
    "$date": dt.date.fromisoformat,
    "$microseconds": lambda n: dt.timedelta(microseconds=n),
    "$nanoseconds": Duration,
    "$moment": lambda parts: Moment(*parts),
}


def _value(plain: Any, functions: Mapping[str, UserFunction] | None = None) -> Any:
    if isinstance(plain, list):
        return tuple(_value(item, functions) for item in plain)
    if not isinstance(plain, dict):
        return plain
    (tag, content), *_ = plain.items()
    if tag in _SCALARS:
        return _SCALARS[tag](content)
    found = _CLASSES[tag[1:]](**{name: _value(item, functions) for name, item in content.items()})
    return found if functions is None or not isinstance(found, FunctionSignature) else _linked(found, functions)


def _linked(signature: FunctionSignature, functions: Mapping[str, UserFunction]) -> UserFunction:
    known = functions.get(signature.name)
    if known is None or known.signature != signature:
        raise not_here(signature, known)
    return known
