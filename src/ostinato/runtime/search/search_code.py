"""Scalar code for searches: behind a program's own blocks, one for every value of a row and every bound that has to be computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.kernels.search.search_bounds import BOUND_WIDTH, FLOAT, NARROW, WHOLE
from ostinato.program.analysis.comparisons import Comparison, Operand
from ostinato.program.opcodes import NULL_OPERAND, SPACES, Op, Space
from ostinato.program.scalar_code import ScalarCode


class SearchCode:
    """`interpreter` runs the program's code and that of the searches; `bounds` is a table of `kernels.search.search_bounds`."""

    def __init__(self, scalar: ScalarCode, comparisons: Iterable[Comparison]) -> None:
        self._blocks: dict[Operand, int] = {}
        for comparison in comparisons:
            for operand, plain in ((comparison.value, Space.SLOT), *((operand, Space.REGISTER) for operand in comparison.of_run)):
                if operand.word % SPACES != plain and operand not in self._blocks:
                    self._blocks[operand] = len(scalar.blocks)
                    scalar = _appended(scalar, operand)
        self.interpreter = Interpreter(scalar)
        self._bounds: list[tuple[int, ...]] = []

    @property
    def bounds(self) -> np.ndarray:
        return np.array(self._bounds, np.int64).reshape(-1, BOUND_WIDTH)

    def bound_all(self, comparisons: tuple[Comparison, ...]) -> tuple[int, int]:
        """Where the bounds of these comparisons stand in the table."""
        begin = len(self._bounds)
        for comparison in comparisons:
            steps = [(comparison.relation, comparison.bound), *comparison.undone]
            self._bounds += [(*self.place(operand), int(step), int(comparison.floats)) for step, operand in steps]
        return begin, len(self._bounds)

    def value_of(self, comparisons: tuple[Comparison, ...]) -> tuple[int, int, int, int]:
        """The lines of code that compute the value which these comparisons are about, where it is then, and its kind."""
        undone = any(comparison.undone for comparison in comparisons)
        kind = FLOAT if comparisons[0].floats else NARROW if undone else WHOLE
        return (*self.place(comparisons[0].value), kind)

    def place(self, operand: Operand) -> tuple[int, int, int]:
        """The lines of code that compute an operand, and where it is then; no lines and its number if it can be read as it is."""
        if operand not in self._blocks:
            return 0, 0, operand.word // SPACES
        start, end = (int(bound) for bound in self.interpreter.blocks[self._blocks[operand]])
        return start, end, int(self.interpreter.code[end - 1, 3])


def _appended(code: ScalarCode, operand: Operand) -> ScalarCode:
    """A block that leaves the operand in a temporary, which is read before anything else is computed."""
    lines = [(code.op[at], code.a[at], code.b[at], code.c[at]) for at in operand.lines]
    if operand.word % SPACES != Space.TEMP:
        lines.append((int(Op.MOVE), operand.word, NULL_OPERAND, max(code.c, default=0) + 1))
    op, a, b, c = (tuple(column) for column in zip(*lines, strict=True))
    block = (len(code.op), len(code.op) + len(lines))
    return replace(code, op=code.op + op, a=code.a + a, b=code.b + b, c=code.c + c, blocks=(*code.blocks, block))
