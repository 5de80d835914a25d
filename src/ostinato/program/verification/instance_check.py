"""Verifies automata with instances: states refer to bits, blocks and registers that are there."""

from __future__ import annotations

from ostinato.expr.types import Kind
from ostinato.expr.typing.coerce import same_form
from ostinato.program.instances import InstanceAutomaton, InstanceState
from ostinato.program.verification.measure_check import LIMIT
from ostinato.program.verification.requirement import require, require_known
from ostinato.program.verification.scalar_check import is_block

POLICIES = {"evaluation": ("instances",)}
MOST_STATES = 250
HELD_ALIKE = (Kind.INT, Kind.STRING, Kind.TIMESTAMP, Kind.DATE)


def check_instance_automaton(automaton: InstanceAutomaton) -> None:
    require_known(automaton, POLICIES)
    require(automaton.reads.time >= 0, "a time column for events that last")
    require(automaton.look_back == automaton.look_ahead == 0, "conditions on events, not on their neighbours")
    require(not any(register.counter or register.number for register in automaton.registers), "registers of events alone")
    require(all(register.type.kind is not Kind.LIST for register in automaton.registers), "registers of values that columns have")
    require(automaton.measures.code is not None, "the attributes of its events")
    require(not automaton.measures.points and not automaton.measures.aggregates, "attributes of instances, which have no rows")
    require(all(0 <= bit < automaton.bits for bit in automaton.prefilter_bits), "known bits to filter by")
    require(-1 <= automaton.begin.bit < automaton.bits, "a known bit to begin with")
    require(is_block(automaton, automaton.begin.block, binding=True), "a known block to begin with")
    _start(automaton)
    require(len(automaton.states) <= MOST_STATES, f"at most {MOST_STATES} states")
    for state in automaton.states:
        _state(state, automaton)


def _start(automaton: InstanceAutomaton) -> None:
    require(-1 <= automaton.start < len(automaton.slots), "a known slot for starts")
    time = automaton.reads.columns[automaton.reads.time].type
    require(automaton.start < 0 or same_form(automaton.slots[automaton.start], time), "starts that are times")


def _state(state: InstanceState, automaton: InstanceAutomaton) -> None:
    require(-1 <= state.bit < automaton.bits, "states with known bits")
    require(is_block(automaton, state.relevant, binding=False), "states with known blocks")
    require(all(is_block(automaton, block, binding=True) for block in (state.rebind, state.forward)), "states with known blocks")
    require(state.repeats or state.rebind == -1, "an edge back for what it changes")
    require(-1 <= state.within < LIMIT, "a length of events that fits 64 bits")
    require(min(state.slot, state.register) >= -1 and (state.slot < 0) == (state.register < 0), "both sides of an equality")
    if state.slot >= 0:
        require(state.slot < len(automaton.slots) and state.register < len(automaton.registers), "an equality of known values")
        kinds = {automaton.slots[state.slot].kind, automaton.registers[state.register].type.kind}
        require(len(kinds) == 1 and kinds <= {*HELD_ALIKE}, "an equality of values that are held alike")
