"""What is left of an automaton behind its beginning: it begins with what the beginning hands on, as rows whose values these are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ostinato.program.beginnings.instance_form import InstanceForm
from ostinato.program.instances import Forward, InstanceAutomaton
from ostinato.program.opcodes import SPACES, Op, Space, operand, shape
from ostinato.program.scalar_code import ScalarCode

UNUSED = 0


def continued(form: InstanceForm, states: int, carried: Mapping[int, int], handed: Mapping[int, int]) -> InstanceAutomaton:
    """Without its first `states`. `carried`: registers of its own, by which value of the row they have; `handed`: the same of the slots
    that it reads of the last event before."""
    automaton = form.automaton
    scalar, block = _begun(automaton.scalar, form.forward_block(states), carried, handed)
    return replace(automaton, states=automaton.states[states:], begin=Forward(-1, block), scalar=scalar)


def _begun(code: ScalarCode, block: int, carried: Mapping[int, int], handed: Mapping[int, int]) -> tuple[ScalarCode, int]:
    """With a block that does what the last edge of the beginning did, over what is handed on."""

    def moved(word: int, is_read: bool) -> int:
        index, space = divmod(word, SPACES)
        if not is_read or space not in (Space.SLOT, Space.REGISTER):
            return word
        return operand(Space.SLOT, (handed if space == Space.SLOT else carried)[index])

    kept = [(int(Op.STORE), operand(Space.SLOT, place), UNUSED, register) for register, place in carried.items()]
    ops: list[tuple[int, int, int, int]] = []
    if block < 0 and kept:
        ops = [(int(Op.COPY), UNUSED, UNUSED, 0), *kept]
    for at in range(*code.blocks[block]) if block >= 0 else ():
        op = Op(code.op[at])
        takes = shape(op)
        ops.append((code.op[at], moved(code.a[at], takes[0] != "-"), moved(code.b[at], takes[1] != "-"), code.c[at]))
        if op is Op.COPY:
            ops += kept
    if not ops:
        return code, -1
    columns = list(zip(*ops, strict=True))
    op_, a, b, c = (before + own for before, own in zip((code.op, code.a, code.b, code.c), columns, strict=True))
    blocks = (*code.blocks, (len(code.op), len(code.op) + len(ops)))
    return replace(code, op=op_, a=a, b=b, c=c, blocks=blocks), len(blocks) - 1
