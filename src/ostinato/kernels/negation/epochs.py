"""Gaps where simultaneous events do not follow one another: rows of the same time as an event beside a gap are not in it."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing
from ostinato.kernels.negation.negation_gaps import BEHIND, INSIDE
from ostinato.kernels.negation.window_ends import first_not_before


@borrowing("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def between_epochs(keys, place, offset, base, times, low, high):
    """Narrow the gaps inside and before matches; where those behind them begin is known by `ends_of_epochs`."""
    for m in range(len(keys)):
        if place[m] == BEHIND:
            continue
        to_arena = offset[keys[m]] - base[keys[m]]
        first, behind = low[m] + 1 + to_arena, high[m] + to_arena
        end = first_not_before(times, first, behind, times[behind])
        if place[m] == INSIDE:
            low[m] = first_not_before(times, first, end, times[first - 1] + 1) - 1 - to_arena
        high[m] = end - to_arena


@borrowing("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def ends_of_epochs(keys, ordinals, ready, offset, base, times):
    """Put the last row of its time in the place of each of these rows, among those that are ready: others may still come."""
    for m in range(len(keys)):
        to_arena = offset[keys[m]] - base[keys[m]]
        row = ordinals[m] + to_arena
        ordinals[m] = first_not_before(times, row + 1, ready[keys[m]] + to_arena, times[row] + 1) - 1 - to_arena
