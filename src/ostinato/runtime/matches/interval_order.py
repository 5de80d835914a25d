"""Matches in the order of their ends, then of the events of their variables."""

from __future__ import annotations

import numpy as np

from ostinato.runtime.matches.matches import Matches
from ostinato.runtime.rows.pattern_rows import PatternRows

NO_EVENT = np.iinfo(np.int64).max


def by_interval(matches: Matches, rows: PatternRows, variables: int) -> np.ndarray | None:
    """By the time of the last event, then by the position of the first event of each variable in the order of the text, a variable without
    events last; matches that differ only in further events of a repetition, by these. None: as they are."""
    owner = np.repeat(np.arange(len(matches)), np.diff(matches.offsets))
    position = rows.positions[rows.index_of(matches.key[owner], matches.listed)]
    end = rows.times[rows.index_of(matches.key, matches.last)]
    order = np.lexsort([*_further(matches, owner, position, variables), end])
    return None if (order[1:] > order[:-1]).all() else order


def _further(matches: Matches, owner: np.ndarray, position: np.ndarray, variables: int) -> list[np.ndarray]:
    """The columns to order by, the least important first: of each variable its n-th event."""
    columns: list[np.ndarray] = []
    for variable in range(variables):
        mine = np.flatnonzero(matches.variables == variable)
        owners = owner[mine]
        if (owners[1:] > owners[:-1]).all():  # one of each match
            column = np.full(len(matches), NO_EVENT)
            column[owners] = position[mine]
            columns.append(column)
            continue
        number = np.arange(len(mine)) - np.searchsorted(owners, owners)
        for nth in range(max(int(number.max(initial=0)) + 1, 1)):
            column = np.full(len(matches), NO_EVENT if nth == 0 else -1)
            chosen = mine[number == nth]
            column[owner[chosen]] = position[chosen]
            columns.append(column)
    return columns[::-1]
