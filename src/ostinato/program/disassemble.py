"""The printed listing of a program."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.elements import Element
from ostinato.program.input import Input
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.listing.instance_text import instance_lines
from ostinato.program.listing.interval_text import interval_lines
from ostinato.program.listing.tree_text import tree_lines
from ostinato.program.measure_code import MatchAggregate, MeasureCode, Point
from ostinato.program.negation import Negation
from ostinato.program.opcodes import instruction_text
from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.program import VERSION
from ostinato.program.scalar_code import ColumnCall
from ostinato.program.tree import TreePattern


def disassemble(pattern: Pattern) -> str:
    return "\n".join(_lines(pattern)) + "\n"


def _lines(pattern: Pattern) -> Iterator[str]:
    yield f"program version {VERSION}"
    yield f"strategy {pattern.evaluation}  -- {pattern.reason}"
    yield from _input(pattern.reads)
    yield from _window(pattern)
    yield from _policies(pattern)
    if pattern.rows.ops:
        yield "rows:"
        yield from _code(pattern.rows)
        yield f"  bits {_numbers(pattern.rows.results[: pattern.bits])}  slots {_numbers(pattern.rows.results[pattern.bits :])}"
    yield from _body(pattern)
    if pattern.registers:
        yield "registers: " + ", ".join(f"r{i} {r.name} {r.type}" for i, r in enumerate(pattern.registers))
    if pattern.scalar.blocks:
        yield from _scalar(pattern)
    for function in pattern.scalar.functions:
        if isinstance(function, ColumnCall):
            yield f"{function.name} of columns:"
            yield from _code(function.columns)
    yield from _measures(pattern)


def _input(reads: Input) -> Iterator[str]:
    yield f"stream {reads.stream}: " + ", ".join(f"{c.name} {c.type}" for c in reads.columns)
    for source in reads.sources:
        renamed = ", ".join(own if own == name else f"{own} as {name}" for own, name in source.columns)
        yield f"  of {source.stream}: {renamed}" + "".join(f", {name} = {value!r}" for name, value in source.constants)
    names = [c.name for c in reads.columns]
    if reads.keys:
        yield f"partition by {', '.join(names[k] for k in reads.keys)} (null keys: {reads.null_keys})"
    if reads.order:
        yield "order by " + ", ".join(names[c] + (" desc" if d else "") for c, d, _ in reads.order)
    if reads.prefilter:
        yield f"a host may filter by {reads.prefilter}"


def _window(pattern: Pattern) -> Iterator[str]:
    if pattern.within >= 0:
        yield f"within {pattern.within} {pattern.within_unit}"
    if pattern.look_back or pattern.look_ahead:
        yield f"neighbours: {pattern.look_back} back, {pattern.look_ahead} ahead"


def _policies(pattern: Pattern) -> Iterator[str]:
    if isinstance(pattern, RowPattern):
        yield from _row_policies(pattern)
    elif isinstance(pattern, EventPattern):
        yield from _event_policies(pattern)
    elif isinstance(pattern, InstanceAutomaton):
        yield from _filtered_by(pattern.prefilter_bits)
    elif isinstance(pattern, IntervalPattern):
        yield f"situations, {pattern.latency}"
    else:
        yield f"nested, output {pattern.output}, strictly in time"


def _body(pattern: Pattern) -> Iterator[str]:
    if isinstance(pattern, RowPattern):
        yield from _automaton(pattern)
    elif isinstance(pattern, TreePattern):
        yield from tree_lines(pattern)
    elif isinstance(pattern, InstanceAutomaton):
        yield from instance_lines(pattern)
    elif isinstance(pattern, IntervalPattern):
        yield from interval_lines(pattern)
    else:
        yield from _elements(pattern)


def _row_policies(pattern: RowPattern) -> Iterator[str]:
    yield "selection preferred, skip " + (pattern.skip if pattern.skip_to < 0 else f"{pattern.skip} {_names(pattern)[pattern.skip_to]}")
    if pattern.rows_per_match != "one":
        yield f"rows per match: {pattern.rows_per_match}"
    if pattern.timeouts:
        yield "partial matches that their window ended are reported"


def _event_policies(pattern: EventPattern) -> Iterator[str]:
    yield f"selection {pattern.selection}, output {pattern.output}, ties {pattern.ties}"
    yield from _filtered_by(pattern.prefilter_bits)


def _filtered_by(bits: tuple[int, ...]) -> Iterator[str]:
    if bits:
        yield f"rows without any of bits {_numbers(bits)} cannot matter"


def _names(pattern: Pattern) -> tuple[str, ...]:
    """By number: variables by their names, unions by their members."""
    return tuple(pattern.member_names(number) for number in pattern.numbers)


def _code(code: ColumnCode) -> Iterator[str]:
    for i, op in enumerate(code.ops):
        yield f"  c{i} = {_operation(op)} : {op.type}"


def _operation(op: ColumnOp) -> str:
    args = ", ".join(f"c{a}" for a in op.args)
    if op.op == "call":
        return f"{op.params[0]}({args})"
    if op.op == "user":
        return f"{op.params[0].name}({args})  -- {op.params[0]}, {op.params[0].kind}"
    if op.op in ("input", "literal"):
        return f"{op.op} {op.params[0]!r}"
    return f"{op.op}({args}{', ' + str(op.params[0]) if op.params else ''})"


def _elements(pattern: Pattern) -> Iterator[str]:
    assert isinstance(pattern, EventPattern)
    for number, element in enumerate(pattern.elements):
        yield f"element {number}: {_element(element, pattern.variables)}"
    for number, negation in enumerate(pattern.negations):
        yield from _negation(number, negation, pattern.variables)


def _automaton(pattern: RowPattern) -> Iterator[str]:
    names = pattern.labels
    for name, test in zip(names, pattern.tests, strict=True):
        yield f"variable {name}: {_test(test.bit, test.block)}"
    accepting = {ACCEPT: "accept", ACCEPT_AT_END: "accept at the end of the partition"}
    for state in range(len(pattern.nfa.first) - 1):
        shown = (
            accepting.get(transition) or f"{names[transition[0]]} -> {transition[1]}" for transition in pattern.nfa.transitions_of(state)
        )
        yield f"state {state}: " + "; ".join(shown)
    if pattern.nfa.looks_at_start:
        yield f"at the first row of a partition: state {pattern.nfa.start_of_partition}"


def _element(c: Element, variables: tuple[str, ...]) -> str:
    quantifier = {(1, False): "", (1, True): "+", (0, True): "*", (0, False): "?"}[c.at_least, c.repeats]
    parts = [f"{variables[c.variable]}{quantifier} first {_test(c.first_bit, c.first_block)}"]
    if c.repeats:
        parts.append(f"later {_test(c.later_bit, c.later_block)}")
    if c.leaving_block >= 0:
        parts.append(f"leaving block {c.leaving_block}")
    parts.append("then " + ", ".join([*(str(transition.target) for transition in c.transitions), *(["match"] if c.completes else [])]))
    return ", ".join(parts)


def _test(bit: int, block: int) -> str:
    parts = [f"bit {bit}"] if bit >= 0 else []
    parts += [f"block {block}"] if block >= 0 else []
    return " and ".join(parts) or "any row"


def _scalar(pattern: Pattern) -> Iterator[str]:
    for number, (start, end) in enumerate(pattern.scalar.blocks):
        if start < end:
            yield f"block {number}:"
            yield from (f"  {instruction_text(pattern.scalar, at)}" for at in range(start, end))


def _measures(pattern: Pattern) -> Iterator[str]:
    measures = pattern.measures
    if measures.code is None:
        shown = {"count": "the number of matches", "compressed": "the graph of all matches, with their events"}
        yield f"output: {shown.get(pattern.output, 'match_id, start_ts, end_ts, the events of every variable')}"
        return
    yield from _looked_at(measures, _names(pattern))
    yield "measures:"
    yield from _code(measures.code)
    yield "  " + ", ".join(f"{name} = c{r}" for name, r in zip(measures.names, measures.code.results, strict=True))


def _looked_at(measures: MeasureCode, variables: tuple[str, ...]) -> Iterator[str]:
    """What code over a match reads of its rows."""
    for i, point in enumerate(measures.points):
        yield f"point {i}: {_point(point, variables)}"
    for i, a in enumerate(measures.aggregates):
        over = "*" if a.value < 0 else f"row value {a.value}"
        yield f"aggregate {i}: {a.function}({over}) over {_variable(a.variable, variables)}{_final(a)} : {a.type}"
    if measures.rows.ops:
        yield "row values:"
        yield from _code(measures.rows)
        yield f"  results {_numbers(measures.rows.results)}"


def _negation(number: int, negation: Negation, variables: tuple[str, ...]) -> Iterator[str]:
    ends = [word for word, negated in (("first", negation.leads), ("last", negation.trails)) if negated]
    place = ("before " + variables[negation.before]) if negation.before < len(variables) else "behind all"
    yield f"negation {number}: {place}" + (f", can stand {' and '.join(ends)}" if ends else "")
    if negation.given.code is not None and negation.given.code.ops:
        yield from _looked_at(negation.given, variables)
        yield "given:"
        yield from _code(negation.given.code)
        yield f"  results {_numbers(negation.given.code.results)}"
    for i, item in enumerate(negation.items):
        points = "".join(f", point {n}: item {point.item} {point.shift:+d} rows" for n, point in enumerate(item.points))
        yield f"forbidden {number}.{i}: {_test(item.bit, -1)}{points}"
        if item.test is not None:
            yield from _code(item.test)
            yield f"  test c{item.test.results[0]}"


def _point(point: Point, variables: tuple[str, ...]) -> str:
    text = f"{point.anchor}({_variable(point.variable, variables)}, {point.offset}){_final(point)}"
    return text if not point.shift else f"{text} {point.shift:+d} rows"


def _final(looked_at: Point | MatchAggregate) -> str:
    return " of the whole match" if looked_at.final else ""


def _variable(number: int, variables: tuple[str, ...]) -> str:
    return "any row" if number < 0 else variables[number]


def _numbers(numbers: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, numbers)) + "]"
