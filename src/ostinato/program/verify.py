"""A program is checked before it runs: every number it holds must point at something."""

from __future__ import annotations

from ostinato.base.errors import StateError
from ostinato.expr.types import Kind
from ostinato.program.column_code import OPERATIONS, ColumnCode
from ostinato.program.inputs import COLUMN
from ostinato.program.opcodes import SPACES, Op, Space, shape
from ostinato.program.program import ACCEPT, ACCEPT_AT_END, EVENT_STRATEGIES, MeasureCode, Program

MAX_BITS = 64
MAX_TEMPS = 1 << 20
LIMIT = 1 << 62
INT64 = range(-(2**63), 2**63)
KNOWN_OPS = frozenset(int(op) for op in Op)
AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last", "stddev", "array")
PARAMETERS = {"input": 1, "literal": 1, "shift": 1, "call": 1}
OPERANDS = {"input": 0, "literal": 0, "shift": 1, "cast": 1}
POLICIES = {
    "null_keys": ("group", "never"),
    "selection": ("preferred", "strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match"),
    "skip": ("past last row", "to next row", "to first", "to last"),
    "rows_per_match": ("one", "all", "all, omit empty matches", "all, with unmatched rows"),
    "output": ("all", "nonoverlapping", "first", "count", "compressed", "aggregates", "timeouts"),
    "ties": ("order", "epoch"),
    "within_unit": ("time", "events"),
}


def verify(program: Program) -> Program:
    """The same program, or a StateError that names what is wrong with it."""
    _policies(program)
    _columns(program)
    columns = {column.name for column in program.columns}
    _column_code(program.rows, "rows", columns)
    _measures(program.measures, program, "measures")
    _require(0 <= program.bits <= MAX_BITS, "at most 64 predicate bits")
    _require(len(program.rows.results) == program.bits + len(program.slots), "a row result for every bit and slot")
    conditions = (program.rows.ops[result].type.kind for result in program.rows.results[: program.bits])
    _require(all(kind in (Kind.BOOL, Kind.NULL) for kind in conditions), "conditions for its bits")
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
    _require(-1 <= program.stream_number < count, "a stream number among its columns")
    _require(all(0 <= column < count for column, _, _ in program.order), "order columns among its columns")
    _require(program.within < 0 or program.within_unit == "events" or program.time >= 0, "a time column for its window")
    _require(program.strategy in ("scan", "threads", *EVENT_STRATEGIES), "a known strategy")
    fits = program.nfa is not None and program.within >= 0 and program.rows_per_match == "one" and program.skip_to < 0
    _require(not program.timeouts or fits, "a row pattern with a window for its timeouts")
    _require(program.output != "timeouts" or _ends_runs(program), "runs with a window, each followed by itself, for its timeouts")
    _require(len(program.kleene) in (0, len(program.variables)), "for every variable whether it repeats")


def _ends_runs(program: Program) -> bool:
    """Under strict contiguity runs would be ended by rows of other keys, whose times the kernel does not see."""
    seen = program.selection != "strict_contiguity" or not program.keys
    return program.strategy == "runs" and program.within >= 0 and seen and not program.merging and not program.negations


def _policies(program: Program) -> None:
    for name, known in POLICIES.items():
        _require(getattr(program, name) in known, f"a known {name}")
    variables = len(program.variables)
    _require(all(0 <= member < variables for union in program.unions for member in union), "unions of known variables")
    _require(all(0 <= original < variables - len(program.hidden) for original in program.hidden), "twins of known variables")
    _require(all(len(union) > 0 for union in program.unions), "unions with members")
    reached = range(variables + len(program.unions)) if program.skip in ("to first", "to last") else (-1,)
    _require(program.skip_to in reached, "a known variable to skip to")
    _require(program.within >= -1 and program.within in INT64, "a window that fits 64 bits")
    _require(0 <= program.back < LIMIT and 0 <= program.ahead < LIMIT, "reaches to neighbours that fit 64 bits")


def _measures(measures: MeasureCode, program: Program, name: str) -> None:
    columns = {column.name for column in program.columns}
    variables = len(program.variables) + len(program.unions)
    _column_code(measures.rows, f"{name}.rows", {COLUMN + column for column in columns} | {"classifier", "match_number"})
    for point in measures.points:
        _require(-1 <= point.variable < variables and point.anchor in ("FIRST", "LAST"), f"points in {name} at known variables")
        _require(0 <= point.offset < LIMIT and -LIMIT < point.shift < LIMIT, f"points in {name} that fit 64 bits")
    for aggregate in measures.aggregates:
        _require(aggregate.function in AGGREGATES and -1 <= aggregate.variable < variables, f"known aggregates in {name}")
        least = -1 if aggregate.function == "count" else 0
        _require(least <= aggregate.value < len(measures.rows.results), f"aggregates in {name} over known values")
    if measures.code is not None:
        _column_code(measures.code, name, _match_inputs(measures, columns) | {f"partition:{program.columns[k].name}" for k in program.keys})
        _require(name != "measures" or len(measures.names) == len(measures.code.results), "a name for every measure")


def _match_inputs(measures: MeasureCode, columns: set[str]) -> set[str]:
    points = range(len(measures.points))
    found = {f"point:{point}:{column}" for point in points for column in columns}
    found |= {f"{kind}:{point}" for kind in ("exists", "classifier") for point in points}
    found |= {f"aggregate:{number}" for number in range(len(measures.aggregates))}
    return found | {"match_number"}


def _column_code(code: ColumnCode, name: str, inputs: set[str] | None) -> None:
    for i, op in enumerate(code.ops):
        _require(op.op in OPERATIONS, f"known operations in {name}")
        _require(all(0 <= a < i for a in op.args), f"operations in {name} that look back only")
        _require(len(op.params) == PARAMETERS.get(op.op, 0), f"parameters for the operations in {name}")
        _require(len(op.args) == OPERANDS.get(op.op, len(op.args)), f"operands for the operations in {name}")
        _require(inputs is None or op.op != "input" or op.params[0] in inputs, f"known inputs in {name}")
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
    assert nfa is not None
    states = len(nfa.first) - 1
    _require(0 <= nfa.start < states and 0 <= nfa.start_of_partition < states, "a known state to start in")
    _require(nfa.first[0] == 0 and nfa.first[-1] == len(nfa.moves) and list(nfa.first) == sorted(nfa.first), "moves for every state")
    for state in range(states):
        for place, (variable, target) in enumerate(moves := nfa.moves_of(state), 1):
            accepts = place == len(moves) and (variable, target) in (ACCEPT, ACCEPT_AT_END)
            _require(accepts or (0 <= variable < variables and 0 <= target < states), "moves to known states")
    for test in program.tests:
        _require(-1 <= test.bit < program.bits and -1 <= test.block < blocks, "tests with known bits and blocks")


def _negations(program: Program) -> None:
    for negation in program.negations:
        _require(program.is_event_pattern and len(negation.items) > 0, "events that a negation forbids")
        _require(0 <= negation.before <= len(program.variables), "negations at known places")
        _require(program.within >= 0 or not (negation.leads or negation.trails), "a window for negations at an end")
        _require(negation.given.code is not None, "code for what negations ask of a match")
        _measures(negation.given, program, "a negation")
        for item in negation.items:
            _require(-1 <= item.bit < program.bits, "forbidden events with known bits")
            if item.test is not None:
                _column_code(item.test, "a negation", None)
                _require(len(item.test.results) == 1, "one result of a test")
            if item.join is not None:
                _require(item.join[0] in {column.name for column in program.columns}, "joins over its columns")
                assert negation.given.code is not None
                _require(0 <= item.join[1] < len(negation.given.code.results), "joins with what is given")


def _scalar(program: Program) -> None:
    code = program.scalar
    length = len(code.op)
    _require(len(code.a) == len(code.b) == len(code.c) == length, "operands for every scalar operation")
    _require(all(0 <= start <= end <= length for start, end in code.blocks), "scalar blocks within the code")
    _require(all(op in KNOWN_OPS for op in code.op), "known scalar operations")
    _require(all(number in INT64 for number in (*code.ints, *code.a, *code.b, *code.c)), "numbers that fit 64 bits")
    forms = [shape(Op(op)) for op in code.op]
    temps = max((c + 1 for c, form in zip(code.c, forms, strict=True) if form[2] == "t"), default=0)
    held = {
        Space.TEMP: temps, Space.SLOT: len(program.slots), Space.REGISTER: len(program.registers), Space.INT: len(code.ints),
        Space.FLOAT: len(code.floats), Space.STRING: len(code.strings), Space.NULL: 1,
    }  # fmt: skip
    for a, b, c, form in zip(code.a, code.b, code.c, forms, strict=True):
        for word, used in ((a, form[0]), (b, form[1])):
            index, space = divmod(word, SPACES)
            _require(used == "-" or (space in held and 0 <= index < held[Space(space)]), "scalar operands that are held somewhere")
        _require(form[2] == "-" or 0 <= c < (MAX_TEMPS if form[2] == "t" else len(program.registers)), "places for scalar results")
