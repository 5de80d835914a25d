"""Column code in one form of several that say the same: constants on the right of comparisons, conjuncts in one order."""

from __future__ import annotations

from dataclasses import replace

from ostinato.program.column_code import ColumnCode, ColumnOp

MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
IN_ANY_ORDER = ("and", "or")


def canonical(code: ColumnCode) -> ColumnCode:
    """The same results. Where two operands differ in nothing but constants, they keep their order: which of them is which does not show
    in the form, and so the constants of equal forms correspond."""
    return _Canonical(code).code()


class _Canonical:
    def __init__(self, code: ColumnCode) -> None:
        self._code = code
        self._ops: list[ColumnOp] = []
        self._numbers: dict[object, int] = {}
        self._placed: dict[int, int] = {}
        self._forms: dict[int, str] = {}

    def code(self) -> ColumnCode:
        results = [self._place(result) for result in self._code.results]
        return ColumnCode(tuple(self._ops), tuple(results))

    def _place(self, number: int) -> int:
        if number not in self._placed:
            op = self._ordered(self._code.ops[number])
            placed = replace(op, args=tuple(self._place(arg) for arg in op.args))
            key = (placed.op, placed.args, placed.type, repr(placed.params))  # as text: 0.0 and -0.0 are equal, and not the same
            if key not in self._numbers:
                self._numbers[key] = len(self._ops)
                self._ops.append(placed)
            self._placed[number] = self._numbers[key]
        return self._placed[number]

    def _ordered(self, op: ColumnOp) -> ColumnOp:
        if op.op != "call":
            return op
        if op.params[0] in MIRRORED and self._is_literal(op.args[0]) and not self._is_literal(op.args[1]):
            return replace(op, args=op.args[::-1], params=(MIRRORED[op.params[0]],))
        if op.params[0] in IN_ANY_ORDER:
            return replace(op, args=tuple(sorted(op.args, key=self._form)))
        return op

    def _is_literal(self, number: int) -> bool:
        return self._code.ops[number].op == "literal"

    def _form(self, number: int) -> str:
        """What an operation computes, whatever its constants are."""
        if number not in self._forms:
            op = self._ordered(self._code.ops[number])
            params = "" if op.op == "literal" else repr(op.params)
            self._forms[number] = f"{op.op}{params}{op.type}({','.join(map(self._form, op.args))})"
        return self._forms[number]
