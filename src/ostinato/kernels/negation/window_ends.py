"""How far the windows of matches reach: in a module of its own, since timeouts ask for it where nothing is negated."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined


@inlined
def first_not_before(times, low, high, time):
    """The first row in [low, high) of at least that time."""
    while low < high:
        middle = (low + high) // 2
        if times[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@borrowing(
    "void(int64[::1], int64[::1], int64[::1], boolean, int64[::1], int64, int64[::1], int64[::1], int64[::1], int64[::1],"
    "int64[::1], boolean[::1])"
)
def window_ends(keys, last, limit, by_events, ready, watermark, offset, base, length, times, high, settled):
    """How far the gap behind a match goes among the rows that are ready, and whether no further row can come into it. `limit` is the last
    time, or the last ordinal, that belongs to it."""
    for m in range(len(keys)):
        key = keys[m]
        if by_events:
            high[m] = min(limit[m] + 1, ready[key])
            settled[m] = ready[key] > limit[m]
        else:
            to_arena = offset[key] - base[key]
            end = first_not_before(times, last[m] + 1 + to_arena, ready[key] + to_arena, limit[m] + 1)
            high[m] = end - to_arena
            comes_later = end == offset[key] + length[key] or times[end] > limit[m]
            settled[m] = high[m] < ready[key] or (watermark > limit[m] and comes_later)
