"""What an automaton with instances does at each of its states, in a form that tells whether another one does the same there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ostinato.program.beginnings.block_form import BlockForm, Values, block_form
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.opcodes import Op, Space

Known = tuple[str, int, Hashable]  # a register: how and at which event it gets its value, and what it is


@dataclass(frozen=True)
class Level:
    """What happens from the event before a state up to where its own event has been relevant. `does` is equal where it is the same, if
    also those of the registers that steps change are changed alike that both of them have: from what, and to what."""

    does: Hashable
    changed: Mapping[Known, tuple[int | None, int]]


class InstanceForm:
    """`numbers` are those of the results of its row code: equal for equal conditions and values. `levels`: the beginning, then the
    states."""

    def __init__(self, automaton: InstanceAutomaton, numbers: Sequence[int], values: Values) -> None:
        self.automaton = automaton
        self.numbers = numbers
        self._values = values
        self.registers: list[Known | None] = [None] * len(automaton.registers)
        self.can_be_cut = Op.CALL not in automaton.scalar.op  # errors of functions tell where in the code these stand
        if self.can_be_cut:
            self._know_registers()
        self.levels = [self._level(number) for number in range(len(automaton.states) + 1)] if self.can_be_cut else []

    def _know_registers(self) -> None:
        """Those that steps change are known by their names, others by what they are."""
        for number, state in enumerate(self.automaton.states, 1):
            for register, _ in self._plain(state.rebind).stores:
                own = self.automaton.registers[register]
                self.can_be_cut = self.can_be_cut and self.registers[register] is None
                self.registers[register] = ("changed", number, (own.name, own.type))
        for number in range(len(self.automaton.states) + 1):
            for register, value in self.forward(number).stores:
                if self.registers[register] is None:
                    self.registers[register] = ("event", number, value)
        known = [one for one in self.registers if one is not None]
        self.can_be_cut = self.can_be_cut and len(set(known)) == len(self.registers)

    def _plain(self, block: int) -> BlockForm:
        """Registers as they are numbered here."""
        return block_form(self.automaton.scalar, block, Values(), lambda space, index: (int(space), index))

    def _form(self, block: int) -> BlockForm:
        return block_form(self.automaton.scalar, block, self._values, self._held)

    def _held(self, space: Space, index: int) -> Hashable:
        if space is Space.SLOT:
            return "slot", self.slot(index)
        return "register", self.registers[index]

    def slot(self, index: int) -> int | None:
        """The number of a value of rows."""
        return None if index < 0 else self.numbers[self.automaton.bits + index]

    def bit(self, index: int) -> int | None:
        return None if index < 0 else self.numbers[index]

    def forward_block(self, number: int) -> int:
        """Behind event `number`."""
        return self.automaton.begin.block if number == 0 else self.automaton.states[number - 1].forward

    def forward(self, number: int) -> BlockForm:
        return self._form(self.forward_block(number))

    def rebind(self, number: int) -> BlockForm:
        return self._form(self.automaton.states[number - 1].rebind)

    def _level(self, number: int) -> Level:
        automaton = self.automaton
        if number == 0:
            reads = automaton.reads
            return Level((self.slot(automaton.start), self.bit(automaton.begin.bit), automaton.search, reads.null_keys), {})
        state, before, step = automaton.states[number - 1], self.forward(number - 1), self.rebind(number)
        found_by = None if state.slot < 0 else (self.slot(state.slot), self.registers[state.register])
        does = (before.tests, self.bit(state.bit), found_by, state.repeats, self._form(state.relevant).tests, step.tests)
        initial = dict(before.stores)
        return Level(does, {self._known(register): (initial.get(register), value) for register, value in step.stores})

    def _known(self, register: int) -> Known:
        known = self.registers[register]
        assert known is not None
        return known

    def carried(self, states: int) -> dict[Known, int]:
        """The registers that have a value in the first states, and where the last of these hands on."""
        found = {}
        for register, known in enumerate(self.registers):
            if known is not None and (known[1] <= states if known[0] == "changed" else known[1] < states):
                found[known] = register
        return found
