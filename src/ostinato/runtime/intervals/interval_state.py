"""What the saved situations of a pattern must be."""

from __future__ import annotations

import numpy as np

from ostinato.expr.types import Kind
from ostinato.kernels.intervals.interval_layout import KEY_COLUMNS, NEVER, OPEN
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_VALUE
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.intervals.situation_store import COUNTERS
from ostinato.runtime.rows.ingest import FAREST
from ostinato.runtime.snapshots.state_check import ANY, LIMIT, StateCheck


def check_intervals(state: StateCheck, pattern: IntervalPattern) -> None:
    read = state.read_up_to("read")
    moments = state.array("moments", np.int64, ANY, KEY_COLUMNS)
    state.require(len(moments) == len(read), "moments of all partitions")
    state.require(bool(((moments == NEVER) | (abs(moments) <= FAREST)).all()), "moments that are times")
    counts = state.array("counts", np.int64, len(moments) * len(pattern.definitions))
    state.between(counts, 0, LIMIT, "numbers of situations")
    situations = state.array("situations", np.int64, ANY, 2)
    state.offsets(np.cumsum(counts), len(situations), "situations of known partitions and definitions")
    _times(state, pattern, counts, situations)
    registers = state.array("registers", np.int64, len(situations), len(pattern.registers))
    flags = state.array("register_valid", np.uint8, len(situations), len(pattern.registers))
    state.between(flags, 0, HAS_FAILED, "registers with or without a value")
    for number, register in enumerate(pattern.registers):
        held = registers[flags[:, number] == IS_VALUE, number]
        if register.type.kind is Kind.STRING:
            state.index(held, state.rows.texts, "strings of situations")
        if register.type.kind is Kind.BOOL:
            state.between(held, 0, 1, "truth values of situations")
    state.between(state.counters("counters", len(COUNTERS) + 1), 0, LIMIT, "counters")


def _times(state: StateCheck, pattern: IntervalPattern, counts: np.ndarray, situations: np.ndarray) -> None:
    """Those of a region follow one another, and only the last may be open; those that are given are in the order of their ends."""
    starts, ends = situations.T
    state.between(starts, -FAREST, FAREST, "starts of situations")
    state.require(bool((ends > starts).all() and ((ends == OPEN) | (ends <= FAREST)).all()), "situations that end behind their start")
    region = np.repeat(np.arange(len(counts)), counts)
    follows = region[1:] == region[:-1]
    given = np.array([definition.start >= 0 for definition in pattern.definitions])[region % len(pattern.definitions)]
    state.require(not (given & (ends == OPEN)).any(), "situations that have ended, where they are given")
    behind = np.where(given, ends, starts)
    state.require(bool((ends[:-1][follows] <= behind[1:][follows]).all()), "situations that follow one another")
