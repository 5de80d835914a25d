"""Event patterns whose conditions look at one event alone: a fixed amount of work per event, however many partial matches there are.

What an event does to a partial match depends on its state and on the event's symbol only: the state is the match's last element, and
which negations lie ahead of it, see `runtime.compact.event_transitions`. `symbols[s]` says which states do anything at all and which let
the event pass (as bit sets), and which `transitions` there are: rows (source, -1 for the empty match; target; the element that the event is
bound to; whether that completes a match; whether the match can go on from there). They are ordered by descending source, a transition that
leads back behind the others of its state: targets are never smaller than sources, so that a state is read before anything is added to it.

A partition has a set of states with partial matches (`active`, a bit set) and a heap of nodes for each of them in `roots`; see
`start_heaps`."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.compact.compact_best import BEST, UNDECIDED, choose
from ostinato.kernels.compact.start_heaps import (
    ACTIVE,
    CLOCK,
    EPOCH,
    LOW,
    MOST_COPIES,
    NEWEST,
    NOTHING,
    POSITION,
    STEPS,
    join,
    meld,
    put_node,
)
from ostinato.kernels.rows.symbols import UNKNOWN, symbol_of

# Columns of `symbols`
FIRST_TRANSITION = 0
END_TRANSITION = 1
ACTS = 2
PASSES = 3
STARTS = 4
SYMBOL_COLUMNS = 5

# Columns of `transitions`
SOURCE = 0
TARGET = 1
BOUND_TO = 2  # the element of the event, NOTHING if partial matches go to another state without it
COMPLETES = 3
GOES_ON = 4
TRANSITION_COLUMNS = 5

# Cells of `settings`
MASK = 0  # of the bits that make up a symbol
SPAN = 1  # a start that is more than this before the current event is too old
BY_TIME = 2  # in the unit of the time column; else events of the partition are counted
STRICT = 3
NONOVERLAPPING = 4
WATERMARK = 5
HAS_WATERMARK = 6
FINAL = 7
FRESH = 8  # the states, as a bit set, that wait until time goes on
ALONE = 9  # the bit, as a word, of an event that is the only one of its time; 0: there is none
SETTING_CELLS = 10

EPOCH_SYMBOL = 0  # of time going on, where there are such states

# Cells of `header`
NODES = 0
FOUND = 1
CHOSEN = 2
AT_KEY = 3
AT_ROW = 4
MATCHES = 5
EXPIRED = 6
HEADER_CELLS = 7

# Columns of `found`: the last node of matches that are complete, their partition, the time or ordinal of their completion. Where only
# one match is chosen: how long it is, and the partition.
FOUND_COLUMNS = 3

# What `advance` returns
DONE = 0
TOO_SMALL = 1
NEW_SYMBOL = 2


@inlined
def has_room(symbols, nodes, found, chosen, header, symbol, steps):
    transitions = symbols[symbol, END_TRANSITION] - symbols[symbol, FIRST_TRANSITION]
    if header[NODES] + transitions * (1 + MOST_COPIES) > nodes.shape[0] or header[FOUND] + transitions > found.shape[0]:
        return False
    return chosen.shape[0] == 0 or header[CHOSEN] + steps + 1 <= chosen.shape[0]


@inlined
def step(symbols, transitions, settings, nodes, found, header, roots, spine, key, symbol, ordinal, now, active):
    """One event. Returns the states that have partial matches afterwards."""
    before = active
    active &= symbols[symbol, PASSES]
    for m in range(symbols[symbol, FIRST_TRANSITION], symbols[symbol, END_TRANSITION]):
        source = transitions[m, SOURCE]
        heap = NOTHING
        newest = now
        if source != NOTHING:
            if not before >> source & 1:
                continue
            heap = roots[key, source]
            newest = nodes[heap, NEWEST]
            if now - newest > settings[SPAN]:
                active &= ~(1 << source)
                before &= ~(1 << source)
                continue
        target = transitions[m, TARGET]
        if transitions[m, BOUND_TO] == NOTHING:
            if active >> target & 1:
                header[NODES], heap = meld(nodes, header[NODES], roots[key, target], heap, spine)
            roots[key, target] = heap
            active |= 1 << target
            continue
        node = header[NODES]
        header[NODES] = node + 1
        put_node(nodes, node, ordinal, transitions[m, BOUND_TO], newest, heap)
        if transitions[m, COMPLETES]:
            found[header[FOUND], 0] = node
            found[header[FOUND], 1] = key
            found[header[FOUND], 2] = now
            header[FOUND] += 1
        if transitions[m, GOES_ON]:
            root = node
            if active >> target & 1:
                root = join(nodes, header[NODES], node, roots[key, target], spine)
                if root != node:
                    header[NODES] = root + 1
            roots[key, target] = root
            active |= 1 << target
    return active


@inlined
def drop_hopeless(settings, nodes, header, roots, key, active, next_ordinal):
    """The states whose partial matches a later event can still join."""
    if settings[FINAL]:
        return 0
    if settings[BY_TIME] and not settings[HAS_WATERMARK]:
        return active
    now = settings[WATERMARK] if settings[BY_TIME] else next_ordinal
    left = active
    for state in range(roots.shape[1]):
        if left >> state & 1 and now - nodes[roots[key, state], NEWEST] > settings[SPAN]:
            left &= ~(1 << state)
            header[EXPIRED] += 1
    return left


@inlined
def window_start(settings, times, low, next_ordinal, shift, clock):
    """The first ordinal from `low` on that a later match may still start with."""
    if settings[BY_TIME]:
        while low < next_ordinal and clock - times[low - shift] > settings[SPAN]:
            low += 1
        return low
    return low if next_ordinal - low <= settings[SPAN] else next_ordinal - settings[SPAN]


_SIGNATURE = (
    "int64(int64[:,::1], int64[:,::1], int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    "int64[:,::1], int64[:,::1], int64[:,::1], int32[:,::1], int64[::1], int64[::1], int32[:,::1], int64[:,::1],"
    "int64[::1], int64[::1], int64[::1], int64[::1])"
)


@borrowing(_SIGNATURE)
def advance(
    symbols, transitions, direct, slot_bits, slot_numbers, settings, bits, times, positions,
    nodes, found, chosen, best, spine, header, roots, partitions,
    keys, begin, end, ordinal,
):  # fmt: skip
    """Go on over the rows [begin[i], end[i]) of each of `keys`, the first of which has `ordinal[i]`. Anything but DONE leaves in the
    header where to go on when called again."""
    for i in range(header[AT_KEY], len(keys)):
        key = keys[i]
        row = max(begin[i], header[AT_ROW])
        header[AT_KEY] = i
        header[AT_ROW] = NOTHING
        shift = ordinal[i] - begin[i]
        active = partitions[key, ACTIVE]
        steps = partitions[key, STEPS]
        status = DONE
        while row < end[i]:
            word, goes_on = bits[row], False
            if settings[FRESH]:
                is_fresh = active & settings[FRESH] != 0
                goes_on = is_fresh and times[row] != (times[row - 1] if row > begin[i] else partitions[key, EPOCH])
                if settings[ALONE] and (goes_on or not is_fresh) and row + 1 < end[i] and times[row + 1] != times[row]:
                    word |= settings[ALONE]
            symbol = symbol_of(word, settings[MASK], direct, slot_bits, slot_numbers)
            if symbol == UNKNOWN:
                status = NEW_SYMBOL
                break
            if settings[STRICT] and active:
                last = positions[row - 1] if row > begin[i] else partitions[key, POSITION]
                if positions[row] != last + 1:
                    active = 0
            now = times[row] if settings[BY_TIME] else row + shift
            if goes_on:
                if not has_room(symbols, nodes, found, chosen, header, EPOCH_SYMBOL, steps):
                    status = TOO_SMALL
                    break
                active = step(
                    symbols, transitions, settings, nodes, found, header, roots, spine, key, EPOCH_SYMBOL, row + shift, now, active
                )  # fmt: skip
            if active & symbols[symbol, ACTS] == 0 and not symbols[symbol, STARTS]:
                row += 1
                continue
            if active == 0:
                steps = 0
                partitions[key, LOW] = row + shift
            if not has_room(symbols, nodes, found, chosen, header, symbol, steps):
                status = TOO_SMALL
                break
            steps += 1
            before = header[FOUND]
            made = header[NODES]
            active = step(symbols, transitions, settings, nodes, found, header, roots, spine, key, symbol, row + shift, now, active)
            if settings[NONOVERLAPPING]:
                for node in range(made, header[NODES]):
                    best[node, BEST] = UNDECIDED
            if settings[NONOVERLAPPING] and header[FOUND] > before:
                header[CHOSEN] += choose(nodes, found, before, header[FOUND], best, chosen, header[CHOSEN], now - settings[SPAN])
                header[FOUND] = before + 1
                header[MATCHES] += 1
                active = 0
            row += 1
        if row > begin[i]:
            partitions[key, CLOCK] = times[row - 1] if settings[BY_TIME] else row - 1 + shift
            partitions[key, POSITION] = positions[row - 1]
            partitions[key, EPOCH] = times[row - 1] if settings[FRESH] else 0
        if status == DONE and active:
            active = drop_hopeless(settings, nodes, header, roots, key, active, row + shift)
        if status == DONE and active:
            partitions[key, LOW] = window_start(settings, times, partitions[key, LOW], row + shift, shift, partitions[key, CLOCK])
        partitions[key, ACTIVE] = active
        partitions[key, STEPS] = steps
        if status != DONE:
            header[AT_ROW] = row
            return status
    header[AT_KEY] = len(keys)
    return DONE
