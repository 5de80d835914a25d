"""Rows that wait for their turn are looked at when they come: a value that a condition cannot compute then stops the query at the batch
that brings it, and not later, when the row is already part of the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ostinato.base.errors import OstinatoError
from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.functions import CAN_FAIL
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.pattern import Pattern


class ArrivalCheck:
    """Of the conditions that look at one row alone: neighbours are known only when all rows are in order."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._places: dict[ColumnCode, list[int]] = {}  # of the patterns that have this code
        for place, pattern in enumerate(patterns):
            code = _fallible_alone(pattern.rows)
            if code.results:
                self._places.setdefault(code, []).append(place)

    def __bool__(self) -> bool:
        return bool(self._places)

    def failing(self, columns: Mapping[str, Vector], count: int) -> Iterator[tuple[int, OstinatoError]]:
        """The patterns that cannot take these rows, by their places, each with its error."""
        for code, places in self._places.items():
            try:
                evaluate(code, count, columns.__getitem__)
            except OstinatoError as error:
                yield from ((place, error) for place in places)


def can_fail(code: ColumnCode) -> bool:
    """Whether there are values that it cannot be computed of."""
    return any(map(_can_fail, code.ops))


@lru_cache(64)  # on a Spark stream every micro-batch opens sessions of the same program
def _fallible_alone(code: ColumnCode) -> ColumnCode:
    """The results that may fail and do not depend on other rows, with the operations that they need."""
    looks_around: list[bool] = []
    may_fail: list[bool] = []
    for op in code.ops:
        looks_around.append(op.op == "shift" or any(looks_around[arg] for arg in op.args))
        may_fail.append(_can_fail(op) or any(may_fail[arg] for arg in op.args))
    chosen = [result for result in code.results if may_fail[result] and not looks_around[result]]
    place = {number: i for i, number in enumerate(sorted(code.needed_for(*chosen)))}
    ops = (code.ops[number] for number in place)
    moved = tuple(ColumnOp(op.op, tuple(place[arg] for arg in op.args), op.type, op.params) for op in ops)
    return ColumnCode(moved, tuple(place[result] for result in chosen))


def _can_fail(op: ColumnOp) -> bool:
    return op.op in ("cast", "user") or (op.op == "call" and op.params[0] in CAN_FAIL)
