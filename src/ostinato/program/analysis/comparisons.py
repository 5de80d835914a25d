"""Tests of scalar code that compare a value of the current row with one that was fixed when earlier rows were bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

from ostinato.program.opcodes import SPACES, Op, Space, shape, words_read
from ostinato.program.scalar_code import ScalarCode

EQ, NE, LT, LE, GT, GE = range(6)  # relations, in the order of the opcodes
MIRRORED = (EQ, NE, GT, GE, LT, LE)
FIRST_TEST = Op.TEST_EQ_INT
ROW, RUN, STRINGS = 1, 2, 4  # what a value depends on: the current row, the run, or the strings that have come so far
PARTS = {Space.SLOT: ROW, Space.REGISTER: RUN, Space.STRING: STRINGS}


class Undo(IntEnum):
    """A step of a calculation x, with r of the run."""

    ADDED = 8  # x + r
    SUBTRACTED = 9  # x - r
    SUBTRACTED_FROM = 10  # r - x
    MULTIPLIED = 11  # x * r
    DIVIDED = 12  # x / r
    NEGATED = 13  # -x


# Operation -> what undoes it if x stands left of r, and if it stands right.
STEPS: dict[Op, tuple[Undo, Undo | None]] = {
    Op.ADD_FLOAT: (Undo.ADDED, Undo.ADDED),
    Op.ADD_INT: (Undo.ADDED, Undo.ADDED),
    Op.SUB_FLOAT: (Undo.SUBTRACTED, Undo.SUBTRACTED_FROM),
    Op.SUB_INT: (Undo.SUBTRACTED, Undo.SUBTRACTED_FROM),
    Op.MUL_FLOAT: (Undo.MULTIPLIED, Undo.MULTIPLIED),
    Op.DIV_FLOAT: (Undo.DIVIDED, None),
}
MAGNITUDES = (Op.ABS_FLOAT, Op.ABS_INT)
MOST_STEPS = 4  # so few cannot leave 64 bits if what they calculate with is well within


@dataclass(frozen=True)
class Operand:
    """A value in a block of scalar code, and the lines that compute it."""

    word: int
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Holds if `value`, which depends on the row alone, is in `relation` to `bound`, which depends on the run alone. Where the test is
    about a calculation with the value, `undone` are its steps from the outermost: what has to be done to the bound, and with which value
    of the run. Then this is a little wider than the test."""

    value: Operand
    bound: Operand
    relation: int
    floats: bool
    undone: tuple[tuple[Undo, Operand], ...] = ()

    @property
    def of_run(self) -> tuple[Operand, ...]:
        """All that the bounds are made of."""
        return (self.bound, *(operand for _, operand in self.undone))


@dataclass(frozen=True)
class BlockTests:
    """What a block asks for. `wider`: comparisons that do not say all of what their tests ask for. `others`: it has tests beside the
    comparisons, `unknown`: beside the wider ones, too; `stores`: it changes what the run carries."""

    comparisons: tuple[Comparison, ...] = ()
    wider: tuple[Comparison, ...] = ()
    others: bool = False
    unknown: bool = False
    stores: bool = False

    @property
    def asks(self) -> bool:
        return self.others or len(self.comparisons) > 0


@dataclass
class _Trace:
    """What the temporaries of a block depend on, and by which lines."""

    code: ScalarCode
    parts: dict[int, int] = field(default_factory=dict)
    lines: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def depends(self, word: int) -> int:
        index, space = divmod(word, SPACES)
        return self.parts.get(index, 0) if space == Space.TEMP else PARTS.get(Space(space), 0)

    def operand(self, word: int) -> Operand:
        index, space = divmod(word, SPACES)
        return Operand(word, self.lines.get(index, ()) if space == Space.TEMP else ())

    def compute(self, at: int) -> None:
        op, target = Op(self.code.op[at]), self.code.c[at]
        words = words_read(self.code, at)
        parts, lines = STRINGS if op is Op.RANK else 0, {at}
        if op is Op.SELECT:  # keeps what stood there
            parts, lines = self.parts.get(target, 0), lines.union(self.lines.get(target, ()))
        for word in words:
            parts |= self.depends(word)
            lines.update(self.operand(word).lines)
        self.parts[target], self.lines[target] = parts, tuple(sorted(lines))

    def comparison(self, at: int) -> Comparison | None:
        op = self.code.op[at]
        relation, floats = (op - FIRST_TEST) % 6, op >= Op.TEST_EQ_FLOAT
        a, b = self.code.a[at], self.code.b[at]
        if self.depends(b) == ROW and self.depends(a) & ~RUN == 0:
            a, b, relation = b, a, MIRRORED[relation]
        if self.depends(a) != ROW or self.depends(b) & ~RUN:
            return None
        return Comparison(self.operand(a), self.operand(b), relation, floats)

    def wider(self, at: int) -> list[Comparison]:
        """Of a test about a calculation with values of the row and of the run."""
        op = self.code.op[at]
        relation, floats = (op - FIRST_TEST) % 6, op >= Op.TEST_EQ_FLOAT
        a, b = self.code.a[at], self.code.b[at]
        if self.depends(a) & ROW == 0:
            a, b, relation = b, a, MIRRORED[relation]
        if self.depends(a) != ROW | RUN or self.depends(b) & ~RUN:
            return []
        line = self._line(a)
        if Op(self.code.op[line]) not in MAGNITUDES:
            return self._undone(a, Comparison(self.operand(a), self.operand(b), relation, floats))
        if relation not in (LT, LE):
            return []
        inner = self.code.a[line]
        above = Comparison(self.operand(inner), self.operand(b), relation, floats, ((Undo.NEGATED, self.operand(b)),))
        return self._undone(inner, above) + self._undone(inner, replace(above, undone=()))

    def _line(self, word: int) -> int:
        """The line that computes a temporary."""
        return self.lines[word // SPACES][-1]

    def _undone(self, word: int, found: Comparison) -> list[Comparison]:
        """Follow a calculation inwards until a value of the row alone is left; nothing if a step cannot be undone."""
        while self.depends(word) == ROW | RUN:
            line = self._line(word)
            left, right = STEPS.get(Op(self.code.op[line]), (None, None))
            a, b = self.code.a[line], self.code.b[line]
            step, word, other = (left, a, b) if self.depends(b) & ~RUN == 0 else (right, b, a)
            if step is None or self.depends(other) & ~RUN or len(found.undone) == MOST_STEPS:
                return []
            found = replace(found, undone=(*found.undone, (step, self.operand(other))))
        return [replace(found, value=self.operand(word))] if self.depends(word) == ROW else []


def block_tests(code: ScalarCode, block: int) -> BlockTests:
    if block < 0:
        return BlockTests()
    trace = _Trace(code)
    found: list[Comparison] = []
    wider: list[Comparison] = []
    others = unknown = stores = False
    for at in range(*code.blocks[block]):
        op = Op(code.op[at])
        if op >= FIRST_TEST:
            comparison = trace.comparison(at)
            known = trace.wider(at) if comparison is None else [comparison]
            others, unknown = others or comparison is None, unknown or not known
            found += [] if comparison is None else known
            wider += known if comparison is None else []
        elif shape(op)[2] == "t":
            trace.compute(at)
        elif op is Op.TEST:
            others = unknown = True
        else:
            stores = stores or op is Op.STORE
    return BlockTests(tuple(found), tuple(wider), others, unknown, stores)
