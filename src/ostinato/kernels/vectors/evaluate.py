"""Runs column code: one NumPy operation after another, over whole columns or in blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ostinato.base.errors import DataError, UnsupportedError
from ostinato.expr.typing.physical import to_physical
from ostinato.expr.typing.types import BOOL, Kind
from ostinato.kernels.vectors.casts import cast
from ostinato.kernels.vectors.functions import LENIENT, STRICT
from ostinato.kernels.vectors.logic import case
from ostinato.kernels.vectors.nulls import joint_failure
from ostinato.kernels.vectors.schedule import Stage, schedule
from ostinato.kernels.vectors.vector import Failure, Vector, constant, physical_dtype
from ostinato.program.column_code import ColumnCode, ColumnOp

BLOCK = 1 << 16
NO_COLUMNS = ("aggregate:", "exists:", "there:", "match:", "match_number:", "classifier:")  # inputs that have no name of their own

Inputs = Callable[[str], Vector]
Shift = Callable[[Vector, int], Vector]


def no_neighbours(vector: Vector, n: int) -> Vector:
    raise AssertionError("this code has no shifts: its rows have no neighbours")


def evaluate(code: ColumnCode, length: int, inputs: Inputs, shift: Shift = no_neighbours, names: Sequence[str] = ()) -> list[Vector]:
    """The result columns, each of `length` rows. A value that is needed and cannot be computed is a DataError, which says where: by the
    result's name, if results have names, and by the columns that it is computed from."""
    return Evaluator(code, names).evaluate(length, inputs, shift)


class Evaluator:
    """Column code that is evaluated often: what does not depend on the rows is done once."""

    def __init__(self, code: ColumnCode, names: Sequence[str] = ()) -> None:
        self._code = code
        self._names = names
        self._stages = schedule(code)
        self._literals = {i: constant(to_physical(op.params[0], op.type), op.type) for i, op in enumerate(code.ops) if op.op == "literal"}

    def evaluate(self, length: int, inputs: Inputs, shift: Shift = no_neighbours) -> list[Vector]:
        """See `evaluate`."""
        evaluation = _Evaluation(self._code, length, inputs, shift, self._literals)
        with np.errstate(all="ignore"):
            for stage in self._stages:
                evaluation.run(stage)
        for number, result in enumerate(self._code.results):
            _check(evaluation.done[result], length, self._code, number, self._names)
        return [_finished(evaluation.done[result], length) for result in self._code.results]


class _Evaluation:
    def __init__(self, code: ColumnCode, length: int, inputs: Inputs, shift: Shift, literals: Mapping[int, Vector]) -> None:
        self.code = code
        self.length = length
        self.inputs = inputs
        self.shift = shift
        self.done: dict[int, Vector] = dict(literals)

    def run(self, stage: Stage) -> None:
        for i in stage.whole:
            if i not in self.done:
                self.done[i] = self._whole(self.code.ops[i])
        if self.length <= BLOCK:
            self._compute(stage.blocked, self.done)
            return
        columns = {i: _Assembled(self.code.ops[i], self.length) for i in stage.kept}
        for start in range(0, self.length, BLOCK):
            end = min(start + BLOCK, self.length)
            values = {i: _sliced(self.done[i], start, end, self.length) for i in self._read_by(stage.blocked)}
            self._compute(stage.blocked, values)
            for i, column in columns.items():
                column.put(values[i], start, end)
        self.done.update({i: column.vector() for i, column in columns.items()})

    def _read_by(self, blocked: Iterable[int]) -> set[int]:
        return {arg for i in blocked for arg in self.code.ops[i].args if arg in self.done}

    def _compute(self, blocked: Iterable[int], values: dict[int, Vector]) -> None:
        for i in blocked:
            op = self.code.ops[i]
            values[i] = _applied(op, [values[arg] for arg in op.args])

    def _whole(self, op: ColumnOp) -> Vector:
        if op.op == "input":
            return _as_declared(self.inputs(op.params[0]), op)
        args = [self.done[arg] for arg in op.args]
        if op.op == "shift":
            return self._shifted(_spread(args[0], self.length), op)
        return _applied(op, args)

    def _shifted(self, vector: Vector, op: ColumnOp) -> Vector:
        moved = self.shift(Vector(vector.type, vector.data, vector.valid, vector.dictionary), op.params[0])
        failure = vector.failure
        if failure is not None:
            rows = self.shift(Vector(BOOL, np.broadcast_to(failure.rows, (self.length,)).copy()), op.params[0])
            failure = Failure(rows.data if rows.valid is None else rows.data & rows.valid, failure.message, failure.hint)
        return Vector(op.type, moved.data, moved.valid, moved.dictionary, failure)


def _applied(op: ColumnOp, args: list[Vector]) -> Vector:
    if op.op == "case":
        return case(op.type, args)
    if op.op == "cast":
        found = cast(args[0], op.type)
    elif op.op == "call" and op.params[0] in LENIENT:
        return LENIENT[op.params[0]](op.type, args)
    elif op.op == "call" and op.params[0] in STRICT:
        found = STRICT[op.params[0]](op.type, args)
    else:
        raise UnsupportedError(f"Column code has no operation {op.op} {op.params}")
    failure = joint_failure(found.failure, *(arg.failure for arg in args))
    return Vector(op.type, found.data, found.valid, found.dictionary, failure)


def _as_declared(vector: Vector, op: ColumnOp) -> Vector:
    """A batch whose column is all null, or a decimal of another scale, is brought to the type that the code was made for."""
    if vector.type.kind is op.type.kind and vector.type.scale == op.type.scale and vector.type.unit == op.type.unit:
        return Vector(op.type, vector.data, vector.valid, vector.dictionary)
    return cast(vector, op.type)


def _sliced(vector: Vector, start: int, end: int, length: int) -> Vector:
    def part(array: Any) -> Any:
        return array if array is None or len(array) != length else array[start:end]

    failure = vector.failure
    if failure is not None:
        failure = Failure(part(failure.rows), failure.message, failure.hint)
    return Vector(vector.type, part(vector.data), part(vector.valid), vector.dictionary, failure)


class _Assembled:
    """A column put together from its blocks."""

    def __init__(self, op: ColumnOp, length: int) -> None:
        self.type = op.type
        self.data = np.empty(length, physical_dtype(op.type))
        self.valid: np.ndarray | None = None
        self.failure: Failure | None = None

    def put(self, block: Vector, start: int, end: int) -> None:
        self.data[start:end] = block.data
        if block.valid is not None:
            if self.valid is None:
                self.valid = np.ones(len(self.data), np.bool_)
            self.valid[start:end] = block.valid
        if block.failure is not None:
            if self.failure is None:
                self.failure = Failure(np.zeros(len(self.data), np.bool_), block.failure.message, block.failure.hint)
            self.failure.rows[start:end] = block.failure.rows

    def vector(self) -> Vector:
        return Vector(self.type, self.data, self.valid, None, self.failure)


def _spread(vector: Vector, length: int) -> Vector:
    """As many rows as there are, where one stood for all."""

    def full(array: Any) -> Any:
        return array if array is None or len(array) == length else np.repeat(array, length)

    return Vector(vector.type, full(vector.data), full(vector.valid), vector.dictionary, vector.failure)


def _check(vector: Vector, length: int, code: ColumnCode, number: int, names: Sequence[str]) -> None:
    if vector.failure is None or not length or not vector.failure.rows.any():
        return
    columns = sorted({name.rpartition(":")[2] for name in _read_for(code, code.results[number]) if not name.startswith(NO_COLUMNS)})
    place = [f"in `{names[number]}`"] if names else []
    place += [f"computed from {', '.join(f'`{name}`' for name in columns)}"] if columns else []
    detail = ", ".join(place)
    raise DataError(vector.failure.message, detail=detail[:1].upper() + detail[1:] or None, hint=vector.failure.hint)


def _read_for(code: ColumnCode, wanted: int) -> set[str]:
    """The inputs that an operation depends on."""
    return {code.ops[number].params[0] for number in code.needed_for(wanted) if code.ops[number].op == "input"}


def _finished(vector: Vector, length: int) -> Vector:
    found = _spread(vector, length)
    if found.type.kind is Kind.STRING and found.valid is not None and len(found.dictionary):
        found.data = np.where(found.valid, found.data, 0)
    return Vector(found.type, found.data, found.valid, found.dictionary)
