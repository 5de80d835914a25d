"""The operations of scalar code: their numbers, names and operands.

An operand word names a value: `index * SPACES + space`. An operation reads operands `a` and `b` and puts its result, if it has one,
into the temporary `c`. Every value is 64 bits (integer, or the bits of a float) with a flag that says whether it is null.
A block tests first and stores last: COPY stands between, so that nothing is written for a row that is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from ostinato.program.scalar_code import ScalarCode


class Space(IntEnum):
    """Where an operand lives."""

    TEMP = 0  # result of an earlier operation of the block
    SLOT = 1  # value of the current row
    REGISTER = 2  # value of the run as it was before the block
    INT = 3  # constants
    FLOAT = 4
    STRING = 5
    NULL = 6
    FUNCTION = 7  # of a user's: what calls it


SPACES = 8


class Op(IntEnum):
    """A null operand gives null except where it is said. An integer operation that leaves 64 bits fails, and so does what is computed
    from it; it is an error only where a test depends on it (`FALSE AND x` does not depend on x)."""

    COPY = 0  # the tests are over: take the registers over into the new run
    STORE = 1  # register c := a
    TEST = 2  # leave the block as not true unless a is true
    MOVE = 3
    SELECT = 4  # c := b if a is true; else c stays (so a MOVE of the other value comes before)
    COALESCE = 5  # a, or b where a is null
    IS_NULL = 6
    IS_NOT_NULL = 7
    NOT = 8
    AND = 9
    OR = 10
    ADD_INT = 11
    SUB_INT = 12
    MUL_INT = 13
    MOD_INT = 14  # sign of the dividend; null for a zero divisor
    QUOTIENT_INT = 15  # truncated towards zero; null for a zero divisor
    NEG_INT = 16
    ABS_INT = 17
    ADD_FLOAT = 18
    SUB_FLOAT = 19
    MUL_FLOAT = 20
    DIV_FLOAT = 21  # null for a zero divisor
    MOD_FLOAT = 22
    NEG_FLOAT = 23
    ABS_FLOAT = 24
    DIV_INT = 25  # two integers, a float; null for a zero divisor
    FLOAT_OF_INT = 26
    INT_OF_FLOAT = 27  # nearest, halves to even; out of range is an error
    SQRT = 28  # null below zero
    FLOOR = 29
    CEIL = 30
    ROUND = 31  # halves away from zero
    EXP = 32
    LN = 33  # null at zero and below, as LOG10
    LOG10 = 34
    POWER = 35  # null where it is not a real number
    RANK = 36  # sort position of a string code
    SUM_INT = 37  # running aggregates: a is the value so far, b the row's; a null one is left out
    SUM_FLOAT = 38
    MIN_INT = 39
    MAX_INT = 40
    MIN_FLOAT = 41
    MAX_FLOAT = 42
    MIN_STRING = 43
    MAX_STRING = 44
    COUNT = 45  # a + 1 if b is not null
    CALL = 46  # the function a, of as many temporaries as it takes from b on
    EQ_INT = 48  # comparisons: the order eq, ne, lt, le, gt, ge is relied on
    NE_INT = 49
    LT_INT = 50
    LE_INT = 51
    GT_INT = 52
    GE_INT = 53
    EQ_FLOAT = 54
    NE_FLOAT = 55
    LT_FLOAT = 56
    LE_FLOAT = 57
    GT_FLOAT = 58
    GE_FLOAT = 59
    TEST_EQ_INT = 64  # the same, and leave the block as not true unless they hold
    TEST_NE_INT = 65
    TEST_LT_INT = 66
    TEST_LE_INT = 67
    TEST_GT_INT = 68
    TEST_GE_INT = 69
    TEST_EQ_FLOAT = 70
    TEST_NE_FLOAT = 71
    TEST_LT_FLOAT = 72
    TEST_LE_FLOAT = 73
    TEST_GT_FLOAT = 74
    TEST_GE_FLOAT = 75


TESTED = Op.TEST_EQ_INT - Op.EQ_INT  # from a comparison to its testing form


class Held(Enum):
    """What a 64-bit word holds."""

    NULL = "null"  # nothing but null: stands for any of the others
    WHOLE = "whole"  # integers, and all that is held as one: booleans, decimals, times
    FLOAT = "float"
    TEXT = "text"  # the code of a string in the session
    PLACE = "place"  # the position of a value that nothing computes with
    FUNCTION = "function"


class Wants(Enum):
    """What an operation takes, where it is not one kind of word."""

    ANY = "any"
    ALIKE = "alike"  # operands and result hold the same
    CODES = "codes"  # two of the same: numbers, or strings, which are equal if their codes are


@dataclass(frozen=True)
class Signature:
    """What the operands of an operation are, and what it puts into c (None: there is none). `keeps`: what stood in c before may stay."""

    a: Held | Wants | None = None
    b: Held | Wants | None = None
    c: Held | Wants | None = None
    keeps: bool = False


_W, _F, _T = Held.WHOLE, Held.FLOAT, Held.TEXT
_ANY, _ALIKE = Wants.ANY, Wants.ALIKE
_NUMBERS = (Op.ADD_INT, Op.SUB_INT, Op.MUL_INT, Op.MOD_INT, Op.QUOTIENT_INT, Op.SUM_INT, Op.MIN_INT, Op.MAX_INT, Op.AND, Op.OR)
_FLOATS = (
    Op.ADD_FLOAT, Op.SUB_FLOAT, Op.MUL_FLOAT, Op.DIV_FLOAT, Op.MOD_FLOAT, Op.POWER, Op.SUM_FLOAT, Op.MIN_FLOAT, Op.MAX_FLOAT,
)  # fmt: skip
_OF_FLOAT = (Op.NEG_FLOAT, Op.ABS_FLOAT, Op.SQRT, Op.FLOOR, Op.CEIL, Op.ROUND, Op.EXP, Op.LN, Op.LOG10)
_COMPARED: dict[Op, Held | Wants] = {
    **dict.fromkeys((Op.EQ_INT, Op.NE_INT), Wants.CODES),
    **dict.fromkeys((Op.LT_INT, Op.LE_INT, Op.GT_INT, Op.GE_INT), _W),
    **dict.fromkeys((Op.EQ_FLOAT, Op.NE_FLOAT, Op.LT_FLOAT, Op.LE_FLOAT, Op.GT_FLOAT, Op.GE_FLOAT), _F),
}

# The one table of what each operation reads and writes: the verifier, the interpreter and the listing go by it.
SIGNATURES: dict[Op, Signature] = {
    Op.COPY: Signature(),
    Op.STORE: Signature(_ALIKE, None, _ALIKE),  # c is a register
    Op.TEST: Signature(_W),
    Op.MOVE: Signature(_ALIKE, None, _ALIKE),
    Op.SELECT: Signature(_W, _ALIKE, _ALIKE, keeps=True),
    Op.COALESCE: Signature(_ALIKE, _ALIKE, _ALIKE),
    **dict.fromkeys((Op.IS_NULL, Op.IS_NOT_NULL), Signature(_ANY, None, _W)),
    **dict.fromkeys((Op.NOT, Op.NEG_INT, Op.ABS_INT), Signature(_W, None, _W)),
    **dict.fromkeys(_NUMBERS, Signature(_W, _W, _W)),
    **dict.fromkeys(_FLOATS, Signature(_F, _F, _F)),
    **dict.fromkeys(_OF_FLOAT, Signature(_F, None, _F)),
    Op.DIV_INT: Signature(_W, _W, _F),
    Op.FLOAT_OF_INT: Signature(_W, None, _F),
    Op.INT_OF_FLOAT: Signature(_F, None, _W),
    Op.RANK: Signature(_T, None, _W),
    **dict.fromkeys((Op.MIN_STRING, Op.MAX_STRING), Signature(_T, _T, _T)),
    Op.COUNT: Signature(_W, _ANY, _W),
    Op.CALL: Signature(Held.FUNCTION, _ANY, _ANY),  # the rest is the function's own
    **{op: Signature(kind, kind, _W) for op, kind in _COMPARED.items()},
    **{Op(op + TESTED): Signature(kind, kind) for op, kind in _COMPARED.items()},
}


def shape(op: Op) -> str:
    """Which of a, b are operands, and what c is ("t" temporary, "r" register, "-" unused)."""
    own = SIGNATURES[op]
    target = "-" if own.c is None else "r" if op is Op.STORE else "t"
    return ("-" if own.a is None else "a") + ("-" if own.b is None else "b") + target


def operand(space: Space, index: int) -> int:
    return index * SPACES + space


NULL_OPERAND = operand(Space.NULL, 0)


def words_read(code: ScalarCode, at: int) -> list[int]:
    """The operands of an operation, with all arguments of a call."""
    form = shape(Op(code.op[at]))
    words = [word for word, used in ((code.a[at], form[0]), (code.b[at], form[1])) if used != "-"]
    if code.op[at] == Op.CALL:
        words += [code.b[at] + SPACES * further for further in range(1, len(code.functions[code.a[at] // SPACES].takes))]
    return words


def operand_text(word: int, code: ScalarCode) -> str:
    index, space = divmod(word, SPACES)
    if space == Space.INT:
        return str(code.ints[index])
    if space == Space.FLOAT:
        return repr(code.floats[index])
    if space == Space.STRING:
        return repr(code.strings[index])
    if space == Space.NULL:
        return "null"
    if space == Space.FUNCTION:
        return code.functions[index].name
    return {Space.TEMP: "t", Space.SLOT: "row.", Space.REGISTER: "r"}[Space(space)] + str(index)


def instruction_text(code: ScalarCode, at: int) -> str:
    """One line of a listing, such as `t0 = add_int row.2 r1`."""
    op = Op(code.op[at])
    form = shape(op)
    words = [operand_text(word, code) for word in words_read(code, at)]
    target = {"t": f"t{code.c[at]} = ", "r": f"r{code.c[at]} = ", "-": ""}[form[2]]
    return target + " ".join([op.name.lower(), *words])
