"""What the saved instances of an automaton must be."""

from __future__ import annotations

import numpy as np

from ostinato.expr.types import Kind
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.kernels.instances.instance_table import NEVER
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_VALUE
from ostinato.program.instances import InstanceAutomaton
from ostinato.runtime.instances.instance_store import COUNTERS, SAVED
from ostinato.runtime.rows.ingest import FAREST
from ostinato.runtime.snapshots.state_check import ANY, LIMIT, StateCheck


def check_instances(state: StateCheck, automaton: InstanceAutomaton) -> None:
    read = state.read_up_to("read")
    instances = state.array("instances", np.int64, ANY, len(SAVED))
    keys, states, starts, times, used = instances.T
    state.index(keys, max(len(read), len(state.rows.base)), "instances of known partitions")
    state.index(states, len(automaton.states), "instances in known states")
    state.between(starts, -FAREST, FAREST, "starts of events")
    state.between(times, starts, FAREST, "events that end behind their start")
    state.require(bool(((used == NEVER) | ((used > times) & (used <= FAREST))).all()), "instances that were used up behind their time")
    registers = state.array("registers", np.int64, len(instances), len(automaton.registers))
    flags = state.array("register_valid", np.uint8, len(instances), len(automaton.registers))
    state.between(flags, 0, HAS_FAILED, "registers with or without a value")
    for number, register in enumerate(automaton.registers):
        if register.type.kind is Kind.STRING:
            state.index(registers[flags[:, number] == IS_VALUE, number], state.rows.texts, "strings of instances")
        if register.type.kind is Kind.OPAQUE:
            count = state.rows.values.get(to_arrow(register.type), 0)
            state.index(registers[flags[:, number] == IS_VALUE, number], count, "values of instances")
        if register.type.kind is Kind.BOOL:
            state.between(registers[flags[:, number] == IS_VALUE, number], 0, 1, "truth values of instances")
    state.between(state.counters("counters", len(COUNTERS) + 1), 0, LIMIT, "counters")
