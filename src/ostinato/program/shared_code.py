"""Code of several patterns over the same rows, as one: what they have in common is computed once."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.program.column_code import ColumnCode, ColumnOp


def shared_code(codes: Sequence[ColumnCode]) -> tuple[ColumnCode, list[tuple[int, ...]]]:
    """The code, and for each of the given ones which of its results are theirs, in their order."""
    if len(codes) == 1:
        return codes[0], [tuple(range(len(codes[0].results)))]
    ops: list[ColumnOp] = []
    numbers: dict[object, int] = {}
    results: dict[int, int] = {}
    wanted = []
    for code in codes:
        number: list[int] = []
        for op in code.ops:
            moved = ColumnOp(op.op, tuple(number[arg] for arg in op.args), op.type, op.params)
            same = (moved.op, moved.args, moved.type, repr(moved.params))  # as text: 0.0 and -0.0 are equal, and not the same
            if same not in numbers:
                numbers[same] = len(ops)
                ops.append(moved)
            number.append(numbers[same])
        wanted.append(tuple(results.setdefault(number[result], len(results)) for result in code.results))
    return ColumnCode(tuple(ops), tuple(results)), wanted
