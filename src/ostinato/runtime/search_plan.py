"""The searches of a program as the tables that the kernel reads, and the code that computes values and bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ostinato.kernels import search_index as index
from ostinato.kernels import thread_jumps as jumps
from ostinato.kernels.scalar import Interpreter
from ostinato.program.opcodes import NULL_OPERAND, SPACES, Op, Space
from ostinato.program.program import Program, ScalarCode
from ostinato.program.searches import Comparison, Operand, Search, searched_moves


@dataclass(frozen=True)
class SearchPlan:
    """`searched`, `bounds` and `columns` are tables of `kernels.thread_jumps` and `kernels.search_index`; `waits` are the automaton
    states in which threads wait."""

    interpreter: Interpreter
    searched: np.ndarray
    bounds: np.ndarray
    columns: np.ndarray
    waits: frozenset[int]


def search_plan(program: Program) -> SearchPlan:
    """The interpreter's code is that of the program, and behind it what searches compute."""
    assert program.nfa is not None
    found = searched_moves(program)
    appended = _AppendedCode(program.scalar)
    for search in found.values():
        for comparison in search.comparisons:
            appended.block_of(comparison.value, Space.SLOT)
            appended.block_of(comparison.bound, Space.REGISTER)
    tables = _Tables(Interpreter(appended.code), appended)
    searched = np.full((len(program.nfa.moves), jumps.SEARCHED_WIDTH), -1, np.int64)
    for number, search in found.items():
        searched[number] = tables.add(search, program.tests[search.variable].bit >= 0)
    first = program.nfa.first
    waits = frozenset(state for state in range(len(first) - 1) if any(m in found for m in range(first[state], first[state + 1])))
    return SearchPlan(
        tables.interpreter, searched, _table(tables.bounds, jumps.BOUND_WIDTH), _table(tables.columns, index.COLUMN_WIDTH), waits
    )


def _table(lines: list[tuple[int, ...]], width: int) -> np.ndarray:
    return np.array(lines, np.int64).reshape(-1, width)


class _AppendedCode:
    """Blocks that compute one operand each and leave it in a temporary of its own."""

    def __init__(self, code: ScalarCode) -> None:
        self.code = code
        self._numbers: dict[Operand, int] = {}

    def block_of(self, operand: Operand, plain: Space) -> int:
        """The number of the block, -1 if the operand can be read as it is."""
        if operand.word % SPACES == plain:
            return -1
        if operand not in self._numbers:
            self._numbers[operand] = len(self.code.blocks)
            self._append(operand)
        return self._numbers[operand]

    def _append(self, operand: Operand) -> None:
        old = self.code
        lines = [(old.op[at], old.a[at], old.b[at], old.c[at]) for at in operand.lines]
        lines.append((int(Op.MOVE), operand.word, NULL_OPERAND, max(old.c, default=0) + 1))
        op, a, b, c = (tuple(column) for column in zip(*lines, strict=True))
        block = (len(old.op), len(old.op) + len(lines))
        self.code = replace(old, op=old.op + op, a=old.a + a, b=old.b + b, c=old.c + c, blocks=(*old.blocks, block))


class _Tables:
    def __init__(self, interpreter: Interpreter, appended: _AppendedCode) -> None:
        self.interpreter = interpreter
        self._appended = appended
        self.bounds: list[tuple[int, ...]] = []
        self.columns: list[tuple[int, ...]] = []

    def add(self, search: Search, bits: bool) -> tuple[int, int, int]:
        """The line of a move in `searched`."""
        if not search.comparisons and not bits:
            return -1, 0, 0
        begin = len(self.bounds)
        self.bounds += [self._bound(comparison) for comparison in search.comparisons]
        column = (*self._value(search.comparisons), search.variable, int(search.loop))
        if column not in self.columns:
            self.columns.append(column)
        return self.columns.index(column), begin, len(self.bounds)

    def _bound(self, comparison: Comparison) -> tuple[int, ...]:
        return (*self._place(comparison.bound, Space.REGISTER), comparison.relation, int(comparison.floats))

    def _value(self, comparisons: tuple[Comparison, ...]) -> tuple[int, ...]:
        if not comparisons:
            return 0, 0, 0, 0, 0
        return (*self._place(comparisons[0].value, Space.SLOT), int(comparisons[0].floats), 1)

    def _place(self, operand: Operand, plain: Space) -> tuple[int, int, int]:
        """The lines of code that compute an operand, and where it is then."""
        block = self._appended.block_of(operand, plain)
        if block < 0:
            return 0, 0, operand.word // SPACES
        start, end = (int(bound) for bound in self.interpreter.blocks[block])
        return start, end, int(self.interpreter.code[end - 1, 3])
