"""Gaps of matches, and whether negated events lie in them.

For negated events that are known by their rows alone, every row carries the ordinal at which the latest occurrence that ends there
or before begins: a gap holds an occurrence if that of its last row begins inside the gap. So a match costs a look at one row, however
long its gap is, and a row is looked at once, however many matches there are."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing
from ostinato.kernels.negation.window_ends import first_not_before

# How the events of a negated sequence follow one another
SKIPPING = 0
IN_PARTITION = 1
IN_STREAM = 2

# Behind the two cells per item, what a key carries from its last row on; see `trace`
LAST_TIME = 0
LAST_POSITION = 1
LATEST = 2
FURTHER_CELLS = 3

# Where a gap lies
INSIDE = 0
BEFORE = 1
BEHIND = 2


def carried_cells(items: int) -> int:
    return 2 * items + FURTHER_CELLS


@borrowing(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, boolean,"
    "int64[:,::1], int64, int64[::1])"
)
def trace(keys, begin, end, ordinal, bits, times, positions, masks, following, epoch, carried, at, out):
    """Go on over the rows [begin[i], end[i]) of each of `keys`, the first of which has `ordinal[i]`. In `carried`, from cell `at` on:
    per item where the latest beginning of the sequence that reaches it starts (for contiguous events: one that ends with the last
    row), the same before the rows of the last time, then the cells named above. -1 is none."""
    items = len(masks)
    rest = at + 2 * items
    for i in range(len(keys)):
        key = keys[i]
        for row in range(begin[i], end[i]):
            time = times[row] if epoch else 0
            if following == SKIPPING:
                if epoch and time != carried[key, rest + LAST_TIME]:
                    for j in range(items):
                        carried[key, at + items + j] = carried[key, at + j]
                earlier = at + items if epoch else at
                for j in range(items - 1, 0, -1):
                    if bits[row] & masks[j] == masks[j] and carried[key, earlier + j - 1] > carried[key, at + j]:
                        carried[key, at + j] = carried[key, earlier + j - 1]
            else:
                follows = not (epoch and time == carried[key, rest + LAST_TIME])
                if following == IN_STREAM and positions[row] != carried[key, rest + LAST_POSITION] + 1:
                    follows = False
                for j in range(items - 1, 0, -1):
                    carried[key, at + j] = carried[key, at + j - 1] if follows and bits[row] & masks[j] == masks[j] else -1
                carried[key, at] = -1
            if bits[row] & masks[0] == masks[0]:
                carried[key, at] = ordinal[i] + row - begin[i]
            carried[key, rest + LAST_TIME] = time
            if following == IN_STREAM:
                carried[key, rest + LAST_POSITION] = positions[row]
            if carried[key, at + items - 1] > carried[key, rest + LATEST]:
                carried[key, rest + LATEST] = carried[key, at + items - 1]
            out[row] = carried[key, rest + LATEST]


@borrowing(
    "void(int64[::1], int64[::1], int64[::1], uint8[::1], int64, int64, boolean, int64[::1], int64[::1], int64[::1],"
    "int64[::1], int64[::1], int64[::1])"
)
def gaps(keys, offsets, ordinals, variables, before, within, by_events, offset, base, times, low, high, place):
    """The gap behind the rows of variables below `before`, strictly between two ordinals. Before a match it goes as far back as the
    window from its last row does; how far it goes behind a match is not known here."""
    for m in range(len(keys)):
        first, end = offsets[m], offsets[m + 1]
        split = first
        while split < end and variables[split] < before:
            split += 1
        if split == end:
            place[m] = BEHIND
            low[m] = ordinals[end - 1]
            high[m] = low[m] + 1
        elif split > first:
            place[m] = INSIDE
            low[m] = ordinals[split - 1]
            high[m] = ordinals[split]
        else:
            place[m] = BEFORE
            high[m] = ordinals[first]
            if by_events:
                low[m] = max(base[keys[m]] - 1, ordinals[end - 1] - within)
            else:
                to_arena = offset[keys[m]] - base[keys[m]]
                back_to = times[ordinals[end - 1] + to_arena] - within
                low[m] = first_not_before(times, offset[keys[m]], high[m] + to_arena, back_to) - to_arena - 1


@borrowing("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], boolean[::1])")
def holds_occurrence(keys, low, high, offset, base, latest, out):
    """Whether an occurrence lies strictly between two ordinals; rows that are no longer kept are outside of every gap."""
    for m in range(len(keys)):
        last = high[m] - 1
        inside = last > low[m] and last >= base[keys[m]]
        out[m] = inside and latest[offset[keys[m]] + last - base[keys[m]]] > low[m]


@borrowing("void(int64[::1], int64[::1], int64, int64, boolean, int64[::1], int64[::1], int64[::1], int64[::1])")
def look_back(keys, ready, watermark, within, by_events, offset, base, times, out):
    """The first row of each key that a gap before a match still to come may hold."""
    for i in range(len(keys)):
        key = keys[i]
        if by_events:
            out[i] = ready[i] - within + 1
            continue
        to_arena = offset[key] - base[key]
        end = ready[i] + to_arena
        out[i] = ready[i]
        if end > offset[key]:
            now = max(times[end - 1], watermark)
            out[i] = first_not_before(times, offset[key], end, now - within) - to_arena


# States of a match that is not reported yet
WAITS = 0  # for rows behind it
SURVIVES = 1  # nothing negated was found
CHOSEN = 2
OUT = 3


@borrowing("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], boolean[::1])")
def choose_apart(keys, start, last, state, ended, blocked):
    """Of the matches of a key, which come in order of completion, those that start behind the end of the one chosen before. One that
    waits holds up the decision about all behind it. `blocked` is all false."""
    for m in range(len(keys)):
        key = keys[m]
        if state[m] >= CHOSEN:
            continue
        if start[m] <= ended[key]:
            state[m] = OUT
        elif blocked[key] or state[m] == WAITS:
            blocked[key] = True
        else:
            state[m] = CHOSEN
            ended[key] = last[m]


@borrowing("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def choose_first(keys, start, order, state):
    """Of the matches of a key with the same start the first that stands, in the order of completion, unless one before it waits. They come
    grouped, in `order`."""
    decided = blocked = False
    for at in range(len(order)):
        m = order[at]
        before = order[at - 1]
        if at == 0 or keys[m] != keys[before] or start[m] != start[before]:
            decided = blocked = False
        if state[m] == CHOSEN:
            decided = True
        elif decided or state[m] == OUT:
            state[m] = OUT
        elif blocked or state[m] == WAITS:
            blocked = True
        else:
            state[m] = CHOSEN
            decided = True
