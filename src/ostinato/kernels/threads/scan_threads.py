"""Preferred matches where predicates look at other rows of the match: ordered threads with registers.

A thread is a state of the automaton, the registers of its way there, and the last node of its path. The threads of an attempt stand
in order of preferment, cut behind the first that accepts; one that accepts at the end of a partition only does not cut. A thread
whose state and whose registers, as far as anything still reads them, equal those of a preferred one has the same future and is
dropped. A step reads one half of the thread arrays and writes the other, so that a step that ran out of room can be taken again.
Where all threads only wait for a row of some value, the rows before it are passed without a step (`thread_jumps`). Attempts that one
thread decides are not begun here (`lone_thread`)."""

from __future__ import annotations

import numpy as np

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.scalar.scalar import NOT_TRUE, STORE, TRUE, evaluate_inlined, load
from ostinato.kernels.scan.scan_dfa import ACCEPTS, ACCEPTS_AT_END, BY_EVENTS, FINAL, WITHIN, window_closed
from ostinato.kernels.threads.lone_thread import lone_attempts
from ostinato.kernels.threads.thread_jumps import LEARNED_TO, LONGEST_PAUSE, all_wait, end_of_window, jump
from ostinato.kernels.threads.thread_layout import (
    ACCEPTED,
    ACCEPTING,
    AT,
    BLOCK_END,
    BLOCK_START,
    COPIES,
    COUNT,
    DONE,
    END,
    END_NODE,
    ERROR,
    FAILED,
    HALF,
    KEY,
    LATEST,
    LEFT_ALONE,
    MATCHES,
    MATCHES_FULL,
    NEXT_COUNT,
    NO_NODE,
    NODE_BASE,
    NODES,
    NODES_FULL,
    NOT_ACCEPTED,
    OPEN,
    OVER_STEPS,
    PLAIN,
    REACHED,
    READS,
    SAVED_FULL,
    SKIPS_NOWHERE,
    SKIPS_TO_START,
    STAMP,
    START,
    STEPS,
    THREAD_WORK,
    THREADS_FULL,
    WORK,
    WORK_LIMIT,
)
from ostinato.kernels.threads.thread_matches import advanced, report
from ostinato.kernels.threads.thread_saving import load_threads, save_threads
from ostinato.kernels.threads.thread_starts import begin_attempt


@borrowing
def same_future(at, half_start, state, marks, chain, live, registers, register_valid, control):
    """Whether a preferred thread in the same state agrees with thread `at` in everything that is still read."""
    other = marks[state, LATEST]
    while other >= 0:
        i = half_start + other
        same = True
        for r in range(live.shape[1]):
            if live[state, r]:
                valid = register_valid[i, r]
                if valid != register_valid[at, r] or (valid and registers[i, r] != registers[at, r]):
                    same = False
                    break
        if same:
            return True
        other = chain[other]
        control[WORK] += 1
    return False


@inlined
def step(
    row, bits, slots, slot_valid, first, transitions, masks, tests, marks, live, code, scratch, scratch_valid, ranks,
    threads, chain, registers, register_valid, nodes, control,
):  # fmt: skip
    """Let every thread read the row. The new threads are in the other half, control[NEXT_COUNT] many; control[ACCEPTED] is the path
    of the accepting one. On lack of room nothing has changed."""
    room = len(threads) // 2
    source = control[HALF] * room
    target = room - source
    count, node = np.int64(0), control[NODES]
    control[STAMP] += 1
    control[ACCEPTED] = NOT_ACCEPTED
    for i in range(source, source + control[COUNT]):
        control[WORK] += THREAD_WORK
        if control[WORK] > control[WORK_LIMIT]:
            return OVER_STEPS
        state = threads[i, 0]
        for m in range(first[state], first[state + 1]):
            variable = transitions[m, 0]
            if variable < 0 or bits[row] & masks[variable] != masks[variable]:
                continue
            to = np.int64(transitions[m, 1])
            reached = marks[to, REACHED] == control[STAMP]
            if reached and not marks[to, READS]:
                continue
            if count == room:
                return THREADS_FULL
            if node == len(nodes):
                return NODES_FULL
            at = target + count
            begin, behind, plain = tests[variable, BLOCK_START], tests[variable, BLOCK_END], tests[variable, PLAIN]
            outcome = TRUE
            if not plain:
                outcome = evaluate_inlined(
                    code, begin, behind, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, i, at
                )
            if outcome == NOT_TRUE:
                continue
            if outcome < 0:
                control[ERROR] = outcome
                return FAILED
            if plain or not tests[variable, COPIES]:
                for r in range(registers.shape[1]):
                    registers[at, r] = registers[i, r]
                    register_valid[at, r] = register_valid[i, r]
            if plain:
                for line in range(begin, behind):
                    if code[line, 0] == STORE:
                        registers[at, code[line, 3]], register_valid[at, code[line, 3]] = load(
                            code[line, 1], scratch, scratch_valid, slots, slot_valid, row, registers, register_valid, i
                        )
            if reached and same_future(at, target, to, marks, chain, live, registers, register_valid, control):
                continue
            chain[count] = marks[to, LATEST] if reached else -1
            marks[to, LATEST] = count
            marks[to, REACHED] = control[STAMP]
            nodes[node, 0], nodes[node, 1] = threads[i, 1], variable
            threads[at, 0], threads[at, 1] = to, node
            node += 1
            count += 1
            if marks[to, ACCEPTING] == ACCEPTS:
                control[ACCEPTED] = node - 1
                control[NODES], control[NEXT_COUNT] = node, count
                return DONE
    control[NODES], control[NEXT_COUNT] = node, count
    return DONE


@inlined
def any_open(threads, marks, control):
    """Whether some thread could read a further row."""
    at = control[HALF] * (len(threads) // 2)
    behind = at + control[COUNT]
    while at < behind and not marks[threads[at, 0], OPEN]:
        at += 1
    return at < behind


@inlined
def path_at_end(threads, marks, control):
    """The path of the first thread that accepts if the partition ends here, and not otherwise."""
    at = control[HALF] * (len(threads) // 2)
    behind = at + control[COUNT]
    while at < behind and marks[threads[at, 0], ACCEPTING] != ACCEPTS_AT_END:
        at += 1
    return threads[at, 1] if at < behind else np.int64(NOT_ACCEPTED)


@borrowing
def follow_key(
    k, limit, shift, behind, bits, times, slots, slot_valid, setting, skip, skip_members, first, transitions, masks, initials, tests,
    ways, marks, live, fresh, bounds, learned, columns, regions, lows, highs, links, ordered, tries, code, scratch, scratch_valid, ranks,
    threads, chain, registers, register_valid, nodes, cursor, out, runs, control,
):  # fmt: skip
    """All attempts of one partition, as far as its rows decide them. `skip` is 0, TO_FIRST or TO_LAST (of `skip_members`)."""
    start, at, end, end_node = cursor[k, START], cursor[k, AT], cursor[k, END], cursor[k, END_NODE]
    within = setting[WITHIN]
    by_events, by_time = within >= 0 and setting[BY_EVENTS] != 0, within >= 0 and setting[BY_EVENTS] == 0
    status = DONE
    window_end, pause, rest = np.int64(-1), 0, 0
    reached = np.int64(0)  # as far as any window has reached: a later one reaches no less far
    learned[:, LEARNED_TO] = -1
    while start < limit:
        if at == start:
            window_end, pause, rest = np.int64(-1), 0, 0
            if control[LEFT_ALONE] == 0:
                cursor[k, START] = start
                status = lone_attempts(
                    k, limit, shift, behind, bits, times, slots, slot_valid, setting, skip, skip_members, first, masks, initials, ways,
                    marks, fresh, bounds, learned, columns, regions, lows, highs, links, ordered, tries, code, scratch,
                    scratch_valid, ranks, threads, registers, register_valid, nodes, cursor, out, runs, control,
                )  # fmt: skip
                start, at, end, end_node = cursor[k, START], cursor[k, AT], cursor[k, END], cursor[k, END_NODE]
                if start >= limit or status != DONE:
                    break
            control[LEFT_ALONE] = max(control[LEFT_ALONE] - 1, 0)
        if at == start:
            start = begin_attempt(
                start, cursor[k, MATCHES] + 1, first, ways, marks, initials, bits, shift, limit, threads, registers, register_valid,
                fresh, control,
            )  # fmt: skip
            at, end, end_node = start, (start if marks[threads[0, 0], ACCEPTING] == ACCEPTS else -1), NO_NODE
            if start >= limit:
                break
        decided = False
        while not decided:
            if at == behind and path_at_end(threads, marks, control) != NOT_ACCEPTED:
                decided = setting[FINAL] != 0  # a row that comes later changes the match, however late it is
                if decided:
                    end, end_node = at, path_at_end(threads, marks, control)
                break
            if by_events and at - start >= within:
                decided = True
            elif at >= limit:
                decided = window_closed(start, limit, behind, shift, times, setting) or not any_open(threads, marks, control)
                break
            else:
                passed = times[at + shift] - times[start + shift] if by_time else 0
                if by_time and (passed > within or passed < 0):
                    decided = True
                    break
                rest -= 1
                if rest < 0 and all_wait(threads, marks, control):
                    if window_end < 0:
                        window_end = reached = end_of_window(start, max(at, reached), limit, shift, times, setting)
                    to = jump(
                        k, start, at, window_end, limit, shift, first, ways, marks, bounds, learned, columns, regions, lows, highs,
                        links, ordered, tries, bits, masks, slots, slot_valid, code, scratch, scratch_valid, ranks, threads, registers,
                        register_valid, nodes, control,
                    )  # fmt: skip
                    if to < 0:
                        status = -to
                        break
                    pause = min(2 * pause + 1, LONGEST_PAUSE) if to == at else 0
                    rest = pause
                    at = to
                    if at == window_end:
                        continue
                status = step(
                    at + shift, bits, slots, slot_valid, first, transitions, masks, tests, marks, live, code, scratch, scratch_valid, ranks,
                    threads, chain, registers, register_valid, nodes, control,
                )  # fmt: skip
                if status != DONE:
                    break
                control[STEPS] += control[COUNT]
                decided = control[NEXT_COUNT] == 0
                if not decided:
                    control[HALF], control[COUNT] = 1 - control[HALF], control[NEXT_COUNT]
                    at += 1
                    if control[ACCEPTED] != NOT_ACCEPTED:
                        end, end_node = at, control[ACCEPTED]
                        decided = control[COUNT] == 1 and not any_open(threads, marks, control)
        if not decided:
            break
        if end >= 0 and not report(k, start, end, end_node, nodes, out, runs, control):
            status = MATCHES_FULL
            break
        if control[NODE_BASE] >= 0:
            control[NODES] = control[NODE_BASE]  # nobody else has made nodes since the attempt began
        step_by = advanced(start, end, out, runs, skip, skip_members, setting, control)
        if step_by <= 0:
            status = SKIPS_NOWHERE if step_by < 0 else SKIPS_TO_START
            break
        if end >= 0:
            cursor[k, MATCHES] += 1
        at = start = start + step_by
        end, end_node = -1, NO_NODE
    cursor[k, START], cursor[k, AT], cursor[k, END], cursor[k, END_NODE] = start, at, end, end_node
    return status


@borrowing(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint64[::1], int64[::1], int64[:, ::1], uint8[:, ::1],"
    " int64[::1], int64, uint8[::1], int32[::1], int32[:, ::1], uint64[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1],"
    " uint8[:, ::1], uint8[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1],"
    " int64[:, ::1], int32[:, ::1], int64[:, ::1], int32[:, ::1], int64[:, ::1], int64[::1], uint8[::1], int64[::1], int64[:, ::1],"
    " int64[::1], int64[:, ::1], uint8[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], uint16[::1], int64[:, ::1], int64[:, ::1],"
    " uint8[:, ::1], int64[::1])"
)
def follow(
    keys, ready, offset, base, length, bits, times, slots, slot_valid, setting, skip, skip_members, first, transitions, masks, initials,
    tests, ways, marks, live, fresh, bounds, learned, columns, regions, lows, highs, links, ordered, tries, code, scratch, scratch_valid,
    ranks, threads, chain, registers, register_valid, nodes, cursor, out, runs, saved, saved_registers, saved_valid, control,
):  # fmt: skip
    """Go on with `keys[control[KEY]:]`. Anything but DONE asks for room (or reports an error) and may be called again."""
    for n in range(control[KEY], len(keys)):
        k = keys[n]
        control[KEY] = n
        if not load_threads(k, cursor, saved, saved_registers, saved_valid, threads, registers, register_valid, control):
            return THREADS_FULL
        status = follow_key(
            k, ready[n], offset[k] - base[k], base[k] + length[k], bits, times, slots, slot_valid, setting, skip, skip_members, first,
            transitions, masks, initials, tests, ways, marks, live, fresh, bounds, learned, columns, regions, lows, highs, links,
            ordered, tries, code, scratch, scratch_valid, ranks, threads, chain, registers, register_valid, nodes, cursor, out, runs,
            control,
        )  # fmt: skip
        if status != DONE:
            return status
        attempting = cursor[k, AT] > cursor[k, START]
        if not save_threads(k, attempting, cursor, saved, saved_registers, saved_valid, threads, registers, register_valid, control):
            return SAVED_FULL
    control[KEY] = len(keys)
    return DONE
