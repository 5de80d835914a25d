"""Strings that nothing refers to any more are forgotten, so that an endless supply of texts needs bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ostinato.expr.types import Kind
from ostinato.program.pattern import Pattern
from ostinato.runtime.matcher import RemembersStrings

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows
    from ostinato.runtime.session.pattern_operator import PatternOperator

LOOKED_INTO = ("scan", "compact", "runs", "backtrack", "instances")  # evaluations whose codes are all found
SWEEP_FROM = 131_072  # strings; below, forgetting some is not worth the work


class StringSweep:
    """Sweeps when the pool of an input has grown to four times what was in use the last time: the cost per new string is constant."""

    def __init__(self, first: int = SWEEP_FROM) -> None:
        self._first = self._at = first

    def sweep(self, source: InputRows, readers: Sequence[PatternOperator], at_once: bool = False) -> None:
        """`at_once`: not when it is worth the work, but because there is no room."""
        if (len(source.pool) < self._at and not at_once) or not all(_is_known(reader.pattern) for reader in readers):
            return
        used = np.zeros(len(source.pool), np.bool_)
        for codes in _held(source, readers):
            used[codes[(codes >= 0) & (codes < len(used))]] = True
        _recode(source, readers, source.pool.keep(used))
        self._at = max(self._first, 4 * len(source.pool))


def _is_known(pattern: Pattern) -> bool:
    """Whether all codes are found: in rows, in keys, and in the registers of runs. Other matchers with registers, and values kept for
    aggregates, are not looked into, and keep their strings."""
    return pattern.output != "aggregates" and pattern.evaluation in LOOKED_INTO


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
