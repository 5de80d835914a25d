"""Row code of the patterns that read one input, evaluated together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ostinato.runtime.rows.row_code import RowCode
from ostinato.runtime.session.pattern_operator import PatternOperator


class CodeSharing:
    """For patterns that need no rows ahead: every row is evaluated as soon as it is there, for all of them. The others evaluate theirs
    by themselves. One pattern alone has nothing to share."""

    def __init__(self, readers: Sequence[PatternOperator]) -> None:
        able = [reader for reader in readers if reader.pattern.look_ahead == 0]
        self._members = able if len(able) > 1 else []
        for reader in able if len(able) == 1 else []:
            reader.row_code, reader.owns_progress = RowCode([reader.pattern], reader.source.pool), True
        if self._members:
            self._code = RowCode([member.pattern for member in self._members], self._members[0].source.pool)
            progress = self._members[0].progress  # those that are there already have had the same rows
            for member in self._members:
                member.progress, member.row_code, member.owns_progress = progress, None, member is self._members[0]

    def evaluate(self, keys: np.ndarray) -> None:
        """The new rows of these keys."""
        if not self._members:
            return
        first = self._members[0]
        rows = first.rows
        first.progress.reach(rows.key_count)
        total = rows.base[keys] + rows.length[keys]
        self._code.evaluate([member.rows for member in self._members], keys, first.evaluated[keys], total)
        first.evaluated[keys] = total
