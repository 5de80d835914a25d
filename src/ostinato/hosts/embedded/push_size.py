"""How many rows of a table are pushed at once.

The matches that a push decides are listed before they are put in order and shown, which takes about twice what a row of three numbers does.
So where events are selected one by one, and few rows can have many matches, the next push is as large as the last one's matches allow: what
is listed is soon small beside the result, and a table with few matches is pushed in a few large pieces. Of rows that make situations none
is kept: pieces of half a million go through memory that is there already."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ostinato.program.program import Program
from ostinato.runtime.session.graph import Found

FIRST_ROWS = 1 << 12
MANY_MATCHES = 1 << 17  # of one push
FEW_MATCHES = 1 << 15
SITUATION_ROWS = 1 << 19  # what a push costs besides is little then, and the rows still lie in the cache when they are read again


class PushSize:
    def __init__(self, program: Program) -> None:
        self._adapts = any(operator.body.selects_events for operator in program.operators)
        self._fixed = SITUATION_ROWS if any(operator.body.decides_moments for operator in program.operators) else None
        self._rows = FIRST_ROWS
        self._found = 0

    def pieces(self, table: pa.Table) -> Iterator[pa.Table]:
        """Of a table, in order; each as large as what was `counted` of those before it allows."""
        if not self._adapts:
            size = self._fixed or max(table.num_rows, 1)
            yield from (table.slice(first, size) for first in range(0, max(table.num_rows, 1), size))
            return
        first = 0
        while first < max(table.num_rows, 1):
            piece = table.slice(first, self._rows)
            self._found = 0
            yield piece
            first += self._rows
            self._rows = self._next()

    def _next(self) -> int:
        if self._found > MANY_MATCHES:
            return max(1, self._rows * MANY_MATCHES // (2 * self._found))
        return 4 * self._rows if self._found < FEW_MATCHES else self._rows

    def counted(self, found: Iterator[Found]) -> Iterator[Found]:
        for operator, table in found:
            self._found += table.num_rows
            yield operator, table
