"""An automaton as the arrays that kernels read; see `kernels.instances.instance_layout`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ostinato.kernels.instances import instance_layout as layout
from ostinato.kernels.instances.instance_table import NOTHING
from ostinato.kernels.scalar.scalar import Callee, Interpreter, no_columns
from ostinato.program.analysis.instance_bounds import RELATIONS, bound_of
from ostinato.program.instances import InstanceAutomaton, InstanceState
from ostinato.program.scalar_code import ColumnCall

UNLIMITED = 1 << 62


class InstancePlan:
    def __init__(
        self, automaton: InstanceAutomaton, most: int | None, columns: Callable[[ColumnCall], Callee] = no_columns, goes_on: bool = False
    ) -> None:
        """`columns` makes what scalar code calls of column code; `goes_on`: it begins with what another automaton hands on."""
        self.interpreter = Interpreter(automaton.scalar, columns)
        begin = InstanceState(automaton.begin.bit, -1, automaton.begin.block)
        self._automaton = automaton
        self.states = np.array([self._line(state) for state in (*automaton.states, begin)], np.int64)
        self.settings = np.full(layout.SETTINGS, UNLIMITED, np.int64)
        self.settings[layout.START_SLOT] = automaton.start
        masks = self.states[:-1, layout.MASK]
        self.settings[layout.ANY_MASK] = 0 if (masks == 0).any() else np.bitwise_or.reduce(masks)
        self.settings[layout.LIMIT] = UNLIMITED if most is None else most
        self.settings[layout.GOES_ON] = int(goes_on)

    def _line(self, state: InstanceState) -> list[int]:
        mask = 0 if state.bit < 0 else int(np.uint64(1 << state.bit).view(np.int64))
        blocks = [place for block in (state.relevant, state.rebind, state.forward) for place in self._block(block)]
        return [mask, *blocks[:2], int(state.repeats), *blocks[2:], state.slot, state.register, state.within, *self._bound(state)]

    def _bound(self, state: InstanceState) -> tuple[int, int, int, int]:
        found = bound_of(self._automaton, state)
        if found is None:
            return NOTHING, NOTHING, NOTHING, 0
        return found.slot, found.register, RELATIONS.index(found.relation), int(found.of_floats)

    def _block(self, block: int) -> tuple[int, int]:
        """Where it begins and ends in the code."""
        return (NOTHING, NOTHING) if block < 0 else (int(self.interpreter.blocks[block, 0]), int(self.interpreter.blocks[block, 1]))
