"""Partitions in which nothing is begun are forgotten, so that an endless supply of keys needs bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows
    from ostinato.runtime.session.pattern_operator import PatternOperator

FORGET_FROM = 65_536  # keys; below, forgetting idle ones is not worth the work


class IdleKeys:
    """Looks at the keys of an input when they are twice those that were live the last time: the cost per new key is constant."""

    def __init__(self) -> None:
        self._at = FORGET_FROM

    def forget(self, source: InputRows, readers: Sequence[PatternOperator]) -> None:
        """Drop keys that hold nothing, for any of those that read them, when most of them do."""
        keys = source.keys
        if keys is None or len(keys) < self._at or any(reader.needs.all_remembered for reader in readers):
            return
        known = np.arange(len(keys))
        needed = np.zeros(len(keys), np.bool_)
        for reader in readers:
            needed |= reader.needed_keys(known)
        live = known[needed]
        if 2 * len(live) <= len(known):
            source.keys, old_of_new = keys.kept(live, source.pool)
            source.rows.renumber(old_of_new)
            for reader in readers:
                reader.renumber(old_of_new)
        self._at = max(FORGET_FROM, 2 * len(live))
