"""Rows between matches."""

from __future__ import annotations

from ostinato.kernels._jit import jit


@jit("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1])")
def find_gaps(match_key, start, behind, keys, searched, passed, gaps):
    """Stretches (key, first, behind the last) of rows that no match covers. The matches of a key come in order of their starts, and none
    that comes later starts before `searched`. `passed` holds per key up to where rows are covered or were found here; it is brought up to
    date. Returns how many there are."""
    found = 0
    for m in range(len(match_key)):
        k = match_key[m]
        if start[m] > passed[k]:
            gaps[found, 0], gaps[found, 1], gaps[found, 2] = k, passed[k], start[m]
            found += 1
        passed[k] = max(passed[k], behind[m])
    for i in range(len(keys)):
        k = keys[i]
        if searched[i] > passed[k]:
            gaps[found, 0], gaps[found, 1], gaps[found, 2] = k, passed[k], searched[i]
            found += 1
            passed[k] = searched[i]
    return found
