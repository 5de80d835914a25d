"""Moving averages of how many situations there are, and of which part of them each constraint leaves, by what has changed."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing
from ostinato.kernels.intervals.interval_layout import (
    CURRENT,
    FOLDED,
    KNOWN,
    LEAST_SIZE,
    LEFT,
    OF,
    PERIOD,
    PLANNED,
    SEARCHES,
    TIMES,
    VISITED,
)

WEIGHT = 0.25  # of what was seen since the averages were brought up to date; of the first times more: what was planned with is a guess
THRESHOLD = 0.2  # by which part of itself an average may change before orders are chosen anew: the thesis, section 5.7.4
ENOUGH_LEFT = 16  # situations, so that a part is known by a quarter of itself
ENOUGH_TIMES = 1024
LEAST_PART = 0.001


@borrowing
def have_drifted(settings, header, looked, averages, count):
    """Bring averages up to date if it is time to. Whether one of them is not any more what the orders were chosen by."""
    work = header[VISITED] + header[SEARCHES]
    if work - header[FOLDED] < settings[PERIOD]:
        return False
    header[FOLDED] = work
    drifted = False
    for cell in range(averages.shape[1]):
        left, times = looked[LEFT, cell], looked[TIMES, cell]
        if cell < count:
            if times == 0:
                continue
            seen, least = looked[OF, cell] / times, LEAST_SIZE
        else:
            if looked[OF, cell] == 0 or (left < ENOUGH_LEFT and times < ENOUGH_TIMES):
                continue
            seen, least = left / looked[OF, cell], LEAST_PART
        averages[KNOWN, cell] += 1.0
        averages[CURRENT, cell] += max(WEIGHT, 1.0 / averages[KNOWN, cell]) * (seen - averages[CURRENT, cell])
        looked[OF, cell], looked[LEFT, cell], looked[TIMES, cell] = 0, 0, 0
        planned = averages[PLANNED, cell]
        drifted |= abs(averages[CURRENT, cell] - planned) > THRESHOLD * max(planned, least)
    return drifted
