"""Rows that wait for their turn are looked at when they come: a value that a condition cannot compute then stops the query at the batch
that brings it, and not later, when the row is already part of the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ostinato.kernels.vectors.evaluate import evaluate
from ostinato.kernels.vectors.functions import CAN_FAIL
from ostinato.kernels.vectors.vector import Vector
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.pattern import Pattern


class ArrivalCheck:
    """Of the conditions that look at one row alone: neighbours are known only when all rows are in order."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        codes = dict.fromkeys(_fallible_alone(pattern.rows) for pattern in patterns)
        self._codes = [code for code in codes if code.results]

    def __bool__(self) -> bool:
        return bool(self._codes)

    def check(self, columns: Mapping[str, Vector], count: int) -> None:
        for code in self._codes:
            evaluate(code, count, columns.__getitem__)


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
