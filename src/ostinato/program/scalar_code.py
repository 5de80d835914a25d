"""Conditions that look at the match: code over one row and the registers of one partial match."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.expr.types import Type
from ostinato.expr.user_function import FunctionSignature


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
    functions: tuple[FunctionSignature, ...] = ()  # that it calls; with the functions themselves where it shall run


@dataclass(frozen=True)
class Register:
    """A value that a run carries. At first it is 0 for a counter, the number of the match for `number`, null otherwise."""

    name: str
    type: Type
    counter: bool = False
    number: bool = False
