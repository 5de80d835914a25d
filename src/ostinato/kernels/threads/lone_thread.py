"""Attempts that one thread follows from their start to their end.

As long as a row leaves one thread, there is nothing to put in order, to compare or to copy: its state, its path and its row are a few
numbers, and one attempt follows the other without a table. Whatever is more than that (a second thread, a match that may end at the
end of the partition only, a failure, want of room) is left to `scan_threads`, which goes on with the thread before the row in question."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.places import place
from ostinato.kernels.scalar.scalar import NOT_TRUE, STORE, TRUE, evaluate_inlined, load
from ostinato.kernels.scan.scan_dfa import ACCEPTS, ACCEPTS_AT_END, BY_EVENTS, WITHIN, window_closed
from ostinato.kernels.search.search_bounds import row_value
from ostinato.kernels.search.search_index import counted_as
from ostinato.kernels.threads.thread_jumps import (
    ASKED,
    ASKED_HIGH,
    ASKED_LOW,
    LONGEST_PAUSE,
    ask,
    end_of_window,
    next_matter_of,
)
from ostinato.kernels.threads.thread_layout import (
    ACCEPTING,
    AT,
    COUNT,
    DONE,
    END,
    END_NODE,
    HALF,
    LAST_ALONE,
    LEFT_ALONE,
    MATCHES,
    NO_NODE,
    NODES,
    REPEATS,
    SKIPS_NOWHERE,
    SKIPS_TO_START,
    START,
    STEPS,
    THREAD_WORK,
    WAITS,
    WAY_ACCEPTS,
    WAY_COPIES,
    WAY_END,
    WAY_EXACT,
    WAY_FAILS,
    WAY_KIND,
    WAY_MASK,
    WAY_OPEN,
    WAY_PLAIN,
    WAY_READS,
    WAY_START,
    WAY_TARGET,
    WAY_VALUE_AT,
    WAY_VALUE_END,
    WAY_VALUE_START,
    WAY_VALUED,
    WAY_VARIABLE,
    WORK,
    WORK_LIMIT,
)
from ostinato.kernels.threads.thread_matches import advanced, report
from ostinato.kernels.threads.thread_starts import begin_attempt

TOO_MUCH = -2  # a state: more than one thread can follow
NONE = -1
UNTOLD = 2

LONGEST_REST = 16  # attempts between two calls that decide nothing


@inlined
def told_by_value(m, row, ways, learned, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid):
    """Whether a row with the right bits allows a transition of which the interval says everything: TRUE, NOT_TRUE, or UNTOLD."""
    if ways[m, WAY_EXACT] == 0:
        return UNTOLD
    if ways[m, WAY_VALUED] == 0:
        return TRUE
    if learned[m, ASKED] == 0:
        return UNTOLD
    word, flag = row_value(
        ways[m, WAY_VALUE_START], ways[m, WAY_VALUE_END], ways[m, WAY_VALUE_AT], code, scratch, scratch_valid, ranks, slots, slot_valid,
        row, registers, register_valid,
    )  # fmt: skip
    low, high = counted_as(True, word, flag, ways[m, WAY_KIND], ways[m, WAY_FAILS] != 0)
    if low < high:
        return UNTOLD
    return TRUE if low == high and learned[m, ASKED_LOW] <= low <= learned[m, ASKED_HIGH] else NOT_TRUE


@inlined
def only_way(
    row, line, other, state, asked, first, ways, learned, bits, slots, slot_valid, code, scratch, scratch_valid, ranks, registers,
    register_valid,
):  # fmt: skip
    """Where the row leads a thread with registers `line`: its next state (NONE, or TOO_MUCH), the variable of that transition, whether its
    registers are now in `other`, and the variable of a transition that accepts, or NONE. `asked`: the transitions' intervals are known."""
    to, by, moved, ends = np.int64(NONE), np.int64(NONE), False, np.int64(NONE)
    has = np.int64(bits[place(row)])
    for number in range(first[place(state)], first[place(state + 1)]):
        m = place(number)
        variable, target, mask = ways[m, WAY_VARIABLE], ways[m, WAY_TARGET], ways[m, WAY_MASK]
        if variable < 0 or has & mask != mask or (target == to and ways[m, WAY_READS] == 0):
            continue
        stays, accepts = ways[m, WAY_OPEN] != 0, ways[m, WAY_ACCEPTS] != 0
        writes = stays and to == NONE and ways[m, WAY_COPIES] != 0
        outcome = UNTOLD
        if asked and not writes:
            outcome = told_by_value(
                m, row, ways, learned, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid
            )
        if outcome == UNTOLD and ways[m, WAY_PLAIN] == 0:
            outcome = evaluate_inlined(
                code, ways[m, WAY_START], ways[m, WAY_END], scratch, scratch_valid, ranks, slots, slot_valid, row, registers,
                register_valid, line, other if writes else len(registers) - 1,  # a line that no thread has
            )  # fmt: skip
            if outcome < 0:
                return np.int64(TOO_MUCH), by, moved, ends
        elif writes:
            store(
                line, other, ways[m, WAY_START], ways[m, WAY_END], row, slots, slot_valid, code, scratch, scratch_valid, registers,
                register_valid,
            )  # fmt: skip
        if outcome == NOT_TRUE:
            continue
        if (stays and to != NONE) or not (stays or accepts):
            return np.int64(TOO_MUCH), by, moved, ends
        if stays:
            to, by, moved = target, variable, writes
        if accepts:
            ends = variable
            break
    return to, by, moved, ends


@inlined
def store(line, other, begin, behind, row, slots, slot_valid, code, scratch, scratch_valid, registers, register_valid):
    """Let a plain block make the registers `other` of those of `line`."""
    old, new = place(line), place(other)
    for r in range(registers.shape[1]):
        registers[new, place(r)], register_valid[new, place(r)] = registers[old, place(r)], register_valid[old, place(r)]
    for number in range(begin, behind):
        at = place(number)
        if code[at, 0] == STORE:
            value, flag = load(code[at, 1], scratch, scratch_valid, slots, slot_valid, row, registers, register_valid, line)
            registers[new, place(code[at, 3])], register_valid[new, place(code[at, 3])] = value, flag


@inlined
def loop_of(state, first, ways):
    """The variable of the transition from a state to itself."""
    variable = np.int64(NONE)
    for m in range(first[state], first[state + 1]):
        if ways[place(m), WAY_VARIABLE] >= 0 and ways[place(m), WAY_TARGET] == state:
            variable = ways[place(m), WAY_VARIABLE]
    return variable


@inlined
def outside(start, at, shift, times, setting):
    """Whether the row lies behind the window of an attempt."""
    if setting[WITHIN] < 0:
        return False
    if setting[BY_EVENTS] != 0:
        return at - start >= setting[WITHIN]
    passed = times[at + shift] - times[start + shift]
    return passed > setting[WITHIN] or passed < 0


@borrowing
def lone_attempts(
    k, limit, shift, behind, bits, times, slots, slot_valid, setting, skip, skip_members, first, masks, initials, ways, marks, fresh,
    bounds, learned, columns, regions, lows, highs, links, ordered, tries, code, scratch, scratch_valid, ranks, threads,
    registers, register_valid, nodes, cursor, out, runs, control,
):  # fmt: skip
    """Attempts of partition k from cursor[k, START] on, up to the first that one thread does not decide; that one is left where it stands.
    Returns DONE, or why the search cannot go on behind a match."""
    room, base, decisions = len(threads) // 2, control[NODES], 0
    start, at, end, end_node = cursor[k, START], cursor[k, START], np.int64(-1), np.int64(NO_NODE)
    reached, status = np.int64(0), DONE
    while start < limit:
        start = begin_attempt(
            start, cursor[k, MATCHES] + 1, first, ways, marks, initials, bits, shift, limit, threads, registers, register_valid, fresh,
            control,
        )  # fmt: skip
        at, end, end_node = start, np.int64(-1), np.int64(NO_NODE)
        state, line, path, node = threads[0, 0], np.int64(0), np.int64(NO_NODE), base
        if start >= limit or marks[state, ACCEPTING] == ACCEPTS:
            break
        decided, asked, window_end, pause, rest = False, False, np.int64(-1), 0, 0
        last, last_node = np.int64(-1), np.int64(NO_NODE)
        while not decided:
            last, last_node = end, end_node
            if at >= limit:
                decided = (at < behind or marks[state, ACCEPTING] != ACCEPTS_AT_END) and window_closed(
                    start, limit, behind, shift, times, setting
                )
                break
            if outside(start, at, shift, times, setting):
                decided = True
                break
            if node + 3 > len(nodes) or control[WORK] + THREAD_WORK > control[WORK_LIMIT]:
                break
            rest -= 1
            if rest < 0 and marks[state, WAITS] != 0:
                if not asked:
                    asked = True
                    ask(
                        line, state, at + shift, first, ways, bounds, learned, code, scratch, scratch_valid, ranks, slots,
                        slot_valid, registers, register_valid,
                    )  # fmt: skip
                if window_end < 0:
                    window_end = reached = end_of_window(start, max(at, reached), limit, shift, times, setting)
                found = next_matter_of(
                    state, window_end, k, start, at, limit, shift, first, ways, learned, columns, regions, lows, highs, links,
                    ordered, tries, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, registers, register_valid, control,
                )  # fmt: skip
                if found < 0:
                    break
                pause = min(2 * pause + 1, LONGEST_PAUSE) if found == at else 0
                rest = pause
                if found > at:
                    nodes[node, 0], nodes[node, 1] = path, loop_of(state, first, ways) | (found - at - 1) << REPEATS
                    at, path, node = found, node, node + 1
                    if at == window_end:
                        continue
            to, by, moved, ends = only_way(
                at + shift, line, room - line, state, asked, first, ways, learned, bits, slots, slot_valid, code, scratch, scratch_valid,
                ranks, registers, register_valid,
            )  # fmt: skip
            if to == TOO_MUCH:
                break
            control[WORK] += THREAD_WORK
            control[STEPS] += 1
            if ends != NONE:
                nodes[node, 0], nodes[node, 1] = path, ends
                last, last_node, node = at + 1, node, node + 1
            if to == NONE:
                decided = True  # the thread is still there, before the row: whoever has no room for the match can read it again
            else:
                nodes[node, 0], nodes[node, 1] = path, by
                asked = asked and to == state and not moved
                state, line, path, node, at = to, (room - line if moved else line), node, node + 1, at + 1
                end, end_node = last, last_node
        if not decided or (last >= 0 and not report(k, start, last, last_node, nodes, out, runs, control)):
            control[NODES], control[HALF], control[COUNT] = node, (0 if line == 0 else 1), 1
            threads[line, 0], threads[line, 1] = state, path
            break
        decisions += 1
        step_by = advanced(start, last, out, runs, skip, skip_members, setting, control)
        if step_by <= 0:
            status = SKIPS_NOWHERE if step_by < 0 else SKIPS_TO_START
            break
        cursor[k, MATCHES] += 1 if last >= 0 else 0
        at = start = start + step_by
        end, end_node = np.int64(-1), np.int64(NO_NODE)
    control[LAST_ALONE] = 0 if decisions > 0 else min(2 * control[LAST_ALONE] + 2, LONGEST_REST)
    control[LEFT_ALONE] = control[LAST_ALONE]
    cursor[k, START], cursor[k, AT], cursor[k, END], cursor[k, END_NODE] = start, at, end, end_node
    return status
