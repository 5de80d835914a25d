"""Which predicate bits no row can have together: those that ask for different values of one column, such as the event type."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.column_code import ColumnCode
from ostinato.program.pattern import Pattern


class DisjointBits:
    def __init__(self, pattern: Pattern) -> None:
        self._wanted = [dict(_wanted(pattern.rows, pattern.rows.results[bit])) for bit in range(pattern.bits)]

    def __call__(self, one: int, other: int) -> bool:
        """Whether it is known that no row has both; -1 is what every row has."""
        if one < 0 or other < 0:
            return False
        wanted = self._wanted[other]
        return any(column in wanted and wanted[column] != value for column, value in self._wanted[one].items())


def _wanted(code: ColumnCode, number: int) -> Iterator[tuple[str, str]]:
    """The texts that columns have where an operation is true."""
    op = code.ops[number]
    if op.op == "call" and op.params[0] == "and":
        for arg in op.args:
            yield from _wanted(code, arg)
    elif op.op == "call" and op.params[0] == "eq":
        for one, other in (op.args, op.args[::-1]):
            column, literal = code.ops[one], code.ops[other]
            if column.op == "input" and literal.op == "literal" and isinstance(literal.params[0], str):
                yield column.params[0], literal.params[0]
