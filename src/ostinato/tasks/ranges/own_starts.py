"""A program whose matches start in one time range only: where matches are counted, aggregated or compressed, those of other ranges
cannot be left out afterwards; nor can results of events that last, of which nothing tells the first row."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from ostinato.expr.types import BOOL
from ostinato.expr.typing.physical import from_physical
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.verification.verify import MAX_BITS
from ostinato.tasks.ranges.time_ranges import TimeRange


def can_limit_starts(pattern: Pattern) -> TypeGuard[EventPattern]:
    """Whether it can be told from an element alone that an event starts a match: it does not if it can also come later (`A? B`)."""
    if not isinstance(pattern, EventPattern):
        return False
    later = {transition.target for element in pattern.elements for transition in element.transitions}
    return not _entries(pattern) & later and pattern.bits + len(_entries(pattern)) <= MAX_BITS


def can_begin_in_range(pattern: InstanceAutomaton) -> bool:
    return pattern.bits < MAX_BITS


def beginning_in(automaton: InstanceAutomaton, one: TimeRange) -> InstanceAutomaton:
    """Events that make an instance have a time in the range besides."""
    if one.low is None and one.high is None:
        return automaton
    ops, bit = list(automaton.rows.ops), automaton.begin.bit
    condition = _inside(ops, automaton, one)
    if bit >= 0:
        ops.append(ColumnOp("call", (automaton.rows.results[bit], condition), BOOL, ("and",)))
        condition = len(ops) - 1
    results = automaton.rows.results
    rows = ColumnCode(tuple(ops), (*results[: automaton.bits], condition, *results[automaton.bits :]))
    begin = replace(automaton.begin, bit=automaton.bits)
    return replace(automaton, rows=rows, bits=automaton.bits + 1, begin=begin)


def starting_in(pattern: EventPattern, one: TimeRange) -> EventPattern:
    """Events that start a match have a time in the range besides."""
    if one.low is None and one.high is None:
        return pattern
    ops = list(pattern.rows.ops)
    inside = _inside(ops, pattern, one)
    new_bits: list[int] = []
    elements = list(pattern.elements)
    for number in sorted(_entries(pattern)):
        bit = elements[number].first_bit
        condition = inside
        if bit >= 0:
            ops.append(ColumnOp("call", (pattern.rows.results[bit], inside), BOOL, ("and",)))
            condition = len(ops) - 1
        elements[number] = replace(elements[number], first_bit=pattern.bits + len(new_bits))
        new_bits.append(condition)
    results = (*pattern.rows.results[: pattern.bits], *new_bits, *pattern.rows.results[pattern.bits :])
    rows = ColumnCode(tuple(ops), results)
    return replace(pattern, rows=rows, bits=pattern.bits + len(new_bits), elements=tuple(elements))


def _entries(pattern: EventPattern) -> set[int]:
    return {transition.target for transition in pattern.initial}


def _inside(ops: list[ColumnOp], pattern: Pattern, one: TimeRange) -> int:
    """Adds the operation that says whether a row is in the range."""
    time = pattern.reads.columns[pattern.reads.time]
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
