"""The order in which column code is evaluated: what needs whole columns, and what may go block by block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ostinato.expr.types import Kind
from ostinato.program.column_code import ColumnCode, ColumnOp


@dataclass(frozen=True)
class Stage:
    """Operations over whole columns, then operations block by block. `kept` are those of the latter that are needed afterwards."""

    whole: tuple[int, ...]
    blocked: tuple[int, ...]
    kept: tuple[int, ...]


@lru_cache(256)
def schedule(code: ColumnCode) -> tuple[Stage, ...]:
    """Shifts look at neighbouring rows, strings at dictionaries: both need whole columns, and functions of users are called once.
    Arithmetic and comparisons are done in blocks, so that what lies between them stays in the processor's cache."""
    wide = [_needs_whole(op, code) for op in code.ops]
    stage = _stages(code, wide)
    needed = _needed_later(code, wide, stage)
    stages = []
    for number in range(max(stage, default=-1) + 1):
        mine = [i for i, own in enumerate(stage) if own == number]
        blocked = tuple(i for i in mine if not wide[i])
        stages.append(Stage(tuple(i for i in mine if wide[i]), blocked, tuple(i for i in blocked if i in needed)))
    return tuple(stages)


def _needs_whole(op: ColumnOp, code: ColumnCode) -> bool:
    if op.op in ("input", "literal", "shift", "user") or op.type.kind is Kind.STRING:
        return True
    return any(code.ops[arg].type.kind is Kind.STRING for arg in op.args)


def _stages(code: ColumnCode, wide: list[bool]) -> list[int]:
    found: list[int] = []
    for i, op in enumerate(code.ops):
        after = [found[arg] + (wide[i] and not wide[arg]) for arg in op.args]
        found.append(max(after, default=0))
    return found


def _needed_later(code: ColumnCode, wide: list[bool], stage: list[int]) -> set[int]:
    needed = set(code.results)
    for i, op in enumerate(code.ops):
        needed.update(arg for arg in op.args if wide[i] or stage[arg] != stage[i])
    return needed
