"""A program is checked before it runs: every number it holds must point at something."""

from __future__ import annotations

from ostinato.base.errors import StateError
from ostinato.program.column_code import OPERATIONS, ColumnCode
from ostinato.program.program import EVENT_STRATEGIES, Program

MAX_BITS = 64


def verify(program: Program) -> Program:
    """The same program, or a StateError that names what is wrong with it."""
    _columns(program)
    _column_code(program.rows, "rows", len(program.columns))
    _column_code(program.measures.rows, "measures.rows", None)
    if program.measures.code is not None:
        _column_code(program.measures.code, "measures", None)
        _require(len(program.measures.names) == len(program.measures.code.results), "a name for every measure")
    _require(0 <= program.bits <= MAX_BITS, "at most 64 predicate bits")
    _require(len(program.rows.results) == program.bits + len(program.slots), "a row result for every bit and slot")
    _automaton(program)
    _negations(program)
    _scalar(program)
    return program


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise StateError(f"the program is not valid: it needs {what}")


def _columns(program: Program) -> None:
    count = len(program.columns)
    _require(-1 <= program.time < count, "a time column among its columns")
    _require(all(0 <= k < count for k in program.keys), "key columns among its columns")
    _require(all(0 <= column < count for column, _, _ in program.order), "order columns among its columns")
    _require(program.within < 0 or program.within_unit == "events" or program.time >= 0, "a time column for its window")
    _require(program.strategy in ("scan", "threads", *EVENT_STRATEGIES), "a known strategy")


def _column_code(code: ColumnCode, name: str, _: int | None) -> None:
    for i, op in enumerate(code.ops):
        _require(op.op in OPERATIONS, f"known operations in {name}")
        _require(all(0 <= a < i for a in op.args), f"operations in {name} that look back only")
    _require(all(0 <= r < len(code.ops) for r in code.results), f"results of {name} among its operations")


def _automaton(program: Program) -> None:
    variables = len(program.variables)
    blocks = len(program.scalar.blocks)
    if program.is_event_pattern:
        _require(len(program.components) > 0, "at least one component")
        for c in program.components:
            _require(0 <= c.variable < variables, "components with known variables")
            _require(all(-1 <= bit < program.bits for bit in (c.first_bit, c.later_bit)), "components with known bits")
            _require(all(-1 <= b < blocks for b in (c.first_block, c.later_block, c.leaving_block)), "components with known blocks")
        count = len(program.components)
        begins = [begin for c in program.components for begin in c.begins]
        reached = [place for begin in (*program.entries, *begins) for place in (begin.target, *begin.passed)]
        _require(len(program.entries) > 0 and all(0 <= place < count for place in reached), "moves to known components")
        return
    _require(program.nfa is not None and len(program.tests) == variables, "an automaton and a test for every variable")
    nfa = program.nfa
    states = len(nfa.first) - 1
    _require(nfa.first[0] == 0 and nfa.first[-1] == len(nfa.moves), "moves for every state")
    for variable, target in nfa.moves:
        known = (variable, target) == (-1, -1) or (0 <= variable < variables and 0 <= target < states)
        _require(known, "moves to known states")
    for test in program.tests:
        _require(-1 <= test.bit < program.bits and -1 <= test.block < blocks, "tests with known bits and blocks")


def _negations(program: Program) -> None:
    for negation in program.negations:
        _require(program.is_event_pattern and len(negation.items) > 0, "events that a negation forbids")
        _require(0 <= negation.before <= len(program.variables), "negations at known places")
        _require(program.within >= 0 or not (negation.leads or negation.trails), "a window for negations at an end")
        _require(negation.given.code is not None, "code for what negations ask of a match")
        for item in negation.items:
            _require(-1 <= item.bit < program.bits, "forbidden events with known bits")
            if item.test is not None:
                _column_code(item.test, "a negation", None)
                _require(len(item.test.results) == 1, "one result of a test")
            if item.join is not None:
                _require(item.join[0] in {column.name for column in program.columns}, "joins over its columns")
                _require(0 <= item.join[1] < len(negation.given.code.results), "joins with what is given")


def _scalar(program: Program) -> None:
    code = program.scalar
    length = len(code.op)
    _require(len(code.a) == len(code.b) == len(code.c) == length, "operands for every scalar operation")
    _require(all(0 <= start <= end <= length for start, end in code.blocks), "scalar blocks within the code")
