"""The elements of a program as the tables that the run kernel reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ostinato.base.errors import UnsupportedError
from ostinato.kernels.runs import run_layout as kernel
from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.program.analysis.joins import Join, join_of
from ostinato.program.analysis.live_registers import stored_by
from ostinato.program.analysis.searches import RunOrder, order_of
from ostinato.program.elements import Transition
from ostinato.program.pattern import EventPattern
from ostinato.runtime.runs.run_merging import Merging, merging_of
from ostinato.runtime.search.search_code import SearchCode

SELECTIONS = {
    "strict_contiguity": kernel.STRICT,
    "partition_contiguity": kernel.PARTITION,
    "skip_till_next_match": kernel.SKIP_TO_NEXT,
    "skip_till_any_match": kernel.SKIP_TO_ANY,
}
OUTPUTS = {
    "all": kernel.ALL,
    "aggregates": kernel.ALL,
    "compressed": kernel.ALL,
    "count": kernel.COUNT,
    "first": kernel.FIRST,
    "nonoverlapping": kernel.NONOVERLAPPING,
    "timeouts": kernel.TIMEOUTS,
}
MERGES = {"": kernel.NEVER_MERGED, "same": kernel.SAME_START, "any": kernel.WHATEVER_START}
TransitionRow = tuple[int, ...]
NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True)
class RunPlan:
    """See `kernels.runs.run_layout` for the columns."""

    transitions: np.ndarray
    states: np.ndarray
    passes: np.ndarray
    watched: np.ndarray
    bounds: np.ndarray
    settings: np.ndarray
    interpreter: Interpreter

    @cached_property
    def merges(self) -> bool:
        return bool(self.states[:, kernel.MERGEABLE].any())

    @cached_property
    def joins(self) -> bool:
        return bool((self.states[:, kernel.JOIN_REGISTER] >= 0).any())

    @cached_property
    def orders(self) -> bool:
        return bool((self.states[:, kernel.ORDER_TRANSITION] >= 0).any())


def run_plan(pattern: EventPattern, run_limit: int | None) -> RunPlan:
    if _output(pattern) == kernel.FIRST and pattern.selection == "skip_till_any_match":
        raise UnsupportedError("one match per start is not offered under skip till any match", hint="use output all or nonoverlapping")
    elements = pattern.elements
    passes = _Passes(pattern)
    merging = merging_of(pattern)
    joins = _joins(pattern)
    orders = _orders(pattern, joins)
    code = SearchCode(pattern.scalar, (comparison for order in orders if order is not None for comparison in order.comparisons))
    states = np.zeros((len(elements) + 1, kernel.STATE_COLUMNS), np.int64)
    transitions: list[TransitionRow] = []
    for state in range(len(elements) + 1):
        join = joins[state]
        own = _transitions(pattern, -1 if state == len(elements) else state, passes, join)
        states[state, kernel.ORDER_TRANSITION :] = _ordered(orders[state], own, len(transitions), code)
        states[state, kernel.FIRST_TRANSITION] = len(transitions)
        states[state, kernel.END_TRANSITION] = len(transitions) + len(own)
        masks = [transition[kernel.MASK] for transition in own]
        states[state, kernel.STATE_MASK] = np.bitwise_or.reduce(np.array(masks, np.int64), initial=0)
        states[state, kernel.ALWAYS] = 0 in masks
        transitions += own
        states[state, kernel.JOIN_REGISTER] = -1 if join is None else join.register
    for state, element in enumerate(elements):
        states[state, kernel.REPORT_FROM], states[state, kernel.REPORT_TO] = passes.over((state, *element.passed_at_end))
        states[state, kernel.COMPLETES] = element.completes
        states[state, kernel.REPEATS] = element.repeats
        states[state, kernel.MERGEABLE] = merging.mergeable[state]
        states[state, kernel.RELINKS] = _relinks(pattern, state, merging, joins[state], orders[state])
    watched = _watch(states, merging)
    fanout = max(1, int((states[:, kernel.END_TRANSITION] - states[:, kernel.FIRST_TRANSITION]).max()))
    table = np.array(transitions, np.int64).reshape(-1, kernel.TRANSITION_COLUMNS)
    settings = _settings(pattern, fanout, run_limit, merging)
    return RunPlan(table, states, passes.table, watched, code.bounds, settings, code.interpreter)


def _joins(pattern: EventPattern) -> list[Join | None]:
    """Per state. Where an event ends the runs that cannot select it, all of them have to be met; the empty run waits nowhere."""
    if SELECTIONS[pattern.selection] < kernel.SKIP_TO_NEXT:
        return [None] * (len(pattern.elements) + 1)
    return [*(join_of(pattern, state) for state in range(len(pattern.elements))), None]


def _orders(pattern: EventPattern, joins: list[Join | None]) -> list[RunOrder | None]:
    """Per state, as `_joins`; where runs wait by equality, they are found by that."""
    if SELECTIONS[pattern.selection] < kernel.SKIP_TO_NEXT or pattern.evaluation != "runs":
        return [None] * len(joins)
    return [*(order_of(pattern, state) if join is None else None for state, join in enumerate(joins[:-1])), None]


def _ordered(order: RunOrder | None, transitions: list[TransitionRow], before: int, code: SearchCode) -> tuple[int, ...]:
    """The columns of `states` from ORDER_TRANSITION on; `before` transitions of other states stand before these."""
    if order is None:
        return -1, 0, 0, 0, 0, 0, 0
    number = next(
        i
        for i, transition in enumerate(transitions)
        if (transition[kernel.TARGET], bool(transition[kernel.TAKE])) == (order.target, order.taken)
    )
    return (before + number, *code.bound_all(order.comparisons), *code.value_of(order.comparisons))


def _watch(states: np.ndarray, merging: Merging) -> np.ndarray:
    """Lists the registers that must agree, state by state."""
    watched: list[int] = []
    for state, registers in enumerate(merging.needed):
        states[state, kernel.WATCH_FROM] = len(watched)
        watched += sorted(registers)
        states[state, kernel.WATCH_TO] = len(watched)
    return np.array(watched, np.int64)


def _relinks(pattern: EventPattern, state: int, merging: Merging, join: Join | None, order: RunOrder | None) -> bool:
    element = pattern.elements[state]
    stored = stored_by(pattern.scalar, element.later_block) if element.repeats else frozenset()
    if (join is not None and join.register in stored) or (order is not None and order.registers & stored):
        return True
    return merging.mergeable[state] and (pattern.ties == "epoch" or bool(stored & merging.needed[state]))


class _Passes:
    """Lists of the conditions about finished elements, one after the other."""

    def __init__(self, pattern: EventPattern) -> None:
        self._pattern = pattern
        self._blocks: list[tuple[int, int]] = []

    def over(self, elements: Iterable[int]) -> tuple[int, int]:
        first = len(self._blocks)
        blocks = (_block(self._pattern, self._pattern.elements[number].leaving_block) for number in elements)
        self._blocks += [block for block in blocks if block[0] < block[1]]
        return first, len(self._blocks)

    @property
    def table(self) -> np.ndarray:
        return np.array(self._blocks, np.int64).reshape(-1, 2)


def _transitions(pattern: EventPattern, state: int, passes: _Passes, join: Join | None) -> list[TransitionRow]:
    """What a run in element `state` (-1: the empty run) may select; see `kernels.runs.run_layout` for the place of the take."""
    elements = pattern.elements
    slots = {} if join is None else join.slots
    take: list[TransitionRow] = []
    if state >= 0 and elements[state].repeats:
        element = elements[state]
        take = [(state, _mask(element.later_bit), *_block(pattern, element.later_block), 0, 0, 1, 0, slots.get(state, -1))]
    following = pattern.initial if state < 0 else elements[state].transitions
    forward = [(*_begin(pattern, state, transition, passes), slots.get(transition.target, -1)) for transition in following]
    return take + forward if _output(pattern) == kernel.FIRST else forward + take


def _begin(pattern: EventPattern, state: int, transition: Transition, passes: _Passes) -> TransitionRow:
    target = pattern.elements[transition.target]
    left = transition.passed if state < 0 else (state, *transition.passed)
    return (
        transition.target, _mask(target.first_bit), *_block(pattern, target.first_block), *passes.over(left), 0, int(transition.nearest),
    )  # fmt: skip


def _mask(bit: int) -> int:
    return 0 if bit < 0 else int(np.uint64(1 << bit).view(np.int64))


def _block(pattern: EventPattern, number: int) -> tuple[int, int]:
    return (0, 0) if number < 0 else pattern.scalar.blocks[number]


def _settings(pattern: EventPattern, fanout: int, run_limit: int | None, merging: Merging) -> np.ndarray:
    settings = np.zeros(kernel.SETTING_CELLS, np.int64)
    settings[kernel.SELECTION] = SELECTIONS[pattern.selection]
    settings[kernel.OUTPUT] = _output(pattern)
    settings[kernel.WITHIN] = pattern.within
    settings[kernel.WITHIN_EVENTS] = pattern.within_unit == "events"
    settings[kernel.TIMED] = pattern.reads.time >= 0
    settings[kernel.EPOCH] = pattern.by_epoch
    settings[kernel.FANOUT] = fanout
    settings[kernel.STOPS] = pattern.output == "first"
    settings[kernel.MERGES] = MERGES[merging.starts]
    settings[kernel.UNITES] = merging.unites
    settings[kernel.RUN_LIMIT] = NO_LIMIT if run_limit is None else run_limit
    return settings


def _output(pattern: EventPattern) -> int:
    """A run of `one_at_a_time` is that of "first" which does not stop at a match."""
    return kernel.FIRST if pattern.one_at_a_time else OUTPUTS[pattern.output]
