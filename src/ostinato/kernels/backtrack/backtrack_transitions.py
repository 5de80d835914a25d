"""The transitions of the run on top of the stack at one event; see `run_transitions` for the tables that say which there are."""

from __future__ import annotations

from ostinato.kernels._jit import inlined
from ostinato.kernels.backtrack.backtrack_table import (
    BEST,
    BEST_FIRST,
    BOUND,
    DEPTH,
    FOUND,
    FROM_ORDINAL,
    LAST_POSITION,
    LAST_TIME,
    MATCHES,
    NODE,
    PINNED,
    ROW,
    STATE,
    add_node,
    settle_tops,
)
from ostinato.kernels.output.match_nodes import NOTHING, comes_before
from ostinato.kernels.runs.run_layout import (
    BLOCK_END,
    BLOCK_START,
    COMPLETES,
    COUNT,
    END_TRANSITION,
    FIRST,
    FIRST_TRANSITION,
    MASK,
    NEAREST,
    NONOVERLAPPING,
    OUTPUT,
    PASS_FROM,
    PASS_TO,
    REPORT_FROM,
    REPORT_TO,
    SELECTION,
    SKIP_TO_ANY,
    STOPS,
    TAKE,
    TARGET,
)
from ostinato.kernels.runs.run_transitions import BEGAN_NEXT, REPLACED, TOOK, holds, may_pass


@inlined
def note_match(settings, nodes, found, header, key, row, node):
    """Count a complete match, keep it, or keep it as the best so far."""
    if settings[OUTPUT] == NONOVERLAPPING:
        better = header[BEST] == NOTHING or row + 1 < header[BOUND]
        if not better and row + 1 == header[BOUND]:
            better = comes_before(nodes, node, header[BEST])
        if better:
            header[BEST] = node
            header[BOUND] = row + 1
            header[BEST_FIRST] = header[FROM_ORDINAL]
            header[PINNED] = max(header[PINNED], node + 1)
        return
    header[MATCHES] += 1
    if settings[OUTPUT] != COUNT:
        found[header[FOUND], 0] = node
        found[header[FOUND], 1] = key
        header[FOUND] += 1
        header[PINNED] = max(header[PINNED], node + 1)


@inlined
def branch(
    transitions, states, passes, settings, code, scratch, scratch_valid, ranks, slots, slot_valid,
    stack, registers, register_valid, nodes, found, header, key, row, ordinal, bits, time, position, slot, state,
):  # fmt: skip
    """Try the transitions that select the event. A child that is the only one to go on takes the place of its parent, others are put on
    top. Returns what happened as bits, or an error below 0."""
    first_only = settings[OUTPUT] == FIRST
    before = stack[slot, NODE]
    happened = 0
    for m in range(states[state, FIRST_TRANSITION], states[state, END_TRANSITION]):
        if (bits & transitions[m, MASK]) != transitions[m, MASK]:
            continue
        take = transitions[m, TAKE] != 0
        target = transitions[m, TARGET]
        if not take:
            status = may_pass(
                passes, transitions[m, PASS_FROM], transitions[m, PASS_TO], code, scratch, scratch_valid, ranks, slots, slot_valid, row,
                registers, register_valid, slot,
            )  # fmt: skip
            if status < 0:
                return status
            if status == 0:
                continue
        in_place = first_only or (take and settings[SELECTION] != SKIP_TO_ANY)
        new = slot if in_place else header[DEPTH]
        status = holds(
            code, transitions[m, BLOCK_START], transitions[m, BLOCK_END], scratch, scratch_valid, ranks, slots, slot_valid, row,
            registers, register_valid, slot, new,
        )  # fmt: skip
        if status < 0:
            return status
        if status == 0:
            continue
        complete = states[target, COMPLETES]
        if complete:
            complete = may_pass(
                passes, states[target, REPORT_FROM], states[target, REPORT_TO], code, scratch, scratch_valid, ranks, slots, slot_valid, row,
                registers, register_valid, new,
            )  # fmt: skip
            if complete < 0:
                return complete
        goes_on = states[target, FIRST_TRANSITION] < states[target, END_TRANSITION] and not (complete and settings[STOPS])
        node = before
        if settings[OUTPUT] != COUNT and (complete or goes_on):
            node = add_node(nodes, header, ordinal, target, before)
        if complete:
            note_match(settings, nodes, found, header, key, row, node)
        happened |= TOOK if take else (BEGAN_NEXT if transitions[m, NEAREST] else 0)
        if goes_on:
            stack[new, ROW] = row + 1
            stack[new, STATE] = target
            stack[new, NODE] = node
            stack[new, LAST_TIME] = time
            stack[new, LAST_POSITION] = position
            if in_place:
                happened |= REPLACED
            else:
                header[DEPTH] += 1
        if first_only:
            happened |= TOOK | BEGAN_NEXT
            break
    if happened != 0:
        settle_tops(stack, header, slot)
    return happened
