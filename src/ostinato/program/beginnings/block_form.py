"""What a block of scalar code tests and stores, whatever its operations, constants and registers are numbered like."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from ostinato.program.opcodes import SPACES, TESTED, Op, Space, shape
from ostinato.program.scalar_code import ScalarCode


class Values:
    """Numbers for values: what is computed alike has one number, in whichever automaton."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


@dataclass(frozen=True)
class BlockForm:
    """By the numbers of values. In which order a block tests does not matter: one that fails is an error only if no other says no."""

    tests: frozenset[int] = frozenset()
    stores: tuple[tuple[int, int], ...] = ()  # a register, and what becomes its value


def block_form(code: ScalarCode, block: int, values: Values, held: Callable[[Space, int], Hashable]) -> BlockForm:
    """`held`: what a slot or a register is known by."""
    if block < 0:
        return BlockForm()
    temps: dict[int, int] = {}
    tests: set[int] = set()
    stores: list[tuple[int, int]] = []

    def read(word: int) -> int:
        index, space = divmod(word, SPACES)
        if space == Space.TEMP:
            return temps[index]
        constant = constant_of(code, Space(space), index)
        return values.number(("held", held(Space(space), index)) if constant is None else constant)

    for at in range(*code.blocks[block]):
        op, target = Op(code.op[at]), code.c[at]
        form = shape(op)
        operands = tuple(read(word) for word, used in ((code.a[at], form[0]), (code.b[at], form[1])) if used != "-")
        if op is Op.STORE:
            stores.append((target, operands[0]))
        elif op is Op.MOVE:
            temps[target] = operands[0]
        elif form[2] == "t":
            before = (temps[target],) if op is Op.SELECT else ()
            temps[target] = values.number((int(op), *operands, *before))
        elif op is Op.TEST:
            tests.add(operands[0])
        elif op is not Op.COPY:
            tests.add(values.number((op - TESTED, *operands)))
    return BlockForm(frozenset(tests), tuple(stores))


def constant_of(code: ScalarCode, space: Space, index: int) -> Hashable | None:
    """What an operand is that no row and no instance has a part in; None: it is one of theirs."""
    if space is Space.NULL:
        return ("null",)
    if space is Space.INT:
        return "int", code.ints[index]
    if space is Space.FLOAT:
        return "float", repr(code.floats[index])  # 0.0 and -0.0 are equal, and not the same
    return ("string", code.strings[index]) if space is Space.STRING else None
