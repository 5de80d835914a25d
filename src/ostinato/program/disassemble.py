"""The printed listing of a program."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.opcodes import instruction_text
from ostinato.program.program import ACCEPT, ACCEPT_AT_END, Component, MatchAggregate, MeasureCode, Negation, Point, Program


def disassemble(program: Program) -> str:
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield f"program version {program.version}"
    yield f"strategy {program.strategy}  -- {program.reason}"
    yield f"stream {program.stream}: " + ", ".join(f"{c.name} {c.type}" for c in program.columns)
    yield from _policies(program)
    if program.rows.ops:
        yield "rows:"
        yield from _code(program.rows)
        yield f"  bits {_numbers(program.rows.results[: program.bits])}  slots {_numbers(program.rows.results[program.bits :])}"
    yield from _automaton(program)
    for number, negation in enumerate(program.negations):
        yield from _negation(number, negation, program.variables)
    if program.registers:
        yield "registers: " + ", ".join(f"r{i} {r.name} {r.type}" for i, r in enumerate(program.registers))
    if program.scalar.blocks:
        yield from _scalar(program)
    yield from _measures(program)


def _policies(program: Program) -> Iterator[str]:
    names = [c.name for c in program.columns]
    if program.keys:
        yield f"partition by {', '.join(names[k] for k in program.keys)} (null keys: {program.null_keys})"
    if program.order:
        yield "order by " + ", ".join(names[c] + (" desc" if d else "") for c, d, _ in program.order)
    yield f"selection {program.selection}, output {program.output}, skip {_skip(program)}, ties {program.ties}"
    if program.rows_per_match != "one":
        yield f"rows per match: {program.rows_per_match}"
    if program.timeouts:
        yield "partial matches that their window ended are reported"
    if program.within >= 0:
        yield f"within {program.within} {program.within_unit}"
    if program.back or program.ahead:
        yield f"neighbours: {program.back} back, {program.ahead} ahead"
    if program.filter_bits:
        yield f"rows without any of bits {_numbers(program.filter_bits)} cannot matter"


def _skip(program: Program) -> str:
    return program.skip if program.skip_to < 0 else f"{program.skip} {_names(program)[program.skip_to]}"


def _names(program: Program) -> tuple[str, ...]:
    """By number: variables by their names, unions by their members."""
    count = len(program.variables) + len(program.unions)
    return tuple(program.member_names(number) for number in range(count))


def _code(code: ColumnCode) -> Iterator[str]:
    for i, op in enumerate(code.ops):
        yield f"  c{i} = {_operation(op)} : {op.type}"


def _operation(op: ColumnOp) -> str:
    args = ", ".join(f"c{a}" for a in op.args)
    if op.op == "call":
        return f"{op.params[0]}({args})"
    if op.op in ("input", "literal"):
        return f"{op.op} {op.params[0]!r}"
    return f"{op.op}({args}{', ' + str(op.params[0]) if op.params else ''})"


def _automaton(program: Program) -> Iterator[str]:
    for number, component in enumerate(program.components):
        yield f"component {number}: {_component(component, program.variables)}"
    names = program.labels
    for name, test in zip(names, program.tests, strict=False):
        yield f"variable {name}: {_test(test.bit, test.block)}"
    if program.nfa is None:
        return
    accepting = {ACCEPT: "accept", ACCEPT_AT_END: "accept at the end of the partition"}
    for state in range(len(program.nfa.first) - 1):
        shown = (accepting.get(move) or f"{names[move[0]]} -> {move[1]}" for move in program.nfa.moves_of(state))
        yield f"state {state}: " + "; ".join(shown)
    if program.nfa.looks_at_start:
        yield f"at the first row of a partition: state {program.nfa.start_of_partition}"


def _component(c: Component, variables: tuple[str, ...]) -> str:
    quantifier = {(1, False): "", (1, True): "+", (0, True): "*", (0, False): "?"}[c.at_least, c.repeats]
    parts = [f"{variables[c.variable]}{quantifier} first {_test(c.first_bit, c.first_block)}"]
    if c.repeats:
        parts.append(f"later {_test(c.later_bit, c.later_block)}")
    if c.leaving_block >= 0:
        parts.append(f"leaving block {c.leaving_block}")
    parts.append("then " + ", ".join([*(str(begin.target) for begin in c.begins), *(["match"] if c.completes else [])]))
    return ", ".join(parts)


def _test(bit: int, block: int) -> str:
    parts = [f"bit {bit}"] if bit >= 0 else []
    parts += [f"block {block}"] if block >= 0 else []
    return " and ".join(parts) or "any row"


def _scalar(program: Program) -> Iterator[str]:
    for number, (start, end) in enumerate(program.scalar.blocks):
        if start < end:
            yield f"block {number}:"
            yield from (f"  {instruction_text(program.scalar, at)}" for at in range(start, end))


def _measures(program: Program) -> Iterator[str]:
    measures = program.measures
    if measures.code is None:
        shown = {"count": "the number of matches", "compressed": "the graph of all matches, with their events"}
        yield f"output: {shown.get(program.output, 'match_id, start_ts, end_ts, the events of every variable')}"
        return
    yield from _looked_at(measures, _names(program))
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
    ends = [word for word, stands in (("first", negation.leads), ("last", negation.trails)) if stands]
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
