"""Run-based selection: every event offers each run of its key the moves take, begin and ignore."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.run_matches import comes_before
from ostinato.kernels.run_moves import (
    ALWAYS,
    BEGAN_NEXT,
    COUNT,
    EPOCH,
    FANOUT,
    FINAL,
    HAS_HORIZON,
    HORIZON,
    LATEST,
    MERGES,
    NONOVERLAPPING,
    OUTPUT,
    REPEATS,
    REPLACED,
    RUN_LIMIT,
    SELECTION,
    SKIP_TO_ANY,
    SKIP_TO_NEXT,
    STATE_MASK,
    STRICT,
    TIMED,
    TOOK,
    WITHIN,
    WITHIN_EVENTS,
    select,
)
from ostinato.kernels.run_table import (
    AT_KEY,
    AT_ROW,
    BORN,
    COMPONENT,
    EMPTY,
    ERROR,
    EXPIRED,
    FIRST_ORDINAL,
    FIRST_TIME,
    FOUND,
    LAST_POSITION,
    LAST_TIME,
    LIVE,
    MATCHES,
    NODES,
    NOTHING,
    PEAK,
    RESERVED,
    collect_runs,
    link_runs,
    merge_runs,
    release,
)

# What `advance` returns
DONE = 0
TOO_SMALL = 1
OVER_LIMIT = 2
FAILED = 3


@inlined
def expired(settings, first_ordinal, first_time, ordinal, time):
    """Whether an event of that time and ordinal is beyond the window of a run with that start."""
    if settings[WITHIN] < 0:
        return False
    if settings[WITHIN_EVENTS]:
        return ordinal - first_ordinal >= settings[WITHIN]
    return time - first_time > settings[WITHIN]


@inlined
def offered(states, settings, runs, run, bits, time, position):
    """Whether the event may be selected by the run at all, before any move is tried."""
    if settings[SELECTION] == STRICT and position != runs[run, LAST_POSITION] + 1:
        return False
    if settings[EPOCH] and time == runs[run, LAST_TIME]:
        return False
    return states[runs[run, COMPONENT], ALWAYS] != 0 or bits & states[runs[run, COMPONENT], STATE_MASK] != 0


@inlined
def stays(states, settings, state, happened):
    """Whether the run (or the child in its place) is followed further."""
    if happened & REPLACED or settings[SELECTION] == SKIP_TO_ANY:
        return True
    if settings[SELECTION] != SKIP_TO_NEXT:
        return False
    return not happened & (TOOK if states[state, REPEATS] else BEGAN_NEXT)


@borrowing
def settle(runs, nodes, found, header, live, count, before):
    """Nonoverlapping: of the matches found at this event the preferred one stays, and all runs of the key go."""
    best = found[before, 0]
    for i in range(before + 1, header[FOUND]):
        if comes_before(nodes, found[i, 0], best):
            best = found[i, 0]
    header[MATCHES] -= header[FOUND] - before - 1
    found[before, 0] = best
    header[FOUND] = before + 1
    for i in range(count):
        release(runs, header, live[i])


@borrowing
def drop_hopeless(settings, runs, header, live, count, next_ordinal):
    """Release runs that no later event can join: the window is over, by count, by the horizon, or because the input is; or the stream
    has gone on elsewhere where every event counts."""
    kept = 0
    for i in range(count):
        run = live[i]
        over = settings[FINAL] != 0 or (settings[SELECTION] == STRICT and runs[run, LAST_POSITION] < settings[LATEST])
        if settings[WITHIN_EVENTS] or settings[HAS_HORIZON]:
            over = over or expired(settings, runs[run, FIRST_ORDINAL], runs[run, FIRST_TIME], next_ordinal, settings[HORIZON])
        if over:
            release(runs, header, run)
            header[EXPIRED] += 1
        else:
            live[kept] = run
            kept += 1
    return kept


@inlined
def has_room(settings, runs, nodes, found, header, count):
    """Whether the arrays hold whatever one event can bring forth."""
    most = (count + 1) * settings[FANOUT]
    if header[LIVE] + most > runs.shape[0] - RESERVED:
        return False
    return settings[OUTPUT] == COUNT or (header[NODES] + most <= nodes.shape[0] and header[FOUND] + most <= found.shape[0])


_SIGNATURE = (
    "int64(int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[:,::1], int64[::1], uint8[::1], int64[::1],"
    "int64[::1], int64[::1], int64[::1], int64[:,::1], uint8[:,::1],"
    "int64[:,::1], int64[:,::1], uint8[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)


@borrowing(_SIGNATURE)
def advance(
    moves, states, passes, settings, code, scratch, scratch_valid, ranks,
    bits, times, positions, slots, slot_valid,
    runs, registers, register_valid, nodes, found, header, born, live, spare,
    head, keys, begin, end, ordinal,
):  # fmt: skip
    """Go on over the rows [begin[i], end[i]) of each of `keys`, the first of which has `ordinal[i]`. Anything but DONE leaves in the
    header where to go on when called again."""
    start = states.shape[0] - 1
    for i in range(header[AT_KEY], len(keys)):
        row = max(begin[i], header[AT_ROW])
        header[AT_KEY] = i
        header[AT_ROW] = NOTHING
        count = collect_runs(runs, header, head, keys[i], live)
        status = DONE
        while row < end[i]:
            if count == 0 and not states[start, ALWAYS] and bits[row] & states[start, STATE_MASK] == 0:
                row += 1
                continue
            if header[LIVE] > settings[RUN_LIMIT]:
                status = OVER_LIMIT
                break
            if not has_room(settings, runs, nodes, found, header, count):
                status = TOO_SMALL
                break
            at = ordinal[i] + row - begin[i]
            time = times[row] if settings[TIMED] else 0
            before = header[FOUND]
            header[BORN] = 0
            kept = 0
            live[count] = EMPTY  # every event may start a match
            for r in range(count + 1):
                run = live[r]
                state = start if run == EMPTY else runs[run, COMPONENT]
                if run != EMPTY:
                    if expired(settings, runs[run, FIRST_ORDINAL], runs[run, FIRST_TIME], at, time):
                        release(runs, header, run)
                        header[EXPIRED] += 1
                        continue
                    if not offered(states, settings, runs, run, bits[row], time, positions[row]):
                        if settings[SELECTION] >= SKIP_TO_NEXT:
                            live[kept] = run
                            kept += 1
                        else:
                            release(runs, header, run)
                        continue
                happened = select(
                    moves, states, passes, settings, code, scratch, scratch_valid, ranks, slots, slot_valid,
                    runs, registers, register_valid, nodes, found, header, born,
                    keys[i], row, at, bits[row], time, positions[row], run, state,
                )  # fmt: skip
                if happened < 0:
                    header[ERROR] = happened
                    return FAILED
                if run == EMPTY:
                    break
                if stays(states, settings, state, happened):
                    live[kept] = run
                    kept += 1
                else:
                    release(runs, header, run)
            count = kept
            if settings[MERGES] and header[BORN] > 0:
                count = merge_runs(runs, header, live, kept, born, spare)
                if count < 0:
                    header[ERROR] = count
            else:
                for b in range(header[BORN]):
                    live[kept + b] = born[b]
                count += header[BORN]
            if header[ERROR] != 0:
                return FAILED
            header[PEAK] = max(header[PEAK], header[LIVE])
            if settings[OUTPUT] == NONOVERLAPPING and header[FOUND] > before:
                settle(runs, nodes, found, header, live, count, before)
                count = 0
            row += 1
        if status == DONE:
            count = drop_hopeless(settings, runs, header, live, count, ordinal[i] + end[i] - begin[i])
        link_runs(runs, head, keys[i], live, count)
        if status != DONE:
            header[AT_ROW] = row
            return status
    header[AT_KEY] = len(keys)
    return DONE
