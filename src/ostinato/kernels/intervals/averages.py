"""Moving averages of how many situations there are, and of how many of them each constraint leaves, by what has changed.

The part that is left is one average by the other: a buffer that grows would be ahead of an average of parts."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing
from ostinato.kernels.intervals.interval_layout import (
    AMONG,
    CURRENT,
    FOLDED,
    KNOWN,
    LEFT,
    OF,
    PERIOD,
    PLANNED,
    SEARCHES,
    TIMES,
    VISITED,
)

WEIGHT = 0.5  # of what was seen since the averages were brought up to date; of the first times more: what was planned with is a guess
THRESHOLD = 0.2  # by which part of itself an average may change before orders are chosen anew: the thesis, section 5.7.4
ENOUGH_LEFT = 16  # situations, so that their number is known by a quarter of itself
ENOUGH_TIMES = 1024
LEAST = 0.05  # situations: below that, nobody cares by which part


@borrowing
def have_drifted(settings, header, looked, averages, count):
    """Bring averages up to date if it is time to. Whether one of them is not any more what the orders were chosen by."""
    work = header[VISITED] + header[SEARCHES]
    if work - header[FOLDED] < settings[PERIOD]:
        return False
    header[FOLDED] = work
    drifted = False
    for cell in range(averages.shape[1]):
        left, times = looked[OF if cell < count else LEFT, cell], looked[TIMES, cell]
        if times == 0 or (cell >= count and left < ENOUGH_LEFT and times < ENOUGH_TIMES):
            continue
        averages[KNOWN, cell] += 1.0
        weight = max(WEIGHT, 1.0 / averages[KNOWN, cell])
        averages[CURRENT, cell] += weight * (left / times - averages[CURRENT, cell])
        averages[AMONG, cell] += weight * (looked[OF, cell] / times - averages[AMONG, cell])
        looked[OF, cell], looked[LEFT, cell], looked[TIMES, cell] = 0, 0, 0
        planned = averages[PLANNED, cell]
        drifted |= abs(averages[CURRENT, cell] - planned) > THRESHOLD * max(planned, LEAST)
    return drifted
