"""The components of a program as the tables that the run kernel reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.base.errors import UnsupportedError
from ostinato.kernels import run_moves as kernel
from ostinato.program.program import Component, Program

SELECTIONS = {
    "strict_contiguity": kernel.STRICT,
    "partition_contiguity": kernel.PARTITION,
    "skip_till_next_match": kernel.SKIP_TO_NEXT,
    "skip_till_any_match": kernel.SKIP_TO_ANY,
}
OUTPUTS = {"all": kernel.ALL, "count": kernel.COUNT, "first": kernel.FIRST, "nonoverlapping": kernel.NONOVERLAPPING}
Move = tuple[int, int, int, int, int]
NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True)
class RunPlan:
    """See `kernels.run_moves` for the columns."""

    moves: np.ndarray
    states: np.ndarray
    settings: np.ndarray


def run_plan(program: Program, run_limit: int | None) -> RunPlan:
    if program.output == "first" and program.selection == "skip_till_any_match":
        raise UnsupportedError("one match per start is not offered under skip till any match", hint="use output all or nonoverlapping")
    components = program.components
    states = np.zeros((len(components) + 1, kernel.STATE_COLUMNS), np.int64)
    moves: list[Move] = []
    for state in range(len(components) + 1):
        own = _moves(program, -1 if state == len(components) else state)
        states[state, kernel.FIRST_MOVE] = len(moves)
        states[state, kernel.END_MOVE] = len(moves) + len(own)
        masks = [move[kernel.MASK] for move in own]
        states[state, kernel.STATE_MASK] = np.bitwise_or.reduce(np.array(masks, np.int64), initial=0)
        states[state, kernel.ALWAYS] = 0 in masks
        moves += own
    for state, component in enumerate(components):
        states[state, kernel.LEAVING_START], states[state, kernel.LEAVING_END] = _block(program, component.leaving_block)
        states[state, kernel.COMPLETES] = all(after.at_least == 0 for after in components[state + 1 :])
        states[state, kernel.REPEATS] = component.repeats
    fanout = max(1, int((states[:, kernel.END_MOVE] - states[:, kernel.FIRST_MOVE]).max()))
    return RunPlan(np.array(moves, np.int64).reshape(-1, kernel.MOVE_COLUMNS), states, _settings(program, fanout, run_limit))


def _moves(program: Program, state: int) -> list[Move]:
    """What a run in component `state` (-1: the empty run) may select; see `kernels.run_moves` for the place of the take."""
    components = program.components
    take: list[Move] = []
    if state >= 0 and components[state].repeats:
        component = components[state]
        take = [(state, _mask(component.later_bit), *_block(program, component.later_block), 1)]
    begins = [
        (target, _mask(components[target].first_bit), *_block(program, components[target].first_block), 0)
        for target in _within_reach(components, state)
    ]
    return take + begins if program.output == "first" else begins + take


def _within_reach(components: tuple[Component, ...], state: int) -> list[int]:
    """The next component, and those after it as long as what is left out may be empty."""
    reach = []
    for target in range(state + 1, len(components)):
        reach.append(target)
        if components[target].at_least > 0:
            break
    return reach


def _mask(bit: int) -> int:
    return 0 if bit < 0 else int(np.uint64(1 << bit).view(np.int64))


def _block(program: Program, number: int) -> tuple[int, int]:
    return (0, 0) if number < 0 else program.scalar.blocks[number]


def _settings(program: Program, fanout: int, run_limit: int | None) -> np.ndarray:
    settings = np.zeros(kernel.SETTING_CELLS, np.int64)
    settings[kernel.SELECTION] = SELECTIONS[program.selection]
    settings[kernel.OUTPUT] = OUTPUTS[program.output]
    settings[kernel.WITHIN] = program.within
    settings[kernel.WITHIN_EVENTS] = program.within_unit == "events"
    settings[kernel.TIMED] = program.time >= 0
    settings[kernel.EPOCH] = program.ties == "epoch" and program.time >= 0
    settings[kernel.FANOUT] = fanout
    # A run without registers is known by its component and its start; under epoch also by the time of its last event.
    if program.output == "count" and not program.registers and program.ties != "epoch":
        settings[kernel.MERGES] = kernel.WHATEVER_START if program.within < 0 else kernel.SAME_START
    settings[kernel.RUN_LIMIT] = NO_LIMIT if run_limit is None else run_limit
    return settings
