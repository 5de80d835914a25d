"""What is asked of the times of a batch, in one pass."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing


@borrowing("UniTuple(int64, 3)(int64[::1])")
def time_range(times):
    """The least, the greatest, and whether they ascend; of at least one."""
    least = greatest = times[0]
    descents = 0
    for i in range(1, len(times)):
        time = times[i]
        least = min(least, time)
        greatest = max(greatest, time)
        descents += times[i - 1] > time
    return least, greatest, descents == 0
