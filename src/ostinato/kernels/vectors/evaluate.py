"""Runs column code: one NumPy operation after another, over whole columns or in blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ostinato.base.errors import DataError, UnsupportedError
from ostinato.expr.types import BOOL, Kind, Type
from ostinato.expr.typing.physical import to_physical
from ostinato.kernels.vectors.casts import cast
from ostinato.kernels.vectors.functions import CAN_FAIL, LENIENT, STRICT, Function
from ostinato.kernels.vectors.logic import case
from ostinato.kernels.vectors.nulls import joint_failure
from ostinato.kernels.vectors.schedule import Stage, schedule
from ostinato.kernels.vectors.user_calls import user_call
from ostinato.kernels.vectors.vector import Failure, Vector, constant, physical_dtype
from ostinato.program.column_code import ColumnCode, ColumnOp

BLOCK = 1 << 16
NO_ARITHMETIC = ("input", "literal", "shift", "case")  # operations besides some calls of which NumPy has nothing to say
NO_COLUMNS = ("aggregate:", "exists:", "there:", "match:", "match_number:", "classifier:")  # inputs that have no name of their own

Inputs = Callable[[str], Vector]
Shift = Callable[[Vector, int], Vector]
Operation = Callable[[Sequence[Vector]], Vector]


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
        self._operations = [_operation(op) for op in code.ops]
        self._warns = not all(op.op in NO_ARITHMETIC or (op.op == "call" and op.params[0] not in CAN_FAIL) for op in code.ops)

    def evaluate(self, length: int, inputs: Inputs, shift: Shift = no_neighbours) -> list[Vector]:
        """See `evaluate`."""
        evaluation = _Evaluation(self._code, length, inputs, shift, self._literals, self._operations)
        if length > BLOCK or self._warns:
            with np.errstate(all="ignore"):
                evaluation.run_all(self._stages)
        else:
            evaluation.run_through()  # to say that nothing is to be said takes longer than a comparison of few rows
        results = [evaluation.done[result] for result in self._code.results]
        for number, result in enumerate(results):
            if result.failure is not None:
                _check(result, length, self._code, number, self._names)
        return [_finished(result, length) for result in results]


class _Evaluation:
    def __init__(
        self,
        code: ColumnCode,
        length: int,
        inputs: Inputs,
        shift: Shift,
        literals: Mapping[int, Vector],
        operations: Sequence[Operation],
    ) -> None:
        self.code = code
        self.length = length
        self.inputs = inputs
        self.shift = shift
        self.operations = operations
        self.done: dict[int, Vector] = dict(literals)

    def run_all(self, stages: Iterable[Stage]) -> None:
        if self.length <= BLOCK:
            self.run_through()
        else:
            for stage in stages:
                self.run(stage)

    def run_through(self) -> None:
        """Columns that are one block: an operation after the other."""
        done, operations = self.done, self.operations
        for i, op in enumerate(self.code.ops):
            if op.op == "call":
                done[i] = operations[i]([done[arg] for arg in op.args])
            elif i not in done:
                done[i] = self._whole(i, op)

    def run(self, stage: Stage) -> None:
        for i in stage.whole:
            if i not in self.done:
                self.done[i] = self._whole(i, self.code.ops[i])
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
            values[i] = self.operations[i]([values[arg] for arg in self.code.ops[i].args])

    def _whole(self, number: int, op: ColumnOp) -> Vector:
        if op.op == "input":
            return _as_declared(self.inputs(op.params[0]), op)
        args = [self.done[arg] for arg in op.args]
        if op.op == "shift":
            column = args[0] if len(args[0].data) == self.length else _spread(args[0], self.length)
            return self._shifted(column, op)
        return self.operations[number](args)

    def _shifted(self, vector: Vector, op: ColumnOp) -> Vector:
        failure = vector.failure
        if failure is None:
            moved = self.shift(vector, op.params[0])
        else:
            moved = self.shift(Vector(vector.type, vector.data, vector.valid, vector.dictionary), op.params[0])
            rows = self.shift(Vector(BOOL, np.broadcast_to(failure.rows, (self.length,)).copy()), op.params[0])
            failure = failure.at(rows.data if rows.valid is None else rows.data & rows.valid)
        return Vector(op.type, moved.data, moved.valid, moved.dictionary, failure)


def _operation(op: ColumnOp) -> Operation:
    """What an operation does to its arguments."""
    if op.op == "case":
        return lambda args: case(op.type, args)
    if op.op == "cast":
        return _passing_failures(op.type, lambda type_, args: cast(args[0], type_))
    if op.op == "call" and op.params[0] in LENIENT:
        lenient = LENIENT[op.params[0]]
        return lambda args: lenient(op.type, args)
    if op.op == "call" and op.params[0] in STRICT:
        return _passing_failures(op.type, STRICT[op.params[0]])
    if op.op == "user":
        return _passing_failures(op.type, user_call(op.params[0]))
    return lambda args: _unknown(op)


def _passing_failures(type_: Type, function: Function) -> Operation:
    """What cannot be computed of an argument cannot be of the result."""

    def apply(args: Sequence[Vector]) -> Vector:
        found = function(type_, args)
        failure = found.failure
        for arg in args:
            if arg.failure is not None:
                failure = joint_failure(failure, arg.failure)
        if found.type is type_ and failure is found.failure:
            return found
        return Vector(type_, found.data, found.valid, found.dictionary, failure)

    return apply


def _unknown(op: ColumnOp) -> Vector:
    raise UnsupportedError(f"Column code has no operation {op.op} {op.params}")


def _as_declared(vector: Vector, op: ColumnOp) -> Vector:
    """A batch whose column is all null, or a decimal of another scale, is brought to the type that the code was made for."""
    if vector.type is op.type:
        return vector
    if vector.type.kind is op.type.kind and vector.type.scale == op.type.scale and vector.type.unit == op.type.unit:
        return Vector(op.type, vector.data, vector.valid, vector.dictionary)
    return cast(vector, op.type)


def _sliced(vector: Vector, start: int, end: int, length: int) -> Vector:
    def part(array: Any) -> Any:
        return array if array is None or len(array) != length else array[start:end]

    failure = vector.failure
    if failure is not None:
        failure = failure.at(part(failure.rows))
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
                self.failure = block.failure.at(np.zeros(len(self.data), np.bool_))
            self.failure.rows[start:end] = block.failure.rows

    def vector(self) -> Vector:
        return Vector(self.type, self.data, self.valid, None, self.failure)


def _spread(vector: Vector, length: int) -> Vector:
    """As many rows as there are, where one stood for all."""

    def full(array: Any) -> Any:
        return array if array is None or len(array) == length else np.repeat(array, length)

    return Vector(vector.type, full(vector.data), full(vector.valid), vector.dictionary, vector.failure)


def _check(vector: Vector, length: int, code: ColumnCode, number: int, names: Sequence[str]) -> None:
    if not length or vector.failure is None or not vector.failure.rows.any():
        return
    columns = sorted({name.rpartition(":")[2] for name in _read_for(code, code.results[number]) if not name.startswith(NO_COLUMNS)})
    place = [f"in `{names[number]}`"] if names else []
    place += [f"computed from {', '.join(f'`{name}`' for name in columns)}"] if columns else []
    detail = ", ".join(place)
    failure = vector.failure
    raise DataError(failure.message, detail=detail[:1].upper() + detail[1:] or None, hint=failure.hint) from failure.cause


def _read_for(code: ColumnCode, wanted: int) -> set[str]:
    """The inputs that an operation depends on."""
    return {code.ops[number].params[0] for number in code.needed_for(wanted) if code.ops[number].op == "input"}


def _finished(vector: Vector, length: int) -> Vector:
    if len(vector.data) == length and vector.valid is None and vector.failure is None:
        return vector
    found = vector if len(vector.data) == length and (vector.valid is None or len(vector.valid) == length) else _spread(vector, length)
    data = found.data
    if found.type.kind is Kind.STRING and found.valid is not None and len(found.dictionary):
        data = np.where(found.valid, data, 0)
    return Vector(found.type, data, found.valid, found.dictionary)
