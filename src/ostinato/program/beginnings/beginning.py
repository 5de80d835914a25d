"""A beginning that several automata have in common, as one automaton, and what each of them does behind it.

The beginning carries what any of those behind it will need, each value once. Its results are handed on as rows: the registers are their
values. So what follows is an automaton like others, which begins with such rows and not with events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from ostinato.expr.types import Type
from ostinato.program.beginnings.continuation import continued
from ostinato.program.beginnings.instance_form import InstanceForm, Known
from ostinato.program.beginnings.scalar_union import BlockPart, ScalarUnion
from ostinato.program.column_code import ColumnCode
from ostinato.program.instances import Forward, InstanceAutomaton, InstanceState
from ostinato.program.measure_code import MeasureCode
from ostinato.program.program import joined
from ostinato.program.scalar_code import Register
from ostinato.program.shared_code import shared_code


@dataclass(frozen=True)
class Continuation:
    """Who goes on behind a beginning: one of the given automata, by its number, or a further beginning. `automaton` is what is left of it;
    `registers` are pairs (of it, of the beginning) with the same value while an instance is in the beginning, which are its first
    `states`."""

    of: int | Beginning
    automaton: InstanceAutomaton
    registers: tuple[tuple[int, int], ...]
    states: int


@dataclass(frozen=True)
class Beginning:
    """`numbers` are those of the results of its row code, see `InstanceForm`."""

    automaton: InstanceAutomaton
    numbers: tuple[int, ...]
    continuations: tuple[Continuation, ...]

    @property
    def members(self) -> tuple[int, ...]:
        """The given automata that begin so."""
        found: list[int] = []
        for one in self.continuations:
            found += [one.of] if isinstance(one.of, int) else one.of.members
        return tuple(found)


def joined_beginning(followers: Sequence[tuple[int | Beginning, InstanceForm]], states: int) -> Beginning:
    """The first `states` of automata that are the same there."""
    union = _Union([form for _, form in followers], states)
    automaton, numbers = union.automaton()
    return Beginning(automaton, numbers, tuple(_continuation(of, form, union, states) for of, form in followers))


def _continuation(of: int | Beginning, form: InstanceForm, union: _Union, states: int) -> Continuation:
    places = tuple((register, union.registers[known]) for known, register in form.carried(states).items())
    return Continuation(of, continued(form, states, dict(places), union.handed_places(form)), places, states)


class _Union:
    """Its registers are those of all, each once, and what the events of its last state have for those behind it."""

    def __init__(self, forms: Sequence[InstanceForm], states: int) -> None:
        self._forms, self._first, self._states = forms, forms[0], states
        self._carried = [form.carried(states) for form in forms]
        self.registers: dict[Known, int] = {}
        self._held: list[Register] = []
        for form, carried in zip(forms, self._carried, strict=True):
            for known, register in carried.items():
                self._hold(known, form.automaton.registers[register])
        self._handed = [self._slots_read(form) for form in forms]
        for form, slots in zip(forms, self._handed, strict=True):
            for slot in slots:
                self._hold(self._as_handed(form, slot), Register(f"handed.{slot}", form.automaton.slots[slot]))
        self._bits: dict[int, int] = {}
        self._slots: dict[int, int] = {}

    def _hold(self, known: Known, register: Register) -> None:
        if known not in self.registers:
            self.registers[known] = len(self._held)
            self._held.append(register)

    def _slots_read(self, form: InstanceForm) -> tuple[int, ...]:
        return ScalarUnion.slots_read(form.automaton.scalar, form.forward_block(self._states))

    def _as_handed(self, form: InstanceForm, slot: int) -> Known:
        return "handed", self._states, form.slot(slot)

    def handed_places(self, form: InstanceForm) -> dict[int, int]:
        """By the slots that it reads of the last event: the registers that have these values."""
        return {slot: self.registers[self._as_handed(form, slot)] for slot in self._slots_read(form)}

    def automaton(self) -> tuple[InstanceAutomaton, tuple[int, ...]]:
        first = self._first.automaton
        code = ScalarUnion(self._slot, self.registers)
        forward = [self._edge(code, [form.forward_block(number) for form in self._forms]) for number in range(self._states)]
        states = tuple(
            self._state(number, code, forward[number] if number < self._states else self._last(code))
            for number in range(1, self._states + 1)
        )
        begin = Forward(self._bit(first.begin.bit), forward[0])
        start = self._slot(self._first, first.start)
        rows, numbers = self._rows()
        within = [form.automaton.within for form in self._forms]
        found = InstanceAutomaton(
            reads=reduce(joined, (form.automaton.reads for form in self._forms)),
            evaluation="instances",
            reason=f"{len(self._forms)} queries begin so",
            variables=(),
            within=_longest(within),
            rows=rows,
            bits=len(self._bits),
            slots=self._slot_types(),
            scalar=code.finish(),
            registers=tuple(self._held),
            measures=MeasureCode((), ColumnCode()),
            search=first.search,
            begin=begin,
            states=states,
            start=start,
        )
        return found, numbers

    def _state(self, number: int, code: ScalarUnion, forward: int) -> InstanceState:
        own = self._first.automaton.states[number - 1]
        register = -1 if own.register < 0 else self._place(own.register)
        return InstanceState(
            bit=self._bit(own.bit),
            relevant=code.tests(BlockPart(self._first, own.relevant)),
            forward=forward,
            repeats=own.repeats,
            rebind=self._edge(code, [form.automaton.states[number - 1].rebind for form in self._forms]) if own.repeats else -1,
            slot=self._slot(self._first, own.slot),
            register=register,
            within=_longest([form.automaton.states[number - 1].within for form in self._forms]),
        )

    def _place(self, register: int) -> int:
        known = self._first.registers[register]
        assert known is not None
        return self.registers[known]

    def _edge(self, code: ScalarUnion, blocks: Sequence[int]) -> int:
        """Tests are those of all; each stores what the ones before it have not."""
        parts, stored = [], set[int]()
        for form, carried, block in zip(self._forms, self._carried, blocks, strict=True):
            places = {register: self.registers[known] for known, register in carried.items()}
            part = BlockPart(form, block, tested=form is self._first, stored=places, done=frozenset(stored))
            stored |= part.stores
            parts.append(part)
        return code.edge(parts, {})

    def _last(self, code: ScalarUnion) -> int:
        """What is tested there by all alike is tested once; where it differs, each tests by itself."""
        tests = {form.forward(self._states).tests for form in self._forms}
        tested = [BlockPart(self._first, self._first.forward_block(self._states))] if len(tests) == 1 else []
        handed = {
            self.registers[self._as_handed(form, slot)]: self._slot(form, slot)
            for form, slots in zip(self._forms, self._handed, strict=True)
            for slot in slots
        }
        return code.edge(tested, handed)

    def _bit(self, index: int) -> int:
        number = self._first.bit(index)
        return -1 if number is None else self._bits.setdefault(number, len(self._bits))

    def _slot(self, form: InstanceForm, index: int) -> int:
        number = form.slot(index)
        return -1 if number is None else self._slots.setdefault(number, len(self._slots))

    def _slot_types(self) -> tuple[Type, ...]:
        known = {form.slot(index): type_ for form in self._forms for index, type_ in enumerate(form.automaton.slots)}
        return tuple(known[number] for number in self._slots)

    def _rows(self) -> tuple[ColumnCode, tuple[int, ...]]:
        """Operations as they stand in the code of one of them, so that nothing is computed that is not computed for it."""
        code, wanted = shared_code([form.automaton.rows for form in self._forms])
        ops: dict[int, int] = {}
        for form, own in zip(self._forms, wanted, strict=True):
            for number, result in zip(form.numbers, own, strict=True):
                ops.setdefault(number, code.results[result])
        numbers = (*self._bits, *self._slots)
        return code.reduced_to([ops[number] for number in numbers]), numbers


def _longest(lengths: Sequence[int]) -> int:
    """How long something can last that any of them waits for; -1: there is no bound."""
    return -1 if min(lengths) < 0 else max(lengths)
