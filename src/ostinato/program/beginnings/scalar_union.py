"""Blocks of several automata as blocks of one: their constants in one pool, their registers and slots under new numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ostinato.program.beginnings.instance_form import InstanceForm, Known
from ostinato.program.opcodes import SPACES, Op, Space, operand, shape, words_read
from ostinato.program.scalar_code import ScalarCode

UNUSED = 0
CONSTANTS = (Space.INT, Space.FLOAT, Space.STRING)


@dataclass(frozen=True)
class BlockPart:
    """What one automaton adds to a block: its tests, if it is `tested`, and what it stores in registers of the union (`stored`: by its
    own), but for those that are `done`."""

    form: InstanceForm
    block: int
    tested: bool = True
    stored: Mapping[int, int] = field(default_factory=dict)
    done: frozenset[int] = frozenset()

    @property
    def places(self) -> list[int]:
        """Of its operations in the code."""
        return [] if self.block < 0 else list(range(*self.form.automaton.scalar.blocks[self.block]))

    @property
    def stores(self) -> set[int]:
        code = self.form.automaton.scalar
        return {self.stored[code.c[at]] for at in self.places if self._is_kept(at)} - self.done

    def _is_kept(self, at: int) -> bool:
        code = self.form.automaton.scalar
        return code.op[at] == Op.STORE and code.c[at] in self.stored and self.stored[code.c[at]] not in self.done

    def kept_stores(self) -> list[int]:
        return [at for at in self.places if self._is_kept(at)]

    def needed(self) -> list[int]:
        """The operations before the registers are copied that its tests and stores depend on."""
        code = self.form.automaton.scalar
        temps = {word // SPACES for at in self.kept_stores() for word in words_read(code, at) if word % SPACES == Space.TEMP}
        found: list[int] = []
        for at in reversed(self.places):
            op, form = Op(code.op[at]), shape(Op(code.op[at]))
            if op in (Op.COPY, Op.STORE):
                continue
            if self.tested if form[2] == "-" else code.c[at] in temps:
                found.append(at)
                if form[2] == "t" and op is not Op.SELECT:
                    temps.discard(code.c[at])
                temps |= {word // SPACES for word in words_read(code, at) if word % SPACES == Space.TEMP}
        return found[::-1]


class ScalarUnion:
    """`slot` gives the number of an automaton's slot, `registers` that of what a register is known by."""

    def __init__(self, slot: Callable[[InstanceForm, int], int], registers: Mapping[Known, int]) -> None:
        self._slot = slot
        self._registers = registers
        self._ops: list[tuple[int, int, int, int]] = []
        self._pools: dict[Space, dict[Any, int]] = {space: {} for space in CONSTANTS}
        self._blocks: list[tuple[int, int]] = []

    @staticmethod
    def slots_read(code: ScalarCode, block: int) -> tuple[int, ...]:
        if block < 0:
            return ()
        words = (word for at in range(*code.blocks[block]) for word in words_read(code, at))
        return tuple(dict.fromkeys(word // SPACES for word in words if word % SPACES == Space.SLOT))

    def tests(self, part: BlockPart) -> int:
        """A block that only tests."""
        start = len(self._ops)
        self._compute(part, 0)
        return self._ended(start)

    def edge(self, parts: Sequence[BlockPart], handed: Mapping[int, int]) -> int:
        """A block that also gives an instance its registers; `handed`: registers that get the values of slots."""
        start, temps, stores = len(self._ops), 0, list[tuple[int, int]]()
        for part in parts:
            used = self._compute(part, temps)
            code = part.form.automaton.scalar
            stores += [(part.stored[code.c[at]], self._moved(part.form, code.a[at], temps)) for at in part.kept_stores()]
            temps = used
        stores += [(register, operand(Space.SLOT, slot)) for register, slot in handed.items()]
        if len(self._ops) > start or stores:
            self._ops.append((int(Op.COPY), UNUSED, UNUSED, 0))
            self._ops += [(int(Op.STORE), source, UNUSED, register) for register, source in stores]
        return self._ended(start)

    def _ended(self, start: int) -> int:
        if len(self._ops) == start:
            return -1
        self._blocks.append((start, len(self._ops)))
        return len(self._blocks) - 1

    def _compute(self, part: BlockPart, temps: int) -> int:
        """With temporaries from `temps` on; returns how many are taken then."""
        code, used = part.form.automaton.scalar, temps
        for at in part.needed():
            form = shape(Op(code.op[at]))
            a, b = (self._moved(part.form, word, temps) if kind != "-" else UNUSED for word, kind in zip((code.a[at], code.b[at]), form))
            target = code.c[at] + temps if form[2] == "t" else 0
            used = max(used, target + 1) if form[2] == "t" else used
            self._ops.append((code.op[at], a, b, target))
        return used

    def _moved(self, form: InstanceForm, word: int, temps: int) -> int:
        index, number = divmod(word, SPACES)
        space = Space(number)
        if space is Space.TEMP:
            return operand(space, index + temps)
        if space is Space.SLOT:
            return operand(space, self._slot(form, index))
        if space is Space.REGISTER:
            known = form.registers[index]
            assert known is not None
            return operand(space, self._registers[known])
        return operand(space, self._pooled(form.automaton.scalar, space, index)) if space in CONSTANTS else word

    def _pooled(self, code: ScalarCode, space: Space, index: int) -> int:
        constants: Sequence[Any] = {Space.INT: code.ints, Space.FLOAT: code.floats, Space.STRING: code.strings}[space]
        value = constants[index]
        pool = self._pools[space]
        return pool.setdefault(repr(value) if space is Space.FLOAT else value, len(pool))  # 0.0 and -0.0 are equal, and not the same

    def finish(self) -> ScalarCode:
        columns = list(zip(*self._ops, strict=True)) if self._ops else [(), (), (), ()]
        op, a, b, c = (tuple(column) for column in columns)
        floats = tuple(float(text) for text in self._pools[Space.FLOAT])
        return ScalarCode(op, a, b, c, tuple(self._pools[Space.INT]), floats, tuple(self._pools[Space.STRING]), tuple(self._blocks))
