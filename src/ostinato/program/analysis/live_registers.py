"""Which registers of a thread or a run anything still reads: the others need not agree for two of them to have the same future."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.program.opcodes import SPACES, Op, Space, shape, words_read
from ostinato.program.ordered_nfa import OrderedNfa, VariableTest
from ostinato.program.pattern import EventPattern
from ostinato.program.scalar_code import ScalarCode


@dataclass(frozen=True)
class BlockReads:
    """`tested`: registers on which the block's conditions depend. `stored`: register written -> registers that its value is made of."""

    tested: frozenset[int] = frozenset()
    stored: tuple[tuple[int, frozenset[int]], ...] = ()


def block_reads(scalar: ScalarCode, block: int) -> BlockReads:
    if block < 0:
        return BlockReads()
    temps: dict[int, frozenset[int]] = {}
    tested: frozenset[int] = frozenset()
    stored: dict[int, frozenset[int]] = {}
    for at in range(*scalar.blocks[block]):
        op = Op(scalar.op[at])
        form = shape(op)
        reads = frozenset().union(*(_registers_of(word, temps) for word in words_read(scalar, at)))
        if form[2] == "t":
            kept = temps.get(scalar.c[at], frozenset()) if op is Op.SELECT else frozenset()
            temps[scalar.c[at]] = reads | kept
        elif form[2] == "r":
            stored[scalar.c[at]] = reads
        else:
            tested |= reads
    return BlockReads(tested, tuple(stored.items()))


def _registers_of(word: int, temps: dict[int, frozenset[int]]) -> frozenset[int]:
    index, space = divmod(word, SPACES)
    if space == Space.REGISTER:
        return frozenset((index,))
    return temps.get(index, frozenset()) if space == Space.TEMP else frozenset()


def live_registers(nfa: OrderedNfa, tests: tuple[VariableTest, ...], scalar: ScalarCode, registers: int) -> np.ndarray:
    """Per automaton state and register, whether some way on reads it: liveness over the automaton's transitions, to a fixed point."""
    reads = [block_reads(scalar, test.block) for test in tests]
    states = len(nfa.first) - 1
    live: list[frozenset[int]] = [frozenset()] * states
    changed = True
    while changed:
        changed = False
        for state in range(states - 1, -1, -1):
            needed = live[state]
            for variable, target in nfa.transitions[nfa.first[state] : nfa.first[state + 1]]:
                if variable >= 0:
                    needed = needed | _before(reads[variable], live[target])
            changed = changed or needed != live[state]
            live[state] = needed
    result = np.zeros((states, registers), np.uint8)
    for state, needed in enumerate(live):
        result[state, sorted(needed)] = 1
    return result


def registers_needed(pattern: EventPattern) -> tuple[frozenset[int], ...]:
    """Per element, the registers of a run in it that some way on reads (the paper's masks)."""
    needed: list[frozenset[int]] = [frozenset()] * len(pattern.elements)
    changed = True
    while changed:
        changed = False
        for number in range(len(needed) - 1, -1, -1):
            now = _needed_in(pattern, number, needed)
            changed = changed or now != needed[number]
            needed[number] = now
    return tuple(needed)


def _needed_in(pattern: EventPattern, number: int, needed: list[frozenset[int]]) -> frozenset[int]:
    element, scalar = pattern.elements[number], pattern.scalar
    found: frozenset[int] = frozenset()
    if element.repeats:
        found = _before(block_reads(scalar, element.later_block), needed[number] | _reported(pattern, number))
    for transition in element.transitions:
        for left in (number, *transition.passed):
            found |= block_reads(scalar, pattern.elements[left].leaving_block).tested
        after = needed[transition.target] | _reported(pattern, transition.target)
        found |= _before(block_reads(scalar, pattern.elements[transition.target].first_block), after)
    return found


def _reported(pattern: EventPattern, number: int) -> frozenset[int]:
    """What is read when a match that ends in the element is reported."""
    element = pattern.elements[number]
    if not element.completes:
        return frozenset()
    finished = (pattern.elements[left].leaving_block for left in (number, *element.passed_at_end))
    return frozenset().union(*(block_reads(pattern.scalar, block).tested for block in finished))


def stored_by(scalar: ScalarCode, block: int) -> frozenset[int]:
    """The registers that a block writes."""
    return frozenset(register for register, _ in block_reads(scalar, block).stored)


def _before(block: BlockReads, needed: frozenset[int]) -> frozenset[int]:
    """What must be kept before the block runs, given what is read after it."""
    stored = dict(block.stored)
    sources = frozenset().union(*(stored[register] for register in needed if register in stored))
    return block.tested | sources | (needed - stored.keys())
