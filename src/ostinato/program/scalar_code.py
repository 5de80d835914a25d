"""Conditions that look at the match: code over one row and the registers of one partial match."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.expr.types import Type
from ostinato.expr.user_function import FunctionSignature
from ostinato.program.column_code import ColumnCode


@dataclass(frozen=True)
class ColumnCall:
    """What scalar code has no operation for (`upper`, `||`): column code of one result over the values that it is called with, which are
    its inputs "0", "1", ... It is computed for one row at a time."""

    takes: tuple[Type, ...]
    columns: ColumnCode

    @property
    def returns(self) -> Type:
        return self.columns.ops[self.columns.results[0]].type

    @property
    def name(self) -> str:
        last = self.columns.ops[self.columns.results[0]]
        return str(last.params[0]) if last.op == "call" else last.op


@dataclass(frozen=True)
class ScalarCode:
    """Code over one row and the registers of one run; opcodes in `program.opcodes`. Parallel arrays, a block per condition."""

    op: tuple[int, ...] = ()
    a: tuple[int, ...] = ()
    b: tuple[int, ...] = ()
    c: tuple[int, ...] = ()
    ints: tuple[int, ...] = ()  # constants
    floats: tuple[float, ...] = ()
    strings: tuple[str, ...] = ()  # constants, given session codes when a session opens
    blocks: tuple[tuple[int, int], ...] = ()  # [start, end) of each block
    functions: tuple[FunctionSignature | ColumnCall, ...] = ()  # that it calls; with those of users themselves where it shall run


@dataclass(frozen=True)
class Register:
    """A value that a run carries. At first it is 0 for a counter, the number of the match for `number`, null otherwise."""

    name: str
    type: Type
    counter: bool = False
    number: bool = False
