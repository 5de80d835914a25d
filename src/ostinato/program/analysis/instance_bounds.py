"""Comparisons between an event and the instances that wait for it: one number per state and partition tells whether any can hold."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.program.instances import InstanceAutomaton, InstanceState
from ostinato.program.opcodes import SPACES, Op, Space

RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")  # as opcodes are in order
TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


@dataclass(frozen=True)
class InstanceBound:
    """A relevant row stands in this relation to its instance: the value of a slot to that of a register."""

    slot: int
    relation: str
    register: int
    of_floats: bool


def bound_of(automaton: InstanceAutomaton, state: InstanceState) -> InstanceBound | None:
    """The first such test of a state. Where instances are found by a value, few are looked at, and it has none."""
    if not automaton.search or state.relevant < 0 or state.slot >= 0:
        return None
    code = automaton.scalar
    for at in range(*code.blocks[state.relevant]):
        found = _compared(Op(code.op[at]), code.a[at], code.b[at])
        if found is not None:
            return found
    return None


def _compared(op: Op, a: int, b: int) -> InstanceBound | None:
    if not Op.TEST_EQ_INT <= op <= Op.TEST_GE_FLOAT:
        return None
    of_floats = op >= Op.TEST_EQ_FLOAT
    relation = RELATIONS[op - (Op.TEST_EQ_FLOAT if of_floats else Op.TEST_EQ_INT)]
    if relation not in TURNED:
        return None
    (left, left_space), (right, right_space) = divmod(a, SPACES), divmod(b, SPACES)
    if (left_space, right_space) == (Space.SLOT, Space.REGISTER):
        return InstanceBound(left, relation, right, of_floats)
    if (left_space, right_space) == (Space.REGISTER, Space.SLOT):
        return InstanceBound(right, TURNED[relation], left, of_floats)
    return None
