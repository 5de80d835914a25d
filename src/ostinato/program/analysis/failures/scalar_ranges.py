"""The same of scalar code: which operations of its blocks may leave 64 bits, over slots and registers."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.program.analysis.failures.value_ranges import (
    ANY,
    LENGTH,
    TRUTH,
    Range,
    added,
    magnitude,
    multiplied,
    negated,
    quotient,
    remainder,
    subtracted,
)
from ostinato.program.opcodes import SPACES, Op, Space, shape
from ostinato.program.scalar_code import Register, ScalarCode

COMPUTED = {Op.ADD_INT: added, Op.SUB_INT: subtracted, Op.MUL_INT: multiplied, Op.SUM_INT: added}
OF_ONE = {Op.NEG_INT: negated, Op.ABS_INT: magnitude, Op.QUOTIENT_INT: quotient, Op.MOD_INT: remainder}
EITHER = (Op.MIN_INT, Op.MAX_INT, Op.COALESCE)
COUNTED = Range(0, 2**62)  # more than there ever are
ROUNDS = 4  # what registers hold after these is what they ever hold, or anything


def scalar_may_fail(code: ScalarCode, slots: Sequence[Range], registers: Sequence[Register]) -> bool:
    """Whether one of the operations that can fail does so at some value."""
    held: list[Range | None] = [Range(0, 0) if one.counter else COUNTED if one.number else None for one in registers]
    for _ in range(ROUNDS):
        walk = _Walk(code, slots, held)
        if walk.registers == held:
            return walk.fails
        held = walk.registers
    before = held
    held = [one if one == other else ANY for one, other in zip(_Walk(code, slots, before).registers, before, strict=True)]
    while (after := _Walk(code, slots, held).registers) != held:
        held = [one if one == other else ANY for one, other in zip(after, held, strict=True)]
    return _Walk(code, slots, held).fails


class _Walk:
    """Through all blocks once. `registers`: what they hold then; None: nothing was stored there yet."""

    def __init__(self, code: ScalarCode, slots: Sequence[Range], held: Sequence[Range | None]) -> None:
        self._code = code
        self._slots = slots
        self._held = held
        self.registers = list(held)
        self.fails = False
        for start, end in code.blocks:
            self._temps: dict[int, Range] = {}
            for at in range(start, end):
                self._step(at)

    def _step(self, at: int) -> None:
        code, op, target = self._code, Op(self._code.op[at]), self._code.c[at]
        form = shape(op)
        if op is Op.CALL:
            self.fails, self._temps[target] = True, ANY
            return
        args = [self._read(word) for word, used in ((code.a[at], form[0]), (code.b[at], form[1])) if used != "-"]
        if op is Op.STORE:
            known = self.registers[target]
            self.registers[target] = args[0] if known is None else known | args[0]
        elif form[2] == "t":
            found = self._temps[target] | args[1] if op is Op.SELECT else _result(op, args)
            self.fails = self.fails or not found.fits or op is Op.INT_OF_FLOAT
            self._temps[target] = found if found.fits else ANY

    def _read(self, word: int) -> Range:
        index, number = divmod(word, SPACES)
        space = Space(number)
        if space is Space.TEMP:
            return self._temps[index]
        if space is Space.SLOT:
            return self._slots[index]
        if space is Space.REGISTER:
            return self._held[index] or Range(0, 0)
        if space is Space.INT:
            return Range(self._code.ints[index], self._code.ints[index])
        return Range(0, 0) if space is Space.NULL else ANY


def _result(op: Op, args: list[Range]) -> Range:
    if op in COMPUTED:
        computed = COMPUTED[op](*args)
        return computed | args[0] | args[1] if op is Op.SUM_INT else computed  # a null is left out
    if op in OF_ONE:
        return OF_ONE[op](args[0])
    if op is Op.MOVE:
        return args[0]
    if op in EITHER:
        return args[0] | args[1]
    if op is Op.COUNT:
        return COUNTED
    if op is Op.RANK:
        return LENGTH
    return TRUTH if op >= Op.EQ_INT or op in (Op.NOT, Op.AND, Op.OR, Op.IS_NULL, Op.IS_NOT_NULL) else ANY
