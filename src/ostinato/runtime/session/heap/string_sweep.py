"""Strings that nothing refers to any more are forgotten, so that an endless supply of texts needs bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ostinato.expr.types import Kind
from ostinato.program.pattern import Pattern
from ostinato.program.tree import TreePattern
from ostinato.runtime.matcher import RemembersStrings

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows
    from ostinato.runtime.session.pattern_operator import PatternOperator

LOOKED_INTO = ("scan", "threads", "compact", "runs", "backtrack", "instances", "intervals")  # evaluations whose codes are all found
SWEEP_FROM = 131_072  # strings; below, forgetting some is not worth the work,
SWEEP_BYTES = 32 << 20  # unless they are long


class StringSweep:
    """Sweeps when the pool of an input has grown to four times the strings that were in use the last time, or to twice their bytes: the
    cost per new string, and per letter of it, is constant."""

    def __init__(self, first: int = SWEEP_FROM, first_bytes: int = SWEEP_BYTES) -> None:
        self._first = self._at = first
        self._first_bytes = self._at_bytes = first_bytes

    def sweep(self, source: InputRows, readers: Sequence[PatternOperator], at_once: bool = False) -> None:
        """`at_once`: not when it is worth the work, but because there is no room."""
        due = at_once or len(source.pool) >= self._at or source.pool.bytes >= self._at_bytes
        if not due or not len(source.pool) or not all(_is_known(reader.pattern) for reader in readers):
            return
        used = np.zeros(len(source.pool), np.bool_)
        for codes in _held(source, readers):
            used[codes[(codes >= 0) & (codes < len(used))]] = True
        _recode(source, readers, source.pool.keep(used))
        self._at = max(self._first, 4 * len(source.pool))
        self._at_bytes = max(self._first_bytes, 2 * source.pool.bytes)


def _is_known(pattern: Pattern) -> bool:
    """Whether all codes are found: in rows, in keys, and in the registers of runs and threads. Aggregates over all matches hold strings
    themselves, and nested patterns rows alone. An evaluation that is not looked into keeps its strings."""
    return isinstance(pattern, TreePattern) or pattern.evaluation in LOOKED_INTO


def _held(source: InputRows, readers: Sequence[PatternOperator]) -> list[np.ndarray]:
    _, index = source.rows.retained()
    held = [column[index] for column in _columns(source, readers)]
    if source.keys is not None:
        held += source.keys.codes()
    for reader in readers:
        held += reader.matcher.codes() if isinstance(reader.matcher, RemembersStrings) else []
    return held


def _columns(source: InputRows, readers: Sequence[PatternOperator]) -> list[np.ndarray]:
    """The arrays of the arena that hold codes. Of rows that were not evaluated yet, slots hold anything."""
    texts = [name for name, type_ in source.stored.items() if type_.kind is Kind.STRING]
    found = [source.rows.arena.data[source.rows.held_as(name)] for name in texts]
    for reader in readers:
        found += [reader.rows.slots[:, i] for i, type_ in enumerate(reader.pattern.slots) if type_.kind is Kind.STRING]
    return found


def _recode(source: InputRows, readers: Sequence[PatternOperator], new_of_old: np.ndarray) -> None:
    _, index = source.rows.retained()
    for column in _columns(source, readers):
        codes = column[index]
        known = (codes >= 0) & (codes < len(new_of_old))
        column[index[known]] = new_of_old[codes[known]]
    if source.keys is not None:
        source.keys.recode(new_of_old)
    for reader in readers:
        if isinstance(reader.matcher, RemembersStrings):
            reader.matcher.recode(new_of_old)
