"""Which rows can matter to a query whose constants are columns: those that may begin something, and those that follow where something is
begun. An index over the queries answers the first; what it says is necessary, not sufficient, for conditions are evaluated afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ostinato.expr.types import Kind
from ostinato.expr.typing.coerce import same_form
from ostinato.program.analysis.failures.fallible_code import may_fail, rows_may_fail
from ostinato.program.analysis.look_around import look_around
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.ordered_nfa import ACCEPT
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.tree import Branch, TreePattern

EQUAL = "eq"
INDEXED = (EQUAL, "lt", "le", "gt", "ge")
MIRRORED = {"eq": "eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
ONE_TABLE = ("all", "first", "nonoverlapping")  # outputs with a row per match


@dataclass(frozen=True)
class Comparison:
    """`value` is an operation of the pattern's row code that no constant has a part in; `parameter` the number of the constant."""

    value: int
    relation: str
    parameter: int


Conjunction = tuple[Comparison, ...]


@dataclass(frozen=True)
class ConcernedRows:
    """`initial`: a row that may begin something satisfies all of one of these. `follows`: where something is begun, those matter that
    satisfy all of one of these; None: all of the same keys do."""

    initial: tuple[Conjunction, ...]
    follows: tuple[Conjunction, ...] | None


def concerned_rows(pattern: Pattern) -> ConcernedRows:
    """Of a pattern that `why_not_shared` has nothing against."""
    bits = _initial_bits(pattern)
    assert not isinstance(bits, str)
    initial = tuple(_conjunction(pattern, bit) for bit in bits)
    if is_single(pattern):
        return ConcernedRows(initial, ())
    selective = pattern.prefilter_bits and not pattern.look_back
    return ConcernedRows(initial, tuple(_conjunction(pattern, bit) for bit in pattern.prefilter_bits) if selective else None)


def why_not_shared(pattern: Pattern) -> str:
    """Why queries of this shape are not evaluated as one; empty: they are. `pattern` is the expanded one."""
    if pattern.output not in ONE_TABLE or pattern.rows_per_match != "one" or pattern.timeouts:
        return "its output is more than a row per match"
    if pattern.look_ahead or look_around(pattern).before:
        return "conditions look at rows around a match"
    if pattern.leads:
        return "what must not come before a match counts, too"
    bits = _initial_bits(pattern)
    if isinstance(bits, str):
        return bits
    if rows_may_fail(pattern):
        return "a condition on rows may fail, which is an error wherever it does"
    if may_fail(pattern):
        return "what it computes may fail, which is an error of its own"
    if not all(_conjunction(pattern, bit) for bit in bits):
        return "a row that begins a match is compared with no constant"
    return ""


def _initial_bits(pattern: Pattern) -> tuple[int, ...] | str:
    """A match begins with a row that has one of these bits; or why that is not known."""
    if isinstance(pattern, EventPattern):
        if pattern.selection == "strict_contiguity":
            return "under strict contiguity every row of the stream counts"
        bits = {pattern.elements[transition.target].first_bit for transition in pattern.initial}
    elif isinstance(pattern, RowPattern):
        if pattern.nfa.looks_at_start:
            return "the first row of a partition counts"
        first = {variable for variable, _ in pattern.nfa.transitions_of(pattern.nfa.start)}
        bits = {pattern.tests[variable].bit if variable >= 0 else -1 for variable in first}
    elif isinstance(pattern, TreePattern):
        if any(_reaches_before(branch) for branch in pattern.branches):
            return "what must not come with the first event counts, too"
        bits = {pattern.tree[variable].bit for branch in pattern.branches for variable in _firsts(branch)}
    elif isinstance(pattern, InstanceAutomaton):
        bits = {pattern.begin.bit}
    else:
        return "it is evaluated in another way"
    return "any row may begin a match" if -1 in bits or not bits else tuple(sorted(bits))


def is_single(pattern: Pattern) -> bool:
    """Whether a match is one row, and decided by it: nothing is ever begun."""
    if isinstance(pattern, EventPattern):
        return len(pattern.elements) == 1 and not pattern.elements[0].repeats and not pattern.negations
    if isinstance(pattern, RowPattern):
        nfa = pattern.nfa
        return all(nfa.transitions_of(target) == (ACCEPT,) for variable, target in nfa.transitions_of(nfa.start) if variable >= 0)
    return isinstance(pattern, InstanceAutomaton) and not pattern.states


def _firsts(branch: Branch) -> set[int]:
    return set(branch.variables) - {later for _, later in branch.follows}


def _reaches_before(branch: Branch) -> bool:
    """Rows that are simultaneous with the first event may stand before it."""
    return any(negation.left.includes or _reaches_before(negation.branch) for negation in branch.negations)


def _conjunction(pattern: Pattern, bit: int) -> Conjunction:
    """The comparisons with constants that a bit implies."""
    parameters = {column.name: number for number, column in enumerate(pattern.reads.parameters)}
    return tuple(_comparisons(pattern.rows, pattern.rows.results[bit], parameters))


def _comparisons(code: ColumnCode, number: int, parameters: dict[str, int]) -> Iterator[Comparison]:
    op = code.ops[number]
    if op.op != "call":
        return
    if op.params[0] == "and":
        for arg in op.args:
            yield from _comparisons(code, arg, parameters)
    elif op.params[0] in INDEXED:
        for (value, constant), relation in ((op.args, op.params[0]), (op.args[::-1], MIRRORED[op.params[0]])):
            parameter = _parameter(code.ops[constant], parameters)
            if parameter >= 0 and _is_indexed(code, value, constant, relation, parameters):
                yield Comparison(value, relation, parameter)
                return


def _parameter(op: ColumnOp, parameters: dict[str, int]) -> int:
    return parameters.get(op.params[0], -1) if op.op == "input" else -1


def _is_indexed(code: ColumnCode, value: int, constant: int, relation: str, parameters: dict[str, int]) -> bool:
    """A value of the row alone, held as the constant is; texts are found, not ordered."""
    one, other = code.ops[value].type, code.ops[constant].type
    if not same_form(one, other) or (one.kind is Kind.STRING and relation != EQUAL):
        return False
    needed = code.needed_for(value)
    return all(code.ops[n].op != "shift" and _parameter(code.ops[n], parameters) < 0 for n in needed)
