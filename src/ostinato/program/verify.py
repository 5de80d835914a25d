"""Verifies a program before it runs: kernels index without looking, so nothing unverified reaches them. What each opcode reads and writes
is in `program.opcodes`, what each function takes in `expr.typing.functions`: a program is valid if it could have been compiled from
those."""

from __future__ import annotations

from weakref import WeakValueDictionary

from ostinato.expr.typing.coerce import same_form
from ostinato.expr.typing.types import Kind
from ostinato.program.automaton_check import check_automaton
from ostinato.program.column_check import check_columns
from ostinato.program.measure_check import LIMIT, check_measures, check_negation, column_types
from ostinato.program.program import EVENT_STRATEGIES, VERSION, Program
from ostinato.program.requirement import require
from ostinato.program.scalar_check import INT64, check_scalar
from ostinato.program.type_check import check_type

MAX_BITS = 64
MAX_VARIABLES = 250  # a row's variable is one byte
POLICIES = {
    "null_keys": ("group", "never"),
    "selection": ("preferred", "strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match"),
    "skip": ("past last row", "to next row", "to first", "to last"),
    "rows_per_match": ("one", "all", "all, omit empty matches", "all, with unmatched rows"),
    "output": ("all", "nonoverlapping", "first", "count", "compressed", "aggregates", "timeouts"),
    "ties": ("order", "epoch"),
    "within_unit": ("time", "events"),
    "strategy": ("scan", "threads", *EVENT_STRATEGIES),
    "version": (VERSION,),
}
TIMES = (Kind.INT, Kind.DATE, Kind.TIMESTAMP)

_verified: WeakValueDictionary[int, Program] = WeakValueDictionary()  # a stream opens a session of the same program again and again


def verify(program: Program) -> Program:
    """The same program, or a StateError that names what is wrong with it."""
    if _verified.get(id(program)) is program:
        return program
    _policies(program)
    _variables(program)
    _columns(program)
    _timeouts(program)
    _rows(program)
    reach = range(-program.back, program.ahead + 1)
    check_measures(program.measures, program, "measures", reach)
    _output(program)
    check_scalar(program)
    check_automaton(program)
    for negation in program.negations:
        check_negation(negation, program, reach)
    _verified[id(program)] = program
    return program


def _policies(program: Program) -> None:
    for name, known in POLICIES.items():
        require(getattr(program, name) in known, f"a known {name}")
    require(program.within >= -1 and program.within in INT64, "a window that fits 64 bits")
    require(0 <= program.back < LIMIT and 0 <= program.ahead < LIMIT, "reaches to neighbours that fit 64 bits")


def _variables(program: Program) -> None:
    variables = len(program.variables)
    require(variables <= MAX_VARIABLES, f"at most {MAX_VARIABLES} variables")
    require(all(0 <= original < variables - len(program.hidden) for original in program.hidden), "twins of known variables")
    require(len(set(program.hidden)) == len(program.hidden), "one twin of a variable")
    require(all(0 <= member < variables for union in program.unions for member in union), "unions of known variables")
    require(all(len(union) > 0 for union in program.unions), "unions with members")
    reached = range(variables + len(program.unions)) if program.skip in ("to first", "to last") else (-1,)
    require(program.skip_to in reached, "a known variable to skip to")
    shown = program.measures.code is None and program.output != "count"
    require(len(program.kleene) in ((variables,) if shown else (0, variables)), "for every variable whether it repeats")


def _columns(program: Program) -> None:
    count = len(program.columns)
    for column in program.columns:
        check_type(column.type)
    require(count > 0 and len(column_types(program)) == count, "columns with names of their own")
    require(-1 <= program.time < count, "a time column among its columns")
    require(program.time < 0 or program.columns[program.time].type.kind in TIMES, "times in its time column")
    require(all(0 <= k < count for k in program.keys) and len(set(program.keys)) == len(program.keys), "key columns among its columns")
    require(-1 <= program.stream_number < count, "a stream number among its columns")
    require(program.stream_number < 0 or program.columns[program.stream_number].type.kind is Kind.INT, "a whole number of the stream")
    require(all(0 <= column < count for column, _, _ in program.order), "order columns among its columns")
    compared = (*program.keys, *(column for column, _, _ in program.order))
    require(all(program.columns[column].type.is_computable for column in compared), "keys and order columns that can be compared")
    require(program.time < 0 or not program.order or program.order[0][0] == program.time, "the time column first in its order")
    require(program.within < 0 or program.within_unit == "events" or program.time >= 0, "a time column for its window")


def _timeouts(program: Program) -> None:
    fits = program.nfa is not None and program.within >= 0 and program.rows_per_match == "one" and program.skip_to < 0
    require(not program.timeouts or fits, "a row pattern with a window for its timeouts")
    require(program.output != "timeouts" or _ends_runs(program), "runs with a window, each followed by itself, for its timeouts")


def _ends_runs(program: Program) -> bool:
    """Under strict contiguity runs would be ended by rows of other keys, whose times the kernel does not see."""
    seen = program.selection != "strict_contiguity" or not program.keys
    return program.strategy == "runs" and program.within >= 0 and seen and not program.merging and not program.negations


def _rows(program: Program) -> None:
    rows, bits = program.rows, program.bits
    check_columns(rows, "rows", column_types(program).get, range(-program.back, program.ahead + 1))
    require(0 <= bits <= MAX_BITS, "at most 64 predicate bits")
    require(len(rows.results) == bits + len(program.slots), "a row result for every bit and slot")
    types = [rows.ops[result].type for result in rows.results]
    require(all(type_.kind in (Kind.BOOL, Kind.NULL) for type_ in types[:bits]), "conditions for its bits")
    require(all(map(same_form, types[bits:], program.slots)), "slots of the types that are computed for them")
    require(all(0 <= bit < bits for bit in program.filter_bits), "known bits to filter by")


def _output(program: Program) -> None:
    """What is reported of matches has to fit how they are found."""
    listed = program.rows_per_match == "one" or (program.nfa is not None and program.output == "all")
    require(listed, "row patterns where the rows of matches are shown")
    require(program.output == "all" or program.is_event_pattern, "event patterns for other outputs than all matches")
    require(program.skip == "past last row" or not program.is_event_pattern, "row patterns where a match decides how the search goes on")
