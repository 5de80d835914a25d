"""Functions that were added to the language, called for single values: over columns of one row, or as the Python functions that they are
where they are compiled otherwise."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ostinato.base.errors import DataError, OstinatoError, TypeMismatchError
from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.arrow_types import from_arrow, to_arrow
from ostinato.expr.typing.physical import INT64, from_physical, overflow, to_physical
from ostinato.expr.user_function import FunctionSignature, UserFunction

LONGEST = 200  # characters of what a function said when it failed
_WORDS = {Kind.TIMESTAMP: pa.int64(), Kind.INTERVAL: pa.int64(), Kind.DATE: pa.int32()}


def user_value(function: UserFunction, args: list[Any]) -> Any:
    """Arguments and result are in physical form."""
    if function.strict and None in args:
        return None
    try:
        return single_value(function, args) if function.compiled else _of_one_row(function, args)
    except OstinatoError:
        raise
    except Exception as cause:  # whatever the function raises is its own
        raise failed(function, cause) from cause


def single_value(function: UserFunction, args: list[Any]) -> Any:
    """Of a function over single values, by Python."""
    found = function.body(*args)
    if found is None:
        return None
    if function.returns.kind is Kind.FLOAT:
        return float(found)
    if function.returns.kind is Kind.BOOL:
        return bool(found)
    if int(found) not in INT64:
        raise overflow(function.returns)
    return int(found)


def _of_one_row(function: UserFunction, args: list[Any]) -> Any:
    columns = [one_row(value, type_) for value, type_ in zip(args, function.takes, strict=True)]
    return _physical(as_declared(function, function.body(*columns), 1), function.returns)


def one_row(value: Any, type_: Type) -> pa.Array:
    """A column of one value."""
    target = to_arrow(type_)
    if type_.kind in _WORDS:
        return pa.array([value], _WORDS[type_.kind]).cast(target)
    try:
        return pa.array([from_physical(value, type_)], target)
    except (pa.ArrowInvalid, OverflowError) as cause:
        raise DataError(f"A value does not fit {target}", detail=str(cause)) from None


def _physical(array: pa.Array, type_: Type) -> Any:
    if type_.kind in _WORDS:
        return array.cast(_WORDS[type_.kind])[0].as_py()
    value = to_physical(array[0].as_py(), type_)
    if type_.kind is Kind.INT and value is not None and value not in INT64:
        raise overflow(type_)
    return value


def as_declared(function: FunctionSignature, returned: object, length: int) -> pa.Array:
    """What a function over columns returned, if it is what it said: a row for every row, of its type."""
    if not isinstance(returned, pa.Array | pa.ChunkedArray):
        raise _misdeclared(function, f"a {type(returned).__module__}.{type(returned).__name__}", "Return a pyarrow array: pa.array(...)")
    if len(returned) != length:
        raise _misdeclared(function, f"{len(returned)} rows for {length}", "It is given columns, and returns a value for every row")
    array = returned.combine_chunks() if isinstance(returned, pa.ChunkedArray) else returned
    target = to_arrow(function.returns)
    if pa.types.is_null(array.type):
        return pa.nulls(length, target)
    if array.type != target and from_arrow(array.type) != function.returns:
        raise _misdeclared(function, f"values of the type {array.type}", f"It is registered with returns={target}: cast them")
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array if array.type == target else array.cast(target)


def _misdeclared(function: FunctionSignature, what: str, hint: str) -> TypeMismatchError:
    return TypeMismatchError(f"The function {function} returned {what}", hint=hint)


def failed(function: FunctionSignature, cause: BaseException | None) -> DataError:
    return DataError(failure_text(function, cause), hint=HINT)


HINT = "A function is called for every row, also for those that other conditions refuse"


def failure_text(function: FunctionSignature, cause: BaseException | None) -> str:
    said = "" if cause is None else " ".join(f"{type(cause).__name__}: {cause}".split())
    return f"The function {function.name} failed" + (f": {said[:LONGEST]}" if said else "")
