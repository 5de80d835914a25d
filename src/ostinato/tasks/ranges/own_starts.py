"""A program whose matches start in one time range only: where matches are counted, aggregated or compressed, those of other ranges
cannot be left out afterwards."""

from __future__ import annotations

from dataclasses import replace

from ostinato.expr.typing.physical import from_physical
from ostinato.expr.typing.types import BOOL
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.program import Program
from ostinato.program.verify import MAX_BITS
from ostinato.tasks.ranges.time_ranges import TimeRange


def can_limit_starts(program: Program) -> bool:
    """Whether it can be told from a component alone that an event starts a match: it does not if it can also come later (`A? B`)."""
    later = {begin.target for component in program.components for begin in component.begins}
    return program.is_event_pattern and not _entries(program) & later and program.bits + len(_entries(program)) <= MAX_BITS


def starting_in(program: Program, one: TimeRange) -> Program:
    """Events that start a match have a time in the range besides."""
    if one.low is None and one.high is None:
        return program
    ops = list(program.rows.ops)
    inside = _inside(ops, program, one)
    new_bits: list[int] = []
    components = list(program.components)
    for number in sorted(_entries(program)):
        bit = components[number].first_bit
        condition = inside
        if bit >= 0:
            ops.append(ColumnOp("call", (program.rows.results[bit], inside), BOOL, ("and",)))
            condition = len(ops) - 1
        components[number] = replace(components[number], first_bit=program.bits + len(new_bits))
        new_bits.append(condition)
    results = (*program.rows.results[: program.bits], *new_bits, *program.rows.results[program.bits :])
    rows = ColumnCode(tuple(ops), results)
    return replace(program, rows=rows, bits=program.bits + len(new_bits), components=tuple(components))


def _entries(program: Program) -> set[int]:
    return {begin.target for begin in program.entries}


def _inside(ops: list[ColumnOp], program: Program, one: TimeRange) -> int:
    """Adds the operation that says whether a row is in the range."""
    time = program.columns[program.time]
    ops.append(ColumnOp("input", (), time.type, (time.name,)))
    read = len(ops) - 1
    conditions = []
    for comparison, bound in (("ge", one.low), ("lt", one.high)):
        if bound is not None:
            ops.append(ColumnOp("literal", (), time.type, (from_physical(bound, time.type),)))
            ops.append(ColumnOp("call", (read, len(ops) - 1), BOOL, (comparison,)))
            conditions.append(len(ops) - 1)
    if len(conditions) > 1:
        ops.append(ColumnOp("call", tuple(conditions), BOOL, ("and",)))
    return len(ops) - 1
