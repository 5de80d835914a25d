"""Which registers of a thread anything still reads: the others need not agree for two threads to have the same future."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.program.opcodes import SPACES, Op, Space, shape
from ostinato.program.program import OrderedNfa, ScalarCode, VariableTest


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
        words = [word for word, used in ((scalar.a[at], form[0]), (scalar.b[at], form[1])) if used != "-"]
        reads = frozenset().union(*(_registers_of(word, temps) for word in words))
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
    """Per automaton state and register, whether some way on reads it: liveness over the automaton's moves, to a fixed point."""
    reads = [block_reads(scalar, test.block) for test in tests]
    states = len(nfa.first) - 1
    live: list[frozenset[int]] = [frozenset()] * states
    changed = True
    while changed:
        changed = False
        for state in range(states - 1, -1, -1):
            needed = live[state]
            for variable, target in nfa.moves[nfa.first[state] : nfa.first[state + 1]]:
                if variable >= 0:
                    needed = needed | _before(reads[variable], live[target])
            changed = changed or needed != live[state]
            live[state] = needed
    result = np.zeros((states, registers), np.uint8)
    for state, needed in enumerate(live):
        result[state, sorted(needed)] = 1
    return result


def _before(block: BlockReads, needed: frozenset[int]) -> frozenset[int]:
    """What must be kept before the block runs, given what is read after it."""
    stored = dict(block.stored)
    sources = frozenset().union(*(stored[register] for register in needed if register in stored))
    return block.tested | sources | (needed - stored.keys())
