"""Row code that needs no columns in between: comparisons of columns and constants, as lines for `kernels.rows.row_predicates`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.physical import to_physical
from ostinato.kernels.rows import row_predicates as kernel
from ostinato.kernels.rows.key_regions import LINES
from ostinato.program.column_code import ColumnOp
from ostinato.program.pattern import Pattern
from ostinato.runtime.rows.pattern_rows import PatternRows

RELATIONS = {"eq": kernel.EQ, "ne": kernel.EQ, "lt": kernel.LT, "le": kernel.LE, "gt": kernel.LT, "ge": kernel.LE}
WORDS = (Kind.INT, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP, Kind.INTERVAL, Kind.DECIMAL)  # held in 64 bits that are compared as they are
ALL_VALID = np.empty(0, np.bool_)
NO_COLUMN = np.empty(0, np.int64)
FEW, MANY = 16, 512  # rows of a block that is used again and again, and those that are held where it is enough


class PredicateCode:
    """The row code of one pattern. `of` gives None where it asks for more than the kernel can."""

    def __init__(self, pattern: Pattern, lines: _Lines) -> None:
        self._back, self._ahead = pattern.look_back, pattern.look_ahead
        self._columns = lines.columns
        self._operands = np.array(lines.operands, np.int64).reshape(-1, kernel.OPERAND_WIDTH)
        self._values = np.array(lines.constants, np.int64)
        self._ops = np.array(lines.ops, np.int64).reshape(-1, kernel.OP_WIDTH)
        results = pattern.rows.results
        self._chosen = np.array([lines.registers[result] for result in results[: pattern.bits]], np.int64)
        self._kept = np.array([lines.values[result] for result in results[pattern.bits :]], np.int64)
        self._lines = 1 + len(self._operands) + 2 * len(self._ops)
        self._few = self._room(1, max(FEW, len(self._operands)))

    @staticmethod
    def of(pattern: Pattern) -> PredicateCode | None:
        lines = _Lines(pattern)
        return PredicateCode(pattern, lines) if lines.suffice else None

    def make_ready(self, rows: PatternRows) -> None:
        """What is made at its first use is made by one thread."""
        for name in self._columns:
            rows.arena.column(rows.held_as(name))

    def run(self, rows: PatternRows, keys: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        """Fill the bits and slots of the rows with ordinals start[i]..end[i] of each key."""
        arena, shared = rows.arena, rows.shared
        columns, flags = [NO_COLUMN] * kernel.COLUMNS, [ALL_VALID] * kernel.COLUMNS
        for number, name in enumerate(self._columns):
            held = shared.held_as(name)
            columns[number] = arena.column(held).view(np.int64)
            valid = arena.valid[held]
            if valid is not None:
                flags[number] = valid
        is_little = len(keys) == 1 and shared.held <= MANY
        found, begin, constants, scratch = (
            self._few if is_little else self._room(len(keys), min(kernel.BLOCK, max(self._lines, shared.held)))
        )
        kernel.evaluate_predicates(
            keys, start, end, rows.offset, rows.base, rows.length, self._back, self._ahead, found, begin, *columns, *flags,
            self._operands, self._values, constants, self._ops, self._chosen, self._kept, scratch, rows.bits, rows.slots, rows.slot_valid,
        )  # fmt: skip

    def _room(self, keys: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """For what the kernel writes down of so many keys, and of blocks of so many rows."""
        found, begin = np.empty((LINES, keys), np.int64), np.empty(keys + 1, np.int64)
        return found, begin, np.empty((len(self._values), width), np.int64), np.empty((self._lines, width), np.uint8)


class _Lines:
    """`registers` and `values`: operations by the numbers of what they have become."""

    def __init__(self, pattern: Pattern) -> None:
        self.columns: list[str] = []
        self.operands: list[tuple[int, int, int]] = []
        self.constants: list[int] = []
        self.ops: list[tuple[int, int, int]] = []
        self.registers: dict[int, int] = {}
        self.values: dict[int, int] = {}
        self._types = {column.name: column.type for column in pattern.reads.columns}
        self._code = pattern.rows.ops
        for number in sorted(pattern.rows.needed_for(*pattern.rows.results)) if pattern.rows.results else ():
            self._add(number, self._code[number])
        bits, slots = pattern.rows.results[: pattern.bits], pattern.rows.results[pattern.bits :]
        known = all(result in self.registers for result in bits) and all(result in self.values for result in slots)
        self.suffice = known and (bool(self.columns) or not self.operands)  # the kernel goes by the columns: constants alone have none

    def _add(self, number: int, op: ColumnOp) -> None:
        """What is not known here leads to a result that is missing."""
        if op.op == "input":
            self._input(number, op, 0)
        elif op.op == "shift" and op.args[0] in self.values and self._code[op.args[0]].op == "input":
            self._input(number, self._code[op.args[0]], op.params[0])
        elif op.op == "literal" and op.params[0] is not None and op.type.kind in WORDS:
            self.constants.append(_word(to_physical(op.params[0], op.type), op.type))
            self._operand(number, kernel.CONSTANT, 0, len(self.constants) - 1)
        elif op.op == "call":
            self._call(number, op.params[0], op.args)

    def _input(self, number: int, op: ColumnOp, move: int) -> None:
        name = op.params[0]
        if self._types[name] != op.type or op.type.kind not in (*WORDS, Kind.STRING):
            return
        if name not in self.columns:
            if len(self.columns) == kernel.COLUMNS:
                return
            self.columns.append(name)
        self._operand(number, self.columns.index(name), move, 0)

    def _operand(self, number: int, column: int, move: int, place: int) -> None:
        self.values[number] = len(self.operands)
        self.operands.append((column, move, place))

    def _call(self, number: int, function: str, args: Sequence[int]) -> None:
        if function in RELATIONS and all(arg in self.values for arg in args):
            kinds = [self._code[arg].type.kind for arg in args]
            if Kind.STRING in kinds or len({kind is Kind.FLOAT for kind in kinds}) > 1:
                return
            relation = RELATIONS[function] + (kernel.FLOATS if Kind.FLOAT in kinds else 0)
            a, b = (self.values[arg] for arg in args)
            self._register(number, relation, *((b, a) if function in ("gt", "ge") else (a, b)))
            if function == "ne":
                self._register(number, kernel.NOT, self.registers[number], 0)
        elif function in ("is_null", "is_not_null") and args[0] in self.values:
            code = kernel.IS_NULL if function == "is_null" else kernel.IS_NOT_NULL
            self._register(number, code, self.values[args[0]], 0)
        elif function == "not" and args[0] in self.registers:
            self._register(number, kernel.NOT, self.registers[args[0]], 0)
        elif function in ("and", "or") and all(arg in self.registers for arg in args):
            code, found = kernel.AND if function == "and" else kernel.OR, self.registers[args[0]]
            for arg in args[1:]:
                self.ops.append((code, found, self.registers[arg]))
                found = len(self.ops) - 1
            self.registers[number] = found

    def _register(self, number: int, code: int, a: int, b: int) -> None:
        self.registers[number] = len(self.ops)
        self.ops.append((code, a, b))


def _word(value: Any, type_: Type) -> int:
    """The 64 bits of a constant, as an integer."""
    return int(np.array([value], np.float64).view(np.int64)[0]) if type_.kind is Kind.FLOAT else int(value)
