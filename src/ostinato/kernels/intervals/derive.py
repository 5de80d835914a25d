"""Situations begin, go on and end with the rows of their partition."""

from __future__ import annotations

from ostinato.kernels._jit import inlined
from ostinato.kernels.intervals.interval_layout import (
    AT_DEFINITION,
    AT_LEAST,
    AT_MOST,
    BAD_START,
    BASE,
    BEHIND,
    COUNT,
    DONE,
    EMPTY,
    END,
    ERROR,
    FAILED,
    HEAD,
    HOLDS,
    KEY_PEAK,
    LIVE,
    MADE,
    NOTHING,
    OPEN,
    PEAK,
    PURGED,
    READS,
    ROOM,
    START,
    START_SLOT,
    TAIL,
    TOO_SMALL,
    UNREAD,
)
from ostinato.kernels.rows.farest_time import FAREST


@inlined
def make_room(situations, registers, register_valid, regions, header, region):
    """A region that is full goes back to its first place, where most of its room is free, or to the end of the pool, where it has room for
    as many again. False: the pool has none."""
    head, count = regions[region, HEAD], regions[region, COUNT]
    if head + count < regions[region, ROOM]:
        return True
    target, behind = regions[region, BASE], regions[region, ROOM]
    if head - target <= count:
        target, behind = header[TAIL], header[TAIL] + 2 * count + 2
        if behind > len(situations):
            return False
        header[TAIL] = behind
    for i in range(count):
        new = target + i
        for column in range(situations.shape[1]):
            situations[new, column] = situations[head + i, column]
        for register in range(registers.shape[1]):
            registers[new, register] = registers[head + i, register]
            register_valid[new, register] = register_valid[head + i, register]
    regions[region, HEAD], regions[region, ROOM], regions[region, BASE] = target, behind, target
    return True


@inlined
def add(situations, registers, register_valid, regions, header, region, start, end, row, behind):
    """One more, behind the others; its first row is `row`."""
    place = regions[region, HEAD] + regions[region, COUNT]
    situations[place, START] = start
    situations[place, END] = end
    situations[place, UNREAD] = row
    situations[place, BEHIND] = behind
    for register in range(registers.shape[1]):
        registers[place, register] = registers[EMPTY, register]
        register_valid[place, register] = register_valid[EMPTY, register]
    regions[region, COUNT] += 1
    header[LIVE] += 1
    header[MADE] += 1
    header[PEAK] = max(header[PEAK], header[LIVE])
    header[KEY_PEAK] = max(header[KEY_PEAK], header[LIVE])


@inlined
def counts(definitions, definition, length):
    """What has no length, or not one that is asked for, has not been."""
    return length > 0 and definitions[definition, AT_LEAST] <= length <= definitions[definition, AT_MOST]


@inlined
def finish(definitions, situations, regions, header, region, definition, row, time):
    """The open one ends, before this row."""
    place = regions[region, HEAD] + regions[region, COUNT] - 1
    situations[place, END] = time
    situations[place, BEHIND] = row
    if not counts(definitions, definition, time - situations[place, START]):
        regions[region, COUNT] -= 1
        header[LIVE] -= 1


@inlined
def purge(definitions, situations, regions, header, key, earliest):
    """Let go of what has ended and started before a time: it is in no later match. Of what is given, which is not in the order of starts,
    what has ended until then."""
    count = len(definitions)
    for definition in range(count):
        region = key * count + definition
        column = START if definitions[definition, START_SLOT] == NOTHING else END
        while regions[region, COUNT] > 0:
            place = regions[region, HEAD]
            if situations[place, column] >= earliest or situations[place, END] == OPEN:
                break
            regions[region, HEAD] += 1
            regions[region, COUNT] -= 1
            header[LIVE] -= 1
            header[PURGED] += 1


@inlined
def take(definitions, bits, slots, slot_valid, situations, registers, register_valid, regions, header, key, row, time):
    """A row comes, after those before it. AT_DEFINITION in the header says where to go on if the pool was too small."""
    count = len(definitions)
    own = bits[row]
    for definition in range(header[AT_DEFINITION], count):
        if definitions[definition, READS] != 0 and own & definitions[definition, READS] == 0:
            continue
        region = key * count + definition
        last = regions[region, HEAD] + regions[region, COUNT] - 1
        goes_on = regions[region, COUNT] > 0 and situations[last, END] == OPEN
        holds = own & definitions[definition, HOLDS] != 0
        start, end, behind = time, OPEN, OPEN
        if definitions[definition, START_SLOT] != NOTHING:
            if not holds:
                continue
            slot = definitions[definition, START_SLOT]
            start, end, behind = slots[row, slot], time, row + 1
            if slot_valid[row, slot] == 0 or not -FAREST <= start <= time:
                header[ERROR] = BAD_START
                return FAILED
            if not counts(definitions, definition, time - start):
                continue
        elif not holds:
            if goes_on:
                finish(definitions, situations, regions, header, region, definition, row, time)
            continue
        if not goes_on:
            if not make_room(situations, registers, register_valid, regions, header, region):
                header[AT_DEFINITION] = definition
                return TOO_SMALL
            add(situations, registers, register_valid, regions, header, region, start, end, row, behind)
    header[AT_DEFINITION] = 0
    return DONE
