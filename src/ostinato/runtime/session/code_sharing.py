"""Row code of the patterns that read one input, evaluated together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ostinato.program.analysis.start_bits import start_bits
from ostinato.runtime.matcher import PassesOver
from ostinato.runtime.rows.longer_arrays import grown
from ostinato.runtime.rows.row_code import RowCode
from ostinato.runtime.session.pattern_operator import PatternOperator


class CodeSharing:
    """For patterns that need no rows ahead: every row is evaluated as soon as it is there, for all of them. The others evaluate theirs
    by themselves. One pattern alone has nothing to share."""

    def __init__(self, readers: Sequence[PatternOperator]) -> None:
        able = [reader for reader in readers if reader.pattern.look_ahead == 0]
        self._members = able if len(able) > 1 else []
        self._numbers = {id(member): number for number, member in enumerate(self._members)}
        for reader in able if len(able) == 1 else []:
            reader.row_code, reader.owns_progress, reader.selects = RowCode([reader.pattern], reader.source.pool), True, None
        if not self._members:
            return
        self._code = RowCode([member.pattern for member in self._members], self._members[0].source.pool)
        progress = self._members[0].progress  # those that are there already have had the same rows
        for member in self._members:
            member.progress, member.row_code, member.owns_progress = progress, None, member is self._members[0]
            bits = start_bits(member.pattern) if isinstance(member.matcher, PassesOver) else None
            member.select_by(bits)

    def evaluate(self, keys: np.ndarray) -> None:
        """The new rows of these keys."""
        if self._members:
            first = self._members[0]
            rows = first.rows
            first.progress.reach(rows.key_count)
            total = rows.base[keys] + rows.length[keys]
            self._begun = first.evaluated[keys]
            self._code.evaluate(rows, keys, self._begun, total)
            first.evaluated[keys] = total

    def concerned(self, reader: PatternOperator, keys: np.ndarray) -> np.ndarray:
        """Of the keys that have got rows, those in which a pattern may begin or go on with something. What it asks of the rows is written
        down, if there are any."""
        number = self._numbers.get(id(reader))
        if number is None:
            return reader.own_keys(keys)
        if reader.selects is not None:
            keys = self._selected(reader, number, reader.selects, keys)
        if len(keys):
            self._code.store(reader.rows, number)
        return keys

    def _selected(self, reader: PatternOperator, number: int, bits: tuple[int, ...], keys: np.ndarray) -> np.ndarray:
        busy = reader.busy = grown(reader.busy, reader.rows.key_count)
        chosen = busy[keys]
        chosen[self._code.started(number, bits)] = True
        places = np.flatnonzero(chosen)
        if reader.excludes_nulls:
            places = places[np.isin(keys[places], reader.own_keys(keys[places]), assume_unique=True)]
        selected = keys[places]
        passed = places[~busy[selected] & (self._begun[places] > 0)]
        if len(passed):
            matcher: Any = reader.matcher
            matcher.pass_over(keys[passed], self._begun[passed])
        return selected
