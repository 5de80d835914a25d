"""A match: rows of the input under the names of the pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Match:
    """`rows` are (position in the input list, variable), in row order; `key` the values of the partition columns; `number` counts
    the matches of a partition from 1. `start` is the position of the first row; of an empty match, the row where it starts. `hidden` are
    the positions that are not shown where all rows of a match are. `timed_out`: a partial match that its window ended."""

    rows: tuple[tuple[int, str], ...]
    key: tuple[Any, ...]
    number: int
    start: int
    hidden: frozenset[int] = frozenset()
    timed_out: bool = False

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(position for position, _ in self.rows)

    def of(self, variable: str) -> list[int]:
        """The positions mapped to a variable."""
        return [position for position, name in self.rows if name == variable]
