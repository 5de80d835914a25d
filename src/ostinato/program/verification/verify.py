"""Verifies a program before it runs: kernels index without looking, so nothing unverified reaches them. What each opcode reads and writes
is in `program.opcodes`, what each function takes in `expr.typing.functions`: a program is valid if it could have been compiled from
those."""

from __future__ import annotations

from typing import TypeVar
from weakref import WeakValueDictionary

from ostinato.expr.types import Kind
from ostinato.expr.typing.coerce import same_form
from ostinato.program.expansion import expanded
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.program import VERSION, Operator, Program, sharing
from ostinato.program.tree import TreePattern
from ostinato.program.verification.column_check import check_columns
from ostinato.program.verification.event_pattern_check import check_event_pattern
from ostinato.program.verification.input_check import check_input, check_shape
from ostinato.program.verification.instance_check import check_instance_automaton
from ostinato.program.verification.interval_check import check_interval_pattern
from ostinato.program.verification.measure_check import LIMIT, check_measures, column_types
from ostinato.program.verification.requirement import require
from ostinato.program.verification.row_pattern_check import check_row_pattern
from ostinato.program.verification.scalar_check import INT64, check_scalar
from ostinato.program.verification.tree_check import check_tree_pattern

MAX_BITS = 64
ONE_ROW = ("count", "aggregates")  # of all matches, at the end
MAX_VARIABLES = 250  # a row's variable is one byte

_verified: WeakValueDictionary[int, Pattern] = WeakValueDictionary()  # a stream opens a session of the same program again and again

AnyPattern = TypeVar("AnyPattern", bound=Pattern)


_verified_programs: WeakValueDictionary[int, Program] = WeakValueDictionary()


def verify(program: Program) -> Program:
    """The same program, or a StateError that names what is wrong with it."""
    if _verified_programs.get(id(program)) is program:
        return program
    require(program.version == VERSION, "a known version")
    for reads in program.inputs:
        check_input(reads)
        check_shape(reads)
    for number, operator in enumerate(program.operators):
        verify_pattern(expanded(operator.body) if operator.body.reads.shape else operator.body)
        _check_place(number, operator, program)
    names = [operator.name for operator in program.operators]
    require(len(set(names)) == len(names), "operators with names of their own")
    _check_inputs(program)
    ids = [result.query for result in program.results]
    some = len(ids) > 0 or not program.operators  # a set without queries has neither
    require(some and len(set(ids)) == len(ids), "results with names of their own")
    require(all(0 <= result.operator < len(program.operators) for result in program.results), "results of known operators")
    _verified_programs[id(program)] = program
    return program


def _check_inputs(program: Program) -> None:
    """Each is read, and stands behind the inputs of the operators whose results are its rows."""
    read = {operator.ports[0] for operator in program.operators}
    require(read == set(range(len(program.inputs))), "inputs that are read")
    shared = [operator.ports[0] for operator in program.operators if program.inputs[operator.ports[0]].shape]
    require(len(set(shared)) == len(shared), "one operator for the queries of a shape")
    require(not any(source.operator >= 0 for n in shared for source in program.inputs[n].sources), "shapes over streams from outside")
    for number, reads in enumerate(program.inputs):
        fed = [program.operators[source.operator] for source in reads.sources if source.operator >= 0]
        require(not fed or reads.time >= 0, "times of the events that operators read from one another")
        require(all(operator.ports[0] < number for operator in fed), "inputs behind those of the operators that they read")
        require(all(operator.body.output not in ONE_ROW for operator in fed), "operators with events for those that read them")


def _check_place(number: int, operator: Operator, program: Program) -> None:
    """What an operator reads is there, and comes from operators before it."""
    require(len(operator.ports) == 1 and 0 <= operator.ports[0] < len(program.inputs), "operators that read one known input each")
    reads, shared = operator.body.reads, program.inputs[operator.ports[0]]
    require(sharing(reads) == sharing(shared) and set(reads.columns) <= set(shared.columns), "operators that read what their input has")
    require(all(-1 <= source.operator < number for source in shared.sources), "operators behind those whose results they read")


def verify_pattern(pattern: AnyPattern) -> AnyPattern:
    """The same pattern, or a StateError that names what is wrong with it."""
    if _verified.get(id(pattern)) is pattern:
        return pattern
    check_input(pattern.reads)
    _window(pattern)
    _variables(pattern)
    _rows(pattern)
    check_measures(pattern.measures, pattern, "measures")
    check_scalar(pattern)
    if isinstance(pattern, RowPattern):
        check_row_pattern(pattern)
    elif isinstance(pattern, EventPattern):
        check_event_pattern(pattern)
    elif isinstance(pattern, TreePattern):
        check_tree_pattern(pattern)
    elif isinstance(pattern, IntervalPattern):
        check_interval_pattern(pattern)
    else:
        require(isinstance(pattern, InstanceAutomaton), "a row pattern, an event pattern, a nested one, an automaton or one of situations")
        assert isinstance(pattern, InstanceAutomaton)
        check_instance_automaton(pattern)
    _verified[id(pattern)] = pattern
    return pattern


def _window(pattern: Pattern) -> None:
    require(pattern.within_unit in ("time", "events"), "a known within_unit")
    require(pattern.within >= -1 and pattern.within in INT64, "a window that fits 64 bits")
    require(pattern.within < 0 or pattern.within_unit == "events" or pattern.reads.time >= 0, "a time column for its window")
    require(0 <= pattern.look_back < LIMIT and 0 <= pattern.look_ahead < LIMIT, "reaches to neighbours that fit 64 bits")


def _variables(pattern: Pattern) -> None:
    variables = len(pattern.variables)
    require(variables <= MAX_VARIABLES, f"at most {MAX_VARIABLES} variables")
    shown = pattern.measures.code is None and pattern.output != "count"
    require(len(pattern.kleene) in ((variables,) if shown else (0, variables)), "for every variable whether it repeats")


def _rows(pattern: Pattern) -> None:
    rows, bits = pattern.rows, pattern.bits
    check_columns(rows, "rows", column_types(pattern).get, pattern.neighbours)
    require(0 <= bits <= MAX_BITS, "at most 64 predicate bits")
    require(len(rows.results) == bits + len(pattern.slots), "a row result for every bit and slot")
    types = [rows.ops[result].type for result in rows.results]
    require(all(type_.kind in (Kind.BOOL, Kind.NULL) for type_ in types[:bits]), "conditions for its bits")
    require(all(map(same_form, types[bits:], pattern.slots)), "slots of the types that are computed for them")
