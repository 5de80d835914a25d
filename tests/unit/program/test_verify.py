"""The verifier refuses programs whose numbers point nowhere."""

from dataclasses import replace

import pytest

from ostinato.base.errors import StateError
from ostinato.expr.types import BOOL, INT
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.opcodes import NULL_OPERAND, Op, Space, operand
from ostinato.program.program import (
    Begin,
    Column,
    Component,
    MatchAggregate,
    MeasureCode,
    OrderedNfa,
    Point,
    Program,
    ScalarCode,
    VariableTest,
)
from ostinato.program.verify import verify

SCAN = Program(
    "scan", "test", "t", (Column("x", INT),), ("A", "B"), order=((0, False, False),), time=0,
    rows=ColumnCode((ColumnOp("input", (), BOOL, ("x",)),), (0,)), bits=1,
    nfa=OrderedNfa((0, 1, 3), ((0, 1), (1, 0), (-1, -1))), tests=(VariableTest(0, -1), VariableTest(-1, -1)),
)  # fmt: skip
RUNS = replace(
    SCAN, strategy="runs", nfa=None, tests=(), components=(Component(0, 1, False, 0, -1, -1, -1, -1),), entries=(Begin(0, (), True),)
)

BROKEN = {
    "time": replace(SCAN, time=3),
    "key": replace(SCAN, keys=(1,)),
    "order": replace(SCAN, order=((4, False, False),)),
    "window without time": replace(SCAN, time=-1, within=5),
    "strategy": replace(SCAN, strategy="magic"),
    "operation": replace(SCAN, rows=ColumnCode((ColumnOp("jump", (), BOOL),), (0,))),
    "forward argument": replace(SCAN, rows=ColumnCode((ColumnOp("cast", (0,), BOOL),), (0,))),
    "result": replace(SCAN, rows=ColumnCode((), (0,))),
    "bit count": replace(SCAN, bits=2),
    "move": replace(SCAN, nfa=OrderedNfa((0, 1), ((0, 7),))),
    "accepting before a move": replace(SCAN, nfa=OrderedNfa((0, 2), ((-2, -1), (0, 0)))),
    "start of a partition": replace(SCAN, nfa=OrderedNfa((0, 1), ((0, 0),), 0, 1)),
    "test": replace(SCAN, tests=(VariableTest(5, -1), VariableTest(-1, -1))),
    "no automaton": replace(SCAN, nfa=None),
    "no component": replace(RUNS, components=()),
    "no entry": replace(RUNS, entries=()),
    "begin": replace(RUNS, entries=(Begin(1, (), True),)),
    "component bit": replace(RUNS, components=(Component(0, 1, False, 9, -1, -1, -1, -1),)),
    "component block": replace(RUNS, components=(Component(0, 1, False, 0, -1, 3, -1, -1),)),
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
    "point": replace(SCAN, measures=MeasureCode((), ColumnCode(), points=(Point(2, "LAST", 0, 0),))),
    "aggregate": replace(SCAN, measures=MeasureCode((), ColumnCode(), aggregates=(MatchAggregate("sum", 0, 0, INT),))),
    "measure names": replace(SCAN, measures=MeasureCode(("m",), ColumnCode())),
}


@pytest.mark.parametrize("program", [SCAN, RUNS], ids=["scan", "runs"])
def test_sound_programs_pass(program):
    assert verify(program) is program


@pytest.mark.parametrize("name", BROKEN)
def test_broken_programs_are_refused(name):
    with pytest.raises(StateError, match="not valid"):
        verify(BROKEN[name])
