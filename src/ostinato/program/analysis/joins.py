"""Conjuncts by which an event finds the runs it may join: equality of a value of the row with a register of the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ostinato.program.elements import Element
from ostinato.program.opcodes import SPACES, Op, Space
from ostinato.program.pattern import EventPattern
from ostinato.program.scalar_code import ScalarCode

EQUALITIES = (Op.TEST_EQ_INT, Op.TEST_EQ_FLOAT)


def equalities(scalar: ScalarCode, block: int) -> dict[int, int]:
    """Register -> slot that the block tests for equality with it as they stand, before it computes anything else from them."""
    found: dict[int, int] = {}
    for at in range(*scalar.blocks[block]) if block >= 0 else ():
        if scalar.op[at] not in EQUALITIES:
            continue
        sides = {Space(word % SPACES): word // SPACES for word in (scalar.a[at], scalar.b[at])}
        if sides.keys() == {Space.REGISTER, Space.SLOT}:
            found.setdefault(sides[Space.REGISTER], sides[Space.SLOT])
    return found


@dataclass(frozen=True)
class Join:
    """The runs in a state wait by the value of `register`; `slots` is what is compared with it, per element that a transition binds."""

    register: int
    slots: dict[int, int]


def transitions_of(element: Element, number: int) -> Iterable[tuple[int, bool]]:
    """What a run in the element may bind next: (element, whether it is taken again)."""
    if element.repeats:
        yield number, True
    yield from ((begin.target, False) for begin in element.transitions)


def join_of(pattern: EventPattern, state: int) -> Join | None:
    """The register that most transitions of the state are joined by. None if it would never help: no transition has one, or a transition
    without it is open to every row."""
    found: dict[tuple[int, bool], tuple[int, dict[int, int]]] = {}
    for target, taken in transitions_of(pattern.elements[state], state):
        element = pattern.elements[target]
        bit, block = (element.later_bit, element.later_block) if taken else (element.first_bit, element.first_block)
        found[target, taken] = bit, equalities(pattern.scalar, block)
    registers = {register for _, tests in found.values() for register in tests}
    usable = [r for r in sorted(registers) if all(r in tests or bit >= 0 for bit, tests in found.values())]
    if not usable:
        return None
    best = max(usable, key=lambda register: sum(register in tests for _, tests in found.values()))
    return Join(best, {target: tests[best] for (target, _), (_, tests) in found.items() if best in tests})
