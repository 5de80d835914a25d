"""The columns whose values a pattern computes with: compares, orders, tells apart. To show a value as it is does not count."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.code_inputs import COLUMN, POINT, code_inputs, negation_columns
from ostinato.program.measure_code import MeasureCode
from ostinato.program.pattern import Pattern


def compared_columns(pattern: Pattern) -> tuple[str, ...]:
    reads = pattern.reads
    found = [*reads.key_names, *(reads.columns[number].name for number, _, _ in reads.order), *code_inputs(pattern.rows)]
    found += [name for negation in pattern.negations for name in negation_columns(negation)]
    return tuple(dict.fromkeys([*found, *_measured(pattern.measures)]))


def _measured(measures: MeasureCode) -> Iterator[str]:
    yield from (name.removeprefix(COLUMN) for name in code_inputs(measures.rows) if name.startswith(COLUMN))
    code = measures.code
    if code is not None:
        computed = [result for result in code.results if code.ops[result].op != "input"]
        inputs = (code.ops[number] for number in code.needed_for(*computed) if code.ops[number].op == "input")
        yield from (op.params[0].split(":", 2)[2] for op in inputs if op.params[0].startswith(POINT))
