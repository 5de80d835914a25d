"""AND, OR, NOT, tests, COALESCE and CASE, in three-valued logic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ostinato.expr.types import BOOL, Kind, Type
from ostinato.kernels.vectors.dictionaries import unified
from ostinato.kernels.vectors.nulls import all_valid, false_rows, joint_failure, narrowed, true_rows
from ostinato.kernels.vectors.vector import Failure, Vector


def decide(args: Sequence[Vector], deciding: bool) -> Vector:
    """AND (deciding False) and OR (deciding True). One deciding operand settles a row, whatever the others are, errors included."""
    combine = np.logical_or if deciding else np.logical_and
    if all(arg.valid is None and arg.failure is None for arg in args):
        data = args[0].data
        for arg in args[1:]:
            data = combine(data, arg.data)
        return Vector(BOOL, data)
    settled = np.zeros(1, np.bool_)
    for arg in args:
        rows = true_rows(arg) if deciding else false_rows(arg)
        if arg.failure is not None:
            rows = rows & ~arg.failure.rows
        settled = settled | rows
    known = all_valid(args)
    valid = None if known is None else known | settled
    return Vector(BOOL, settled if deciding else ~settled, valid, None, narrowed(joint_failure(*(a.failure for a in args)), ~settled))


def conjunction(type_: Type, args: Sequence[Vector]) -> Vector:
    return decide(args, False)


def disjunction(type_: Type, args: Sequence[Vector]) -> Vector:
    return decide(args, True)


def negation(type_: Type, args: Sequence[Vector]) -> Vector:
    return Vector(BOOL, ~args[0].data, args[0].valid)


def is_null(type_: Type, args: Sequence[Vector]) -> Vector:
    valid = args[0].valid
    return Vector(BOOL, np.zeros(len(args[0]), np.bool_) if valid is None else ~valid)


def is_not_null(type_: Type, args: Sequence[Vector]) -> Vector:
    valid = args[0].valid
    return Vector(BOOL, np.ones(len(args[0]), np.bool_) if valid is None else valid)


def is_true(type_: Type, args: Sequence[Vector]) -> Vector:
    return Vector(BOOL, true_rows(args[0]))


def is_false(type_: Type, args: Sequence[Vector]) -> Vector:
    return Vector(BOOL, false_rows(args[0]))


def coalesce(type_: Type, args: Sequence[Vector]) -> Vector:
    chosen = [(np.ones(len(arg), np.bool_) if arg.valid is None else arg.valid, arg, arg.failure) for arg in args]
    return _choose(type_, [(rows, arg, failure) for rows, arg, failure in chosen], None)


def case(type_: Type, args: Sequence[Vector]) -> Vector:
    """(condition, value) pairs, then the value of the rest."""
    pairs = list(zip(args[:-1:2], args[1:-1:2], strict=True))
    return _choose(type_, [(true_rows(c), value, c.failure) for c, value in pairs], args[-1])


def _choose(type_: Type, branches: list[tuple[np.ndarray, Vector, Failure | None]], rest: Vector | None) -> Vector:
    """Per row the value of the first branch that holds. A branch has the rows where it holds, its value, and where it cannot be told;
    that, and failures of values, matter only in the rows that come to them."""
    values = [value for _, value, _ in branches] + ([rest] if rest is not None else [])
    datas, dictionary = _common_data(type_, values)
    data = datas[-1]
    nothing = np.zeros(1, np.bool_)
    valid = nothing if rest is None else _valid_of(rest)
    failure = None if rest is None else rest.failure
    for (rows, value, unclear), own in zip(reversed(branches), reversed(datas[: len(branches)]), strict=True):
        data = np.where(rows, own, data)
        valid = np.where(rows, _valid_of(value), valid)
        failure = joint_failure(unclear, narrowed(value.failure, rows), narrowed(failure, ~rows))
    return Vector(type_, data, None if valid.all() else valid, dictionary, failure)


def _valid_of(vector: Vector) -> np.ndarray:
    return np.ones(1, np.bool_) if vector.valid is None else vector.valid


def _common_data(type_: Type, values: Sequence[Vector]) -> tuple[list[np.ndarray], pa.Array | None]:
    if type_.kind is Kind.STRING:
        return unified(values)
    return [value.data for value in values], None
