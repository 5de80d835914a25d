"""Columns of functions that were added to the language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.expr.types import Type
from ostinato.expr.user_function import FunctionSignature, UserFunction, linked
from ostinato.expr.values.user_values import HINT, as_declared, failure_text
from ostinato.kernels.scalar.arithmetic import IS_NULL, IS_VALUE
from ostinato.kernels.scalar.compiled_functions import CompiledFunction, compiled
from ostinato.kernels.scalar.function_calls import invoke_all
from ostinato.kernels.vectors.nulls import all_valid, common_length, joint_failure, joint_valid
from ostinato.kernels.vectors.vector import Failure, Vector, from_arrow, physical_dtype, to_arrow

Function = Callable[[Type, Sequence[Vector]], Vector]


def user_call(signature: FunctionSignature) -> Function:
    """As the functions of `kernels.vectors.functions`."""
    function = linked(signature)
    if function.compiled:
        return _of_single_values(function, compiled(function))
    return _over_columns(function)


def _of_single_values(function: UserFunction, entry: CompiledFunction) -> Function:
    """Row by row in compiled code. A row of arguments is words side by side, as in scalar code."""

    def apply(type_: Type, args: Sequence[Vector]) -> Vector:
        length, count = common_length(args), len(args)
        words, flags = np.empty((length, count), np.int64), np.empty((length, count), np.uint8)
        for number, arg in enumerate(args):
            words[:, number] = arg.data.view(np.int64) if arg.data.dtype == np.float64 else arg.data
            flags[:, number] = IS_VALUE if arg.valid is None else arg.valid
        results, found = np.zeros(length, np.int64), np.empty(length, np.uint8)
        invoke_all(entry.address, words.reshape(-1), flags.reshape(-1), count, results, found)
        failure = None
        if (found > IS_VALUE).any():
            cause = entry.cause()
            failure = Failure(found > IS_VALUE, failure_text(function, cause), HINT, cause)
        valid = None if (found != IS_NULL).all() else found != IS_NULL
        return Vector(type_, _as_held(results, type_), valid, None, failure)

    return apply


def _as_held(words: np.ndarray, type_: Type) -> np.ndarray:
    dtype = physical_dtype(type_)
    return words.view(np.float64) if dtype == np.float64 else words.astype(dtype, copy=False)


def _over_columns(function: UserFunction) -> Function:
    def apply(type_: Type, args: Sequence[Vector]) -> Vector:
        length = common_length(args)
        columns = [to_arrow(_of_length(arg, wanted, length)) for arg, wanted in zip(args, function.takes, strict=True)]
        found, failure = _called(function, columns, length)
        own = from_arrow(found, type_)
        valid = joint_valid(own.valid, all_valid(args)) if function.strict else own.valid
        return Vector(type_, own.data, valid, own.dictionary, failure)

    return apply


def _of_length(vector: Vector, type_: Type, length: int) -> Vector:
    """In the type that the function takes, one row that stands for all repeated."""

    def full(array: Any) -> Any:
        return array if array is None or len(array) == length else np.repeat(array, length)

    return Vector(type_, full(vector.data), full(vector.valid), vector.dictionary)


def _called(function: UserFunction, columns: list[pa.Array], length: int) -> tuple[pa.Array, Failure | None]:
    """Where it fails, it is called with parts of the rows, to see which are to blame: the others have a value."""
    if not length:
        return as_declared(function, pa.nulls(0), 0), None
    try:
        return as_declared(function, function.body(*columns), length), None
    except OstinatoError:
        raise
    except Exception as cause:  # whatever the function raises is its own; it is an error where somebody needs the value
        if length == 1:
            return as_declared(function, pa.nulls(1), 1), Failure(np.ones(1, np.bool_), failure_text(function, cause), HINT, cause)
    middle = length // 2
    halves = [(middle, [column[:middle] for column in columns]), (length - middle, [column[middle:] for column in columns])]
    (first, first_failure), (second, second_failure) = (_called(function, part, count) for count, part in halves)
    return pa.concat_arrays([first, second]), _side_by_side(first_failure, middle, second_failure, length - middle)


def _side_by_side(first: Failure | None, first_count: int, second: Failure | None, second_count: int) -> Failure | None:
    none = [np.zeros(count, np.bool_) for count in (first_count, second_count)]
    parts = [(first, none[0] if first is None else first.rows, none[1]), (second, none[0], none[1] if second is None else second.rows)]
    return joint_failure(*(failure.at(np.concatenate([left, right])) for failure, left, right in parts if failure is not None))
