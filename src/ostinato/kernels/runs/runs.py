"""Run-based selection: every event offers the runs of its key that it can affect the transitions take, begin and ignore."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined, jit
from ostinato.kernels.output.match_nodes import comes_before
from ostinato.kernels.runs.run_index import gather, gather_all, take_place
from ostinato.kernels.runs.run_layout import (
    ALWAYS,
    COUNT,
    EPOCH,
    FANOUT,
    FINAL,
    HAS_WATERMARK,
    LATEST,
    MERGEABLE,
    NONOVERLAPPING,
    OUTPUT,
    REPEATS,
    RUN_LIMIT,
    SELECTION,
    SKIP_TO_ANY,
    SKIP_TO_NEXT,
    STATE_MASK,
    STEP_LIMIT,
    STRICT,
    TIMED,
    TIMEOUTS,
    UNITES,
    WATERMARK,
    WITHIN,
    WITHIN_EVENTS,
)
from ostinato.kernels.runs.run_merging import KEPT_SELF, equivalent_cell, equivalent_of, join_equivalents, merge
from ostinato.kernels.runs.run_nodes import ANY_START, LAST_NODE, LOWEST, OF_KEY
from ostinato.kernels.runs.run_table import (
    ALIVE,
    AT_KEY,
    AT_ROW,
    BORN,
    ELEMENT,
    EMPTY,
    EQUIVALENT_CELL,
    ERROR,
    EXPIRED,
    FIRST_ORDINAL,
    FIRST_RUN,
    FIRST_TIME,
    FOUND,
    KEEP,
    KEY,
    LAST_POSITION,
    LAST_TIME,
    LATER,
    LIMIT,
    LIVE,
    MERGED,
    NODE,
    NODES,
    NOTHING,
    NOWHERE,
    OLDEST,
    PEAK,
    PLACE,
    RESERVED,
    VISITED,
    WAS_MATCH,
    release,
    steps_made,
)
from ostinato.kernels.runs.run_transitions import BEGAN_NEXT, REPLACED, TOOK, lowest_start, select

# What `advance` returns
DONE = 0
TOO_SMALL = 1
OVER_LIMIT = 2
FAILED = 3
OVER_STEPS = 4


@inlined
def offered(states, settings, runs, run, bits, time, position):
    """Whether the event may be selected by the run at all, before any transition is tried."""
    if settings[SELECTION] == STRICT and position != runs[run, LAST_POSITION] + 1:
        return False
    if settings[EPOCH] and time == runs[run, LAST_TIME]:
        return False
    return states[runs[run, ELEMENT], ALWAYS] != 0 or bits & states[runs[run, ELEMENT], STATE_MASK] != 0


@inlined
def stays(states, settings, state, happened):
    """Whether the run (or the child in its place) is followed further."""
    if happened & REPLACED or settings[SELECTION] == SKIP_TO_ANY:
        return True
    if settings[SELECTION] != SKIP_TO_NEXT:
        return False
    return not happened & (TOOK if states[state, REPEATS] else BEGAN_NEXT)


@inlined
def any_expired(settings, runs, per_key, key, ordinal, time):
    """Whether an event of that time and ordinal is beyond the window of the first run of the key, by start."""
    run = per_key[key, FIRST_RUN]
    if run == NOTHING or settings[WITHIN] < 0:
        return False
    if settings[WITHIN_EVENTS]:
        return ordinal - runs[run, FIRST_ORDINAL] >= settings[WITHIN]
    return time - runs[run, FIRST_TIME] > settings[WITHIN]


@inlined
def expire(settings, runs, found, header, per_key, cells, order, equivalents, run):
    """The window of a run is over. Where timeouts are asked for, it is one unless it is a match."""
    if settings[OUTPUT] == TIMEOUTS and runs[run, WAS_MATCH] == 0:
        found[header[FOUND], LAST_NODE] = runs[run, NODE]
        found[header[FOUND], OF_KEY] = runs[run, KEY]
        found[header[FOUND], LOWEST] = ANY_START
        header[FOUND] += 1
    release(runs, header, per_key, cells, order, equivalents, run)
    header[EXPIRED] += 1


@borrowing
def drop_expired(settings, runs, found, header, per_key, cells, order, equivalents, key, ordinal, time):
    while any_expired(settings, runs, per_key, key, ordinal, time):
        expire(settings, runs, found, header, per_key, cells, order, equivalents, per_key[key, FIRST_RUN])


@borrowing
def settle(runs, nodes, found, header, per_key, cells, order, equivalents, key, before):
    """Nonoverlapping: of the matches found at this event the preferred one stays, and all runs of the key go."""
    best = found[before, LAST_NODE]
    for i in range(before + 1, header[FOUND]):
        if comes_before(nodes, found[i, LAST_NODE], best):
            best = found[i, LAST_NODE]
    found[before, LAST_NODE] = best
    header[FOUND] = before + 1
    while per_key[key, FIRST_RUN] != NOTHING:
        release(runs, header, per_key, cells, order, equivalents, per_key[key, FIRST_RUN])


@borrowing
def unite(states, watched, settings, runs, registers, register_valid, nodes, header, per_key, cells, order, equivalents, run):
    """Let an equivalent of the run stand for it, or it for the equivalent. Says which is kept, or an error below 0."""
    kept = KEPT_SELF
    cell = equivalent_cell(states, watched, settings, runs, registers, register_valid, equivalents, run)
    equivalent = equivalent_of(states, watched, settings, runs, registers, register_valid, equivalents, cell, run)
    if equivalent != NOTHING:
        kept = merge(settings, runs, nodes, header, run, equivalent)
        if kept >= 0:
            header[MERGED] += 1
            release(runs, header, per_key, cells, order, equivalents, equivalent if kept == KEPT_SELF else run)
    if kept == KEPT_SELF:
        join_equivalents(runs, equivalents, cell, run)
    return kept


@borrowing
def drop_hopeless(settings, runs, found, header, per_key, cells, order, equivalents, key, next_ordinal):
    """Release runs that no later event can join: the window is over, by count, by the watermark, or because the input is; or the stream
    has gone on elsewhere where every event counts."""
    if settings[WITHIN_EVENTS] or settings[HAS_WATERMARK]:
        drop_expired(settings, runs, found, header, per_key, cells, order, equivalents, key, next_ordinal, settings[WATERMARK])
    if settings[FINAL] != 0 or settings[SELECTION] == STRICT:
        run = per_key[key, FIRST_RUN]
        while run != NOTHING:
            following = runs[run, LATER]
            if settings[FINAL] != 0 or runs[run, LAST_POSITION] < settings[LATEST]:
                expire(settings, runs, found, header, per_key, cells, order, equivalents, run)
            run = following


@inlined
def note_limit(settings, per_key, times, key, begin, row, ordinal, is_through):
    """Starts that no later event can be in a match with. The watermark is about rows that have not come yet: it says nothing as long as
    rows are left to go through."""
    latest = times[row - 1] if settings[TIMED] and row > begin else ANY_START
    if settings[HAS_WATERMARK] and is_through:
        latest = max(latest, settings[WATERMARK])
    per_key[key, LIMIT] = max(per_key[key, LIMIT], lowest_start(settings, ordinal + row - begin, latest))


@borrowing
def remember(settings, runs, per_key, times, key, begin, ordinal, next_ordinal):
    """From where on rows of the key are kept. A run that stands for several starts may have lost the earliest of them: then it is the
    window that decides, unless there are so few runs that looking at all of them is paid for by the rows."""
    if per_key[key, ALIVE] == 0 or settings[OUTPUT] == COUNT:  # what is counted has no rows
        per_key[key, KEEP] = next_ordinal
        return
    if not settings[UNITES] or settings[WITHIN] < 0:
        per_key[key, KEEP] = runs[per_key[key, FIRST_RUN], FIRST_ORDINAL]
        return
    if settings[WITHIN_EVENTS]:
        per_key[key, KEEP] = max(per_key[key, KEEP], per_key[key, LIMIT])
    else:
        while per_key[key, KEEP] < next_ordinal and times[begin + per_key[key, KEEP] - ordinal] < per_key[key, LIMIT]:
            per_key[key, KEEP] += 1
    if per_key[key, ALIVE] <= next_ordinal - ordinal:
        oldest = next_ordinal
        run = per_key[key, FIRST_RUN]
        while run != NOTHING:
            oldest = min(oldest, runs[run, OLDEST])
            run = runs[run, LATER]
        per_key[key, KEEP] = max(per_key[key, KEEP], oldest)


@inlined
def has_room(settings, header, most, runs, nodes, found):
    """Whether arrays of these lengths hold whatever one event can bring forth: children of runs, and a union for each child."""
    if header[LIVE] + most > runs - RESERVED:
        return False
    return settings[OUTPUT] == COUNT or (header[NODES] + 2 * most <= nodes and header[FOUND] + most <= found)


_SIGNATURE = (
    "int64(int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[:,::1], int64[::1], int64[:,::1], int64[::1], uint8[::1],"
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[:,::1], uint8[:,::1],"
    "int64[:,::1], int64[:,::1], uint8[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[:,::1], int64[::1], int64[:,::1], int64[::1],"
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)


@borrowing(_SIGNATURE)
def advance(
    transitions, states, passes, watched, bounds, settings, code, scratch, scratch_valid, ranks, bits, times, positions, slots, slot_valid,
    runs, registers, register_valid, nodes, found, header, per_key, cells, order, equivalents, born, live, keys, begin, end, ordinal,
):  # fmt: skip
    """Go on over the rows [begin[i], end[i]) of each of `keys`, the first of which has `ordinal[i]`. Anything but DONE leaves in the
    header where to go on when called again."""
    start = states.shape[0] - 1
    for i in range(header[AT_KEY], len(keys)):
        key = keys[i]
        row = max(begin[i], header[AT_ROW])
        header[AT_KEY] = i
        header[AT_ROW] = NOTHING
        status = DONE
        while row < end[i]:
            starts = states[start, ALWAYS] != 0 or bits[row] & states[start, STATE_MASK] != 0
            if per_key[key, ALIVE] == 0 and not starts:
                row += 1
                continue
            if header[LIVE] > settings[RUN_LIMIT]:
                status = OVER_LIMIT
                break
            if steps_made(header) > settings[STEP_LIMIT]:
                status = OVER_STEPS
                break
            most = (per_key[key, ALIVE] + 1) * settings[FANOUT]
            if not has_room(settings, header, most, len(runs), len(nodes), len(found)):
                status = TOO_SMALL
                break
            at = ordinal[i] + row - begin[i]
            time = times[row] if settings[TIMED] else 0
            if any_expired(settings, runs, per_key, key, at, time):
                drop_expired(settings, runs, found, header, per_key, cells, order, equivalents, key, at, time)
            if settings[SELECTION] < SKIP_TO_NEXT:
                count = gather_all(runs, per_key, key, live)
            else:
                count = gather(
                    transitions, states, code, scratch, scratch_valid, ranks, runs, registers, register_valid, header, per_key, cells,
                    order, slots, slot_valid, key, row, bits[row], live,
                )  # fmt: skip
            header[VISITED] += count
            before = header[FOUND]
            header[BORN] = 0
            live[count] = EMPTY  # every event may start a match
            for r in range(count + starts):
                run = live[r]
                state = start if run == EMPTY else runs[run, ELEMENT]
                happened = 0
                if run == EMPTY or offered(states, settings, runs, run, bits[row], time, positions[row]):
                    happened = select(
                        transitions, states, passes, settings, code, scratch, scratch_valid, ranks, slots, slot_valid, runs, registers,
                        register_valid, nodes, found, header, per_key, cells, order, equivalents, born, key, row, at, bits[row], time,
                        positions[row], run, state,
                    )  # fmt: skip
                    if happened < 0:
                        header[ERROR] = happened
                        return FAILED
                if run != EMPTY and not stays(states, settings, state, happened):
                    release(runs, header, per_key, cells, order, equivalents, run)
            if settings[OUTPUT] == NONOVERLAPPING and header[FOUND] > before:
                settle(runs, nodes, found, header, per_key, cells, order, equivalents, key, before)
                header[BORN] = 0
            for b in range(header[BORN]):
                kept = KEPT_SELF
                if states[runs[born[b], ELEMENT], MERGEABLE] != 0:
                    kept = unite(
                        states,
                        watched,
                        settings,
                        runs,
                        registers,
                        register_valid,
                        nodes,
                        header,
                        per_key,
                        cells,
                        order,
                        equivalents,
                        born[b],
                    )
                if kept == KEPT_SELF:
                    take_place(
                        states, bounds, code, scratch, scratch_valid, ranks, slots, slot_valid, runs, registers, register_valid, per_key,
                        cells, order, born[b],
                    )  # fmt: skip
                elif kept < 0:
                    header[ERROR] = kept
            if header[ERROR] != 0:
                return FAILED
            header[PEAK] = max(header[PEAK], header[LIVE])
            row += 1
        if settings[OUTPUT] == TIMEOUTS and status == DONE and header[FOUND] + per_key[key, ALIVE] > len(found):
            status = TOO_SMALL  # the end may be that of all windows
        note_limit(settings, per_key, times, key, begin[i], row, ordinal[i], status == DONE)
        if status != DONE:
            header[AT_ROW] = row
            return status
        drop_hopeless(settings, runs, found, header, per_key, cells, order, equivalents, key, ordinal[i] + end[i] - begin[i])
        remember(settings, runs, per_key, times, key, begin[i], ordinal[i], ordinal[i] + end[i] - begin[i])
    header[AT_KEY] = len(keys)
    return DONE


@jit(
    "void(int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[:,::1], int64[::1], uint8[::1], int64[::1], int64[:,::1], uint8[:,::1],"
    "int64[:,::1], int64[:,::1], uint8[:,::1], int64, int64[:,::1], int64[::1], int64[:,::1], int64[::1])"
)
def rebuild(
    states, bounds, watched, settings, code, scratch, scratch_valid, ranks, slots, slot_valid, runs, registers, register_valid, used,
    per_key, cells, order, equivalents,
):  # fmt: skip
    """Find all runs their places again: the tables have another size, keys other numbers, or the state was loaded."""
    for run in range(RESERVED, used):
        if runs[run, ELEMENT] != NOTHING:
            runs[run, PLACE] = NOWHERE
            runs[run, EQUIVALENT_CELL] = NOTHING
            take_place(
                states, bounds, code, scratch, scratch_valid, ranks, slots, slot_valid, runs, registers, register_valid, per_key, cells,
                order, run,
            )  # fmt: skip
            if states[runs[run, ELEMENT], MERGEABLE] != 0:
                join_equivalents(
                    runs, equivalents, equivalent_cell(states, watched, settings, runs, registers, register_valid, equivalents, run), run
                )
