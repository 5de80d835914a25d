"""The verifier refuses programs whose numbers point nowhere."""

from dataclasses import replace

import pytest

from ostinato.base.errors import StateError
from ostinato.expr.types import BOOL, INT, STRING
from ostinato.expr.typing.functions import FUNCTIONS
from ostinato.kernels.vectors.functions import LENIENT, STRICT
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.elements import Element, Transition
from ostinato.program.input import Column, Input
from ostinato.program.measure_code import MatchAggregate, MeasureCode, Point
from ostinato.program.negation import NegatedEvent, Negation
from ostinato.program.opcodes import NULL_OPERAND, SIGNATURES, Op, Space, operand
from ostinato.program.ordered_nfa import OrderedNfa, VariableTest
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.scalar_code import Register, ScalarCode
from ostinato.program.verification.verify import verify_pattern

READS = Input("t", (Column("x", INT), Column("b", BOOL)), time=0, order=((0, False, False),))
CONDITION = ColumnCode((ColumnOp("input", (), BOOL, ("b",)),), (0,))
SCAN = RowPattern(
    READS, "scan", "test", ("A", "B"), rows=CONDITION, bits=1, kleene=(False, False),
    nfa=OrderedNfa((0, 1, 3), ((0, 1), (1, 0), (-1, -1))), tests=(VariableTest(0, -1), VariableTest(-1, -1)),
)  # fmt: skip
RUNS = EventPattern(
    READS, "runs", "test", ("A",), rows=CONDITION, bits=1, kleene=(False,), selection="skip_till_any_match",
    elements=(Element(0, 1, False, 0, -1, -1, -1, -1),), initial=(Transition(0, (), True),),
)  # fmt: skip
THREADS = replace(
    SCAN, evaluation="threads", slots=(INT,),
    rows=ColumnCode((ColumnOp("input", (), BOOL, ("b",)), ColumnOp("input", (), INT, ("x",))), (0, 1)),
    registers=(Register("last(A, 0)", INT), Register("name", STRING)), tests=(VariableTest(0, 0), VariableTest(-1, -1)),
)  # fmt: skip
ROW, HELD, NAME, FIRST = (operand(*place) for place in ((Space.SLOT, 0), (Space.REGISTER, 0), (Space.REGISTER, 1), (Space.TEMP, 0)))


def threads(*lines: tuple[int, int, int, int]) -> RowPattern:
    """With these operations as the one block of scalar code."""
    op, a, b, c = zip(*((int(op), *operands) for op, *operands in lines), strict=True)
    return replace(THREADS, scalar=ScalarCode(op, a, b, c, (5,), (0.5,), ("s",), blocks=((0, len(op)),)))


TEST, COPY, STORE = (Op.TEST_LT_INT, ROW, HELD, 0), (Op.COPY, 0, 0, 0), (Op.STORE, ROW, 0, 0)

BROKEN = {
    "time": replace(SCAN, reads=replace(READS, time=3)),
    "key": replace(SCAN, reads=replace(READS, keys=(2,))),
    "order": replace(SCAN, reads=replace(READS, order=((4, False, False),))),
    "window without time": replace(SCAN, reads=replace(READS, time=-1), within=5),
    "evaluation": replace(SCAN, evaluation="magic"),
    "evaluation of event patterns": replace(SCAN, evaluation="runs"),
    "evaluation of row patterns": replace(RUNS, evaluation="scan"),
    "operation": replace(SCAN, rows=ColumnCode((ColumnOp("jump", (), BOOL),), (0,))),
    "forward argument": replace(SCAN, rows=ColumnCode((ColumnOp("cast", (0,), BOOL),), (0,))),
    "result": replace(SCAN, rows=ColumnCode((), (0,))),
    "bit count": replace(SCAN, bits=2),
    "move": replace(SCAN, nfa=OrderedNfa((0, 1), ((0, 7),))),
    "accepting before a move": replace(SCAN, nfa=OrderedNfa((0, 2), ((-2, -1), (0, 0)))),
    "start of a partition": replace(SCAN, nfa=OrderedNfa((0, 1), ((0, 0),), 0, 1)),
    "test": replace(SCAN, tests=(VariableTest(5, -1), VariableTest(-1, -1))),
    "no automaton": replace(SCAN, nfa=OrderedNfa((0,), ())),
    "neither kind of pattern": Pattern(READS, "scan", "test", ("A",), rows=CONDITION, bits=1, kleene=(False,)),
    "no element": replace(RUNS, elements=()),
    "no entry": replace(RUNS, initial=()),
    "begin": replace(RUNS, initial=(Transition(1, (), True),)),
    "element bit": replace(RUNS, elements=(Element(0, 1, False, 9, -1, -1, -1, -1),)),
    "element block": replace(RUNS, elements=(Element(0, 1, False, 0, -1, 3, -1, -1),)),
    "scalar operands": replace(SCAN, scalar=ScalarCode(op=(1,))),
    "scalar block": replace(SCAN, scalar=ScalarCode(blocks=((0, 4),))),
    "scalar operation": replace(SCAN, scalar=ScalarCode((99,), (0,), (0,), (0,))),
    "scalar slot": replace(SCAN, scalar=ScalarCode((int(Op.TEST),), (operand(Space.SLOT, 3),), (0,), (0,))),
    "scalar register": replace(SCAN, scalar=ScalarCode((int(Op.STORE),), (NULL_OPERAND,), (0,), (7,))),
    "policy": replace(SCAN, skip="nowhere"),
    "twin": replace(SCAN, hidden=(1,)),
    "start": replace(SCAN, nfa=replace(SCAN.nfa, start=2)),
    "input": replace(SCAN, rows=ColumnCode((ColumnOp("input", (), BOOL, ("y",)),), (0,))),
    "condition": replace(SCAN, rows=ColumnCode((ColumnOp("input", (), INT, ("x",)),), (0,))),
    "input of another type": replace(SCAN, rows=ColumnCode((ColumnOp("input", (), BOOL, ("x",)),), (0,))),
    "point": replace(SCAN, measures=MeasureCode((), ColumnCode(), points=(Point(2, "LAST", 0, 0),))),
    "aggregate": replace(SCAN, measures=MeasureCode((), ColumnCode(), aggregates=(MatchAggregate("sum", 0, 0, INT),))),
    "a string that is a number": threads((Op.RANK, ROW, 0, 0), COPY, STORE),
    "strings of which one is a number": threads((Op.MIN_STRING, NAME, ROW, 0), COPY, STORE),
    "a temporary of another block": threads((Op.TEST, FIRST, 0, 0), COPY, STORE),
    "a selection of two kinds": threads((Op.MOVE, NAME, 0, 0), (Op.SELECT, ROW, ROW, 0), COPY, STORE),
    "a register of another kind": threads(TEST, COPY, (Op.STORE, NAME, 0, 0)),
    "a store before the copy": threads(TEST, STORE, COPY),
    "a test behind the copy": threads(COPY, TEST),
    "a binding block without a copy": threads(TEST),
    "an operand beyond the constants": threads((Op.TEST_LT_INT, ROW, operand(Space.INT, 1), 0), COPY, STORE),
    "a space that is none": threads((Op.TEST, 7, 0, 0), COPY, STORE),
    "threads of a scan": replace(threads(TEST, COPY, STORE), evaluation="scan"),
    "blocks apart": replace(THREADS, scalar=ScalarCode((int(Op.COPY),) * 2, (0,) * 2, (0,) * 2, (0,) * 2, blocks=((0, 1), (0, 1), (1, 2)))),
    "measure names": replace(SCAN, measures=MeasureCode(("m",), ColumnCode())),
}


@pytest.mark.parametrize("pattern", [SCAN, RUNS, threads(TEST, COPY, STORE)], ids=["scan", "runs", "threads"])
def test_sound_programs_pass(pattern):
    assert verify_pattern(pattern) is pattern


@pytest.mark.parametrize("name", BROKEN)
def test_broken_programs_are_refused(name):
    with pytest.raises(StateError, match="not valid"):
        verify_pattern(BROKEN[name])


def test_compact_knows_no_negation_where_simultaneous_events_do_not_follow_one_another():
    negated = Negation(0, (NegatedEvent(0),), leads=True, trails=False, given=MeasureCode((), ColumnCode()))
    carried = replace(RUNS, evaluation="compact", negations=(negated,), within=5)
    verify_pattern(carried)
    verify_pattern(replace(carried, evaluation="runs", ties="epoch"))
    with pytest.raises(StateError, match="ties by order"):
        verify_pattern(replace(carried, ties="epoch"))


def test_every_operation_says_what_it_reads_and_writes():
    assert set(SIGNATURES) == set(Op)


def test_every_function_of_the_columns_has_a_rule():
    assert set(LENIENT) | set(STRICT) <= set(FUNCTIONS)


def test_what_was_verified_is_not_looked_at_again(monkeypatch):
    pattern = verify_pattern(replace(SCAN))
    monkeypatch.setattr("ostinato.program.verification.verify.check_input", lambda reads: pytest.fail("looked at again"))
    assert verify_pattern(pattern) is pattern
