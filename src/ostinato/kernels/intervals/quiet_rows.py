"""Rows at which no situation begins or ends, and none becomes long enough: their moments decide nothing, so that nothing is looked for.

Most rows are such rows. They are passed over by a comparison of their bits."""

from __future__ import annotations

from ostinato.kernels._jit import inlined
from ostinato.kernels.intervals.interval_layout import (
    AT_LEAST,
    AT_MOST,
    COUNT,
    END,
    HEAD,
    HOLDS,
    IS_FINAL,
    NOTHING,
    OPEN,
    START,
)

TOGETHER = 16  # rows


@inlined
def open_place(situations, regions, region):
    """Where the one that is open stands; NOTHING: none is."""
    last = regions[region, HEAD] + regions[region, COUNT] - 1
    return last if regions[region, COUNT] > 0 and situations[last, END] == OPEN else NOTHING


@inlined
def are_alike(bits, row, holds, goes_on):
    """Whether so many rows hold the same: all of them are looked at, as a processor does with several at a time."""
    word = bits.dtype.type
    mask, wanted, other = word(holds), word(goes_on), word(0)
    for i in range(TOGETHER):
        other |= (bits[row + i] & mask) ^ wanted
    return other == 0


@inlined
def quiet_end(definitions, settings, bits, times, situations, regions, key, row, end, decided):
    """The first row from `row` on that is not quiet, or `end`. `decided`: the last moment of the partition, which is over."""
    count = len(definitions)
    holds, goes_on, wakes = 0, 0, OPEN
    for definition in range(count):
        holds |= definitions[definition, HOLDS]
        place = open_place(situations, regions, key * count + definition)
        if place == NOTHING:
            continue
        goes_on |= definitions[definition, HOLDS]
        least = definitions[definition, AT_LEAST]
        if settings[IS_FINAL] == 0 and definitions[definition, AT_MOST] == OPEN and decided - situations[place, START] < least:
            wakes = min(wakes, situations[place, START] + least)
    while row + TOGETHER <= end and times[row + TOGETHER - 1] < wakes and are_alike(bits, row, holds, goes_on):
        row += TOGETHER
    while row < end and bits[row] & holds == goes_on and times[row] < wakes:
        row += 1
    return row


@inlined
def time_before(times, first, last, otherwise):
    """The moment before that of row `last`, among the rows from `first` on; `otherwise`: all of these are of one time."""
    at = last
    while at > first and times[at] == times[last]:
        at -= 1
    return times[at] if times[at] != times[last] else otherwise
