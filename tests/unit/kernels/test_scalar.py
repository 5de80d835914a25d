"""Every operation of scalar code against the same calculation in Python."""

import math

import numpy as np
import pytest

from ostinato.expr.types import FLOAT
from ostinato.expr.user_function import FunctionSignature
from ostinato.expr.values import number_functions
from ostinato.kernels._jit import at_first_call
from ostinato.kernels.scalar import arithmetic
from ostinato.kernels.scalar.scalar import NOT_TRUE, TRUE, Interpreter
from ostinato.kernels.scalar.scalar import evaluate as inner_evaluate
from ostinato.program.opcodes import NULL_OPERAND, Op, Space, instruction_text, operand, shape
from ostinato.program.scalar_code import ScalarCode

evaluate = at_first_call(inner_evaluate)

MAX = 2**63 - 1
MIN = -(2**63)
FAILED = "failed"


class Machine:
    """One row with slots, two runs with registers; operations are appended and run."""

    def __init__(self, slots=(), registers=(), strings=(), ranks=None):
        self.slots = np.array([[word(v) for v in slots] or [0]], np.int64)
        self.slot_valid = np.array([[v is not None for v in slots] or [0]], np.uint8)
        self.registers = np.zeros((2, max(1, len(registers))), np.int64)
        self.registers[0, : len(registers)] = [word(v) for v in registers]
        self.register_valid = np.zeros((2, max(1, len(registers))), np.uint8)
        self.register_valid[0, : len(registers)] = [v is not None for v in registers]
        self.strings = strings
        self.ranks = ranks

    def run(self, *ops, ints=(), floats=(), old=0, new=0):
        columns = list(zip(*ops, strict=True))
        code = ScalarCode(*columns, ints=tuple(ints), floats=tuple(floats), strings=tuple(self.strings), blocks=((0, len(ops)),))
        self.machine = Interpreter(code)
        self.machine.bind(np.arange(len(self.strings)), self.ranks)
        m = self.machine
        return evaluate(
            m.code, 0, len(ops), m.scratch, m.scratch_valid, m.ranks, self.slots, self.slot_valid, 0,
            self.registers, self.register_valid, old, new,
        )  # fmt: skip


def word(value):
    if value is None:
        return 0
    return int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value)


def computed(op, x, y=0, ranks=None):
    """The result of one operation on two slots: a value, None, or FAILED."""
    machine = Machine(slots=(x, y), registers=(0,), ranks=ranks)
    status = machine.run(
        (op, operand(Space.SLOT, 0), operand(Space.SLOT, 1), 0),
        (Op.STORE, operand(Space.TEMP, 0), 0, 0),
    )
    assert status == TRUE
    flag = machine.register_valid[0, 0]
    return FAILED if flag == arithmetic.HAS_FAILED else int(machine.registers[0, 0]) if flag else None


def as_float(bits):
    return None if bits is None else float(np.int64(bits).view(np.float64))


INTS = (0, 1, -1, 2, -2, 7, -7, 2**31, -(2**31), 2**62, -(2**62), MAX, MIN, MAX - 1, MIN + 1, 3037000500)
FLOATS = (0.0, 1.5, -2.25, 1e300, -1e-300, 7.0)


def truncated(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


EXACT = {
    Op.ADD_INT: lambda x, y: x + y,
    Op.SUB_INT: lambda x, y: x - y,
    Op.MUL_INT: lambda x, y: x * y,
    Op.MOD_INT: lambda x, y: None if y == 0 else x - y * truncated(x, y),
    Op.QUOTIENT_INT: lambda x, y: None if y == 0 else truncated(x, y),
    Op.NEG_INT: lambda x, y: -x,
    Op.ABS_INT: lambda x, y: abs(x),
    Op.SUM_INT: lambda x, y: x + y,
    Op.MIN_INT: min,
    Op.MAX_INT: max,
    Op.EQ_INT: lambda x, y: x == y,
    Op.NE_INT: lambda x, y: x != y,
    Op.LT_INT: lambda x, y: x < y,
    Op.LE_INT: lambda x, y: x <= y,
    Op.GT_INT: lambda x, y: x > y,
    Op.GE_INT: lambda x, y: x >= y,
}


@pytest.mark.parametrize("op", EXACT, ids=lambda op: op.name)
def test_integers_are_exact_or_overflow(op):
    for x in INTS:
        for y in INTS:
            wanted = EXACT[op](x, y)
            fits = wanted is None or MIN <= wanted <= MAX
            assert computed(op, x, y) == (wanted if fits else FAILED), (x, y)


INEXACT = {
    Op.ADD_FLOAT: lambda x, y: x + y,
    Op.SUB_FLOAT: lambda x, y: x - y,
    Op.MUL_FLOAT: lambda x, y: x * y,
    Op.DIV_FLOAT: lambda x, y: None if y == 0 else x / y,
    Op.MOD_FLOAT: lambda x, y: None if y == 0 else math.fmod(x, y),
    Op.NEG_FLOAT: lambda x, y: -x,
    Op.ABS_FLOAT: lambda x, y: abs(x),
    Op.SQRT: lambda x, y: None if x < 0 else math.sqrt(x),
    Op.FLOOR: lambda x, y: float(math.floor(x)),
    Op.CEIL: lambda x, y: float(math.ceil(x)),
    Op.ROUND: lambda x, y: math.copysign(math.floor(abs(x) + 0.5), x) if abs(x) < 2**52 else x,
    Op.EXP: lambda x, y: math.inf if x > 700 else pytest.approx(math.exp(x)),
    Op.LN: lambda x, y: None if x <= 0 else pytest.approx(math.log(x)),
    Op.LOG10: lambda x, y: None if x <= 0 else pytest.approx(math.log10(x)),
    Op.POWER: lambda x, y: pytest.approx(number_functions.power(x, y)),
    Op.SUM_FLOAT: lambda x, y: x + y,
    Op.MIN_FLOAT: min,
    Op.MAX_FLOAT: max,
}


@pytest.mark.parametrize("op", INEXACT, ids=lambda op: op.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats(op):
    for x in FLOATS:
        for y in FLOATS:
            assert as_float(computed(op, x, y)) == INEXACT[op](x, y), (op, x, y)


def test_float_comparisons():
    relations = (lambda x, y: x == y, lambda x, y: x != y, lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x > y, lambda x, y: x >= y)
    for number, relation in enumerate(relations):
        for x in FLOATS:
            for y in FLOATS:
                assert computed(Op(Op.EQ_FLOAT + number), x, y) == relation(x, y)


def test_conversions():
    assert as_float(computed(Op.FLOAT_OF_INT, 7)) == 7.0
    assert as_float(computed(Op.DIV_INT, 7, 2)) == 3.5
    assert computed(Op.DIV_INT, 7, 0) is None
    assert computed(Op.INT_OF_FLOAT, 2.5) == 2
    assert computed(Op.INT_OF_FLOAT, -3.7) == -4
    assert computed(Op.INT_OF_FLOAT, 1e19) == FAILED
    assert computed(Op.INT_OF_FLOAT, math.nan) == FAILED


THREE = (True, False, None)


def test_three_valued_logic():
    for x in THREE:
        assert computed(Op.NOT, x) == (None if x is None else not x)
        assert computed(Op.IS_NULL, x) == (x is None)
        assert computed(Op.IS_NOT_NULL, x) == (x is not None)
        for y in THREE:
            both = False if False in (x, y) else None if None in (x, y) else True
            either = True if True in (x, y) else None if None in (x, y) else False
            assert computed(Op.AND, x, y) == both
            assert computed(Op.OR, x, y) == either
            assert computed(Op.COALESCE, x, y) == (y if x is None else x)


STRICT = [op for op in Op if Op.ADD_INT <= op < Op.SUM_INT or Op.EQ_INT <= op <= Op.GE_FLOAT]


@pytest.mark.parametrize("op", STRICT, ids=lambda op: op.name)
def test_null_in_null_out(op):
    ranks = np.arange(3)
    assert computed(op, None, 1, ranks) is None
    if shape(op)[1] == "b":
        assert computed(op, 1, None, ranks) is None


@pytest.mark.parametrize("op", [op for op in Op if Op.SUM_INT <= op < Op.COUNT], ids=lambda op: op.name)
def test_aggregates_leave_nulls_out(op):
    ranks = np.array([0, 2, 1])
    assert computed(op, None, 2, ranks) == 2
    assert computed(op, 2, None, ranks) == 2
    assert computed(op, None, None, ranks) is None


def test_count_and_strings():
    ranks = np.array([2, 0, 1])
    assert computed(Op.COUNT, 4, 0) == 5
    assert computed(Op.COUNT, 4, None) == 4
    assert computed(Op.RANK, 1, 0, ranks) == 0
    assert computed(Op.MIN_STRING, 0, 2, ranks) == 2
    assert computed(Op.MAX_STRING, 0, 2, ranks) == 0


def test_a_failure_is_an_error_only_where_a_test_depends_on_it():
    overflow = (Op.NEG_INT, operand(Space.INT, 0), 0, 0)
    failed, true, false = operand(Space.TEMP, 0), operand(Space.INT, 1), operand(Space.INT, 2)

    def outcome(*ops):
        return Machine(registers=(0,)).run(overflow, *ops, ints=(MIN, 1, 0))

    def tested(op, a, b):
        return outcome((op, a, b, 1), (Op.TEST, operand(Space.TEMP, 1), 0, 0))

    error = arithmetic.OVERFLOW
    assert outcome((Op.TEST, failed, 0, 0)) == error
    assert outcome((Op.TEST, failed, 0, 0), (Op.TEST, false, 0, 0)) == NOT_TRUE
    assert outcome((Op.TEST_LT_INT, failed, true, 0)) == error
    assert outcome((Op.TEST_LT_INT, failed, NULL_OPERAND, 0)) == error
    assert tested(Op.AND, failed, false) == tested(Op.AND, false, failed) == NOT_TRUE
    assert tested(Op.AND, failed, true) == tested(Op.AND, NULL_OPERAND, failed) == error
    assert tested(Op.OR, failed, true) == TRUE
    assert tested(Op.OR, failed, false) == error
    assert tested(Op.COALESCE, true, failed) == TRUE
    assert tested(Op.COALESCE, NULL_OPERAND, failed) == error
    assert tested(Op.ADD_INT, failed, NULL_OPERAND) == tested(Op.IS_NULL, failed, 0) == tested(Op.MIN_INT, true, failed) == error
    chosen = ((Op.MOVE, true, 0, 1), (Op.SELECT, failed, false, 1), (Op.TEST, operand(Space.TEMP, 1), 0, 0))
    assert outcome(*chosen) == error
    assert outcome(*chosen[:2], (Op.SELECT, true, true, 1), chosen[2]) == TRUE


def test_a_sum_that_overflowed_stays_failed_until_it_is_asked_for():
    machine = Machine(slots=(MAX,), registers=(MAX,))
    total = (Op.SUM_INT, operand(Space.REGISTER, 0), operand(Space.SLOT, 0), 0)
    add = (total, (Op.COPY, 0, 0, 0), (Op.STORE, operand(Space.TEMP, 0), 0, 0))
    assert machine.run(*add) == machine.run(*add) == TRUE
    assert machine.run((Op.TEST, operand(Space.REGISTER, 0), 0, 0)) == arithmetic.OVERFLOW


def test_tests_leave_the_block_before_anything_is_stored():
    for relation in range(12):
        floats = relation >= 6
        values = (1.0, 2.0) if floats else (1, 2)
        for x, y in ((values[0], values[1]), (values[1], values[0]), (values[0], values[0]), (None, values[0])):
            machine = Machine(slots=(x, y), registers=(5,))
            status = machine.run(
                (Op.TEST_EQ_INT + relation, operand(Space.SLOT, 0), operand(Space.SLOT, 1), 0),
                (Op.COPY, 0, 0, 0),
                (Op.STORE, operand(Space.SLOT, 1), 0, 0),
                new=1,
            )
            wanted = x is not None and (x == y, x != y, x < y, x <= y, x > y, x >= y)[relation % 6]
            assert status == (TRUE if wanted else NOT_TRUE)
            assert machine.registers[1, 0] == (word(y) if wanted else 0)
            assert machine.registers[0, 0] == 5


def test_select_keeps_the_other_value_unless_true():
    for condition, wanted in ((True, 10), (False, 20), (None, 20)):
        machine = Machine(slots=(condition,), registers=(0,))
        status = machine.run(
            (Op.MOVE, operand(Space.INT, 1), 0, 0),
            (Op.SELECT, operand(Space.SLOT, 0), operand(Space.INT, 0), 0),
            (Op.STORE, operand(Space.TEMP, 0), 0, 0),
            ints=(10, 20),
        )
        assert status == TRUE
        assert machine.registers[0, 0] == wanted


def test_constants_of_every_kind_and_null():
    machine = Machine(registers=(0, 0, 0, 0), strings=("x", "y"))
    spaces = (operand(Space.INT, 0), operand(Space.FLOAT, 0), operand(Space.STRING, 1), NULL_OPERAND)
    machine.run(*((Op.STORE, source, 0, number) for number, source in enumerate(spaces)), ints=(MIN,), floats=(2.5,))
    assert machine.registers[0].tolist() == [MIN, word(2.5), 1, 0]
    assert machine.register_valid[0].tolist() == [1, 1, 1, 0]


def test_test_needs_true():
    for value, status in ((1, TRUE), (0, NOT_TRUE), (None, NOT_TRUE)):
        assert Machine(slots=(value,)).run((Op.TEST, operand(Space.SLOT, 0), 0, 0)) == status


def test_every_operation_prints():
    for op in set(Op) - {Op.CALL}:
        code = ScalarCode((op,), (operand(Space.SLOT, 3),), (operand(Space.REGISTER, 1),), (2,))
        assert op.name.lower() in instruction_text(code, 0)
    function = FunctionSignature("f", (FLOAT, FLOAT), FLOAT, compiled=True, strict=True)
    code = ScalarCode((Op.CALL,), (operand(Space.FUNCTION, 0),), (operand(Space.TEMP, 1),), (3,), functions=(function,))
    assert instruction_text(code, 0) == "t3 = call f t1 t2"
    code = ScalarCode((Op.ADD_INT,), (operand(Space.SLOT, 3),), (operand(Space.INT, 0),), (2,), ints=(9,))
    assert instruction_text(code, 0) == "t2 = add_int row.3 9"
