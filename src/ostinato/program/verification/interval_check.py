"""Verifies patterns of situations: definitions refer to bits, blocks and registers that are there, constraints to definitions."""

from __future__ import annotations

from ostinato.expr.typing.coerce import same_form
from ostinato.program.intervals import BOUNDED, LATENCIES, RELATIONS, AllowedRelation, IntervalConstraint, IntervalPattern, SituationTest
from ostinato.program.opcodes import Op
from ostinato.program.verification.measure_check import LIMIT
from ostinato.program.verification.requirement import require, require_known
from ostinato.program.verification.scalar_check import is_block

POLICIES = {"evaluation": ("intervals",), "latency": LATENCIES}
MOST_DEFINITIONS = 32


def check_interval_pattern(pattern: IntervalPattern) -> None:
    require_known(pattern, POLICIES)
    count = len(pattern.definitions)
    require(0 < count <= MOST_DEFINITIONS and count == len(pattern.variables), f"1 to {MOST_DEFINITIONS} definitions with their names")
    require(pattern.reads.time >= 0, "a time column for situations")
    require(pattern.within_unit == "time", "a window that is a length of time")
    require(pattern.look_ahead == 0, "conditions on events and on those before them")
    require(not any(register.number for register in pattern.registers), "registers of situations alone")
    require(len(pattern.owners) == len(pattern.registers), "a definition for every register")
    require(all(0 <= owner < count for owner in pattern.owners), "registers of known definitions")
    require(pattern.measures.code is not None, "measures of situations")
    require(not pattern.measures.points and not pattern.measures.aggregates, "measures of situations, which have no rows")
    require(not pattern.each or (pattern.latency == "final" and not pattern.constraints and pattern.within < 0), "situations by themselves")
    require(not pattern.each or len({*pattern.variables}) == count, "situations by themselves with names of their own")
    require(len(pattern.orders) == count, "an order for every definition")
    for first, order in enumerate(pattern.orders):
        require(order[:1] == (first,) and sorted(order) == list(range(count)), "orders of all definitions")
    for number, definition in enumerate(pattern.definitions):
        _definition(number, definition, pattern)
    for constraint in pattern.constraints:
        _constraint(constraint, count)


def _definition(number: int, definition: SituationTest, pattern: IntervalPattern) -> None:
    require(0 <= definition.bit < pattern.bits and -1 <= definition.reads < pattern.bits, "definitions with known bits")
    require(is_block(pattern, definition.block, binding=True), "definitions with known blocks")
    require(all(-1 <= length < LIMIT for length in (definition.at_least, definition.at_most)), "durations that fit 64 bits")
    require(-1 <= definition.start < len(pattern.slots), "known slots for starts")
    time = pattern.reads.columns[pattern.reads.time].type
    require(definition.start < 0 or same_form(pattern.slots[definition.start], time), "starts that are times")
    if definition.block >= 0:
        begin, end = pattern.scalar.blocks[definition.block]
        stored = [pattern.scalar.c[at] for at in range(begin, end) if pattern.scalar.op[at] == Op.STORE]
        require(all(pattern.owners[register] == number for register in stored), "blocks that change registers of their own definition")


def _constraint(constraint: IntervalConstraint, count: int) -> None:
    require(0 <= constraint.first < count and 0 <= constraint.second < count, "constraints of known definitions")
    require(constraint.first != constraint.second, "constraints between two definitions")
    require(bool(constraint.allowed), "relations that a constraint allows")
    for allowed in constraint.allowed:
        _allowed(allowed)


def _allowed(allowed: AllowedRelation) -> None:
    require(0 <= allowed.relation < len(RELATIONS), "known relations")
    require(not allowed.bounded or RELATIONS[allowed.relation] in BOUNDED, "bounds of what can be bounded")
    require(all(-LIMIT < length < LIMIT for length in (allowed.least, allowed.most)), "bounds that fit 64 bits")
