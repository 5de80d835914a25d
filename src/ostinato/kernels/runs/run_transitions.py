"""The transitions of a run that select an event: take and begin; see `run_layout` for the tables.

Arrays are handed down one by one and never given second names: Numba counts references to whatever is put into a tuple or another
variable, which made the same kernel ten times slower (see `_jit.borrowing`)."""

from __future__ import annotations

from ostinato.kernels._jit import inlined
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
    OUTPUT,
    PASS_FROM,
    PASS_TO,
    RELINKS,
    REPORT_FROM,
    REPORT_TO,
    SELECTION,
    SKIP_TO_ANY,
    STOPS,
    TAKE,
    TARGET,
    TIMEOUTS,
    WITHIN,
    WITHIN_EVENTS,
)
from ostinato.kernels.runs.run_merging import start_of
from ostinato.kernels.runs.run_nodes import ANY_START, LAST_NODE, LOWEST, OF_KEY, add_node
from ostinato.kernels.runs.run_table import (
    BORN,
    ELEMENT,
    EMPTY,
    ERROR,
    FIRST_ORDINAL,
    FIRST_TIME,
    FOUND,
    LAST_POSITION,
    LAST_TIME,
    MATCHES,
    NODE,
    OLDEST,
    SCRATCH,
    WAS_MATCH,
    claim,
    leave_equivalents,
    leave_place,
    next_free,
)
from ostinato.kernels.scalar.arithmetic import TOO_MANY, addition_overflows
from ostinato.kernels.scalar.scalar import evaluate

# What `select` reports, as bits
TOOK = 1
BEGAN_NEXT = 2
REPLACED = 4  # the run itself has become its child


@inlined
def lowest_start(settings, ordinal, time):
    """The first start whose window still holds an event with that time and ordinal, in the unit of the window."""
    if settings[WITHIN] < 0:
        return ANY_START
    if settings[WITHIN_EVENTS]:
        return ordinal - settings[WITHIN] + 1
    return time - settings[WITHIN] if time >= ANY_START + settings[WITHIN] else ANY_START


@inlined
def holds(
    code, start, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, old, new
):  # fmt: skip
    """A block for the run `old`, whose registers afterwards are in `new`: 1, 0, or an error below 0."""
    if start != end:
        return evaluate(code, start, end, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, old, new)
    if new != old:
        for i in range(registers.shape[1]):
            registers[new, i] = registers[old, i]
            register_valid[new, i] = register_valid[old, i]
    return 1


@inlined
def note_match(settings, found, header, key, ordinal, time, node):
    """Count a complete match, or keep it. Where matches are counted, `node` is how many runs this one stands for. Timeouts are none."""
    if settings[OUTPUT] == COUNT:
        if addition_overflows(header[MATCHES], node):
            header[ERROR] = TOO_MANY
        header[MATCHES] += node
    elif settings[OUTPUT] != TIMEOUTS:
        found[header[FOUND], LAST_NODE] = node
        found[header[FOUND], OF_KEY] = key
        found[header[FOUND], LOWEST] = lowest_start(settings, ordinal, time)
        header[FOUND] += 1


@inlined
def record(
    states, settings, runs, nodes, found, header, per_key, cells, order, equivalents, born, key, ordinal, time, position, run, new, target,
    complete, in_place,
):  # fmt: skip
    """Note the binding of an event: count or keep the match if it is complete, make `new` a run if it can go on.
    Returns whether it goes on."""
    goes_on = states[target, FIRST_TRANSITION] < states[target, END_TRANSITION] and not (complete and settings[STOPS])
    node = runs[run, NODE]
    if settings[OUTPUT] != COUNT and (complete or goes_on):
        node = add_node(nodes, header, ordinal, target, node, start_of(settings, ordinal, time))
    if complete:
        note_match(settings, found, header, key, ordinal, time, node)
    if goes_on:
        if not in_place:
            claim(runs, header, per_key, key, run)
            runs[new, FIRST_ORDINAL] = runs[run, FIRST_ORDINAL] if run != EMPTY else ordinal
            runs[new, FIRST_TIME] = runs[run, FIRST_TIME] if run != EMPTY else time
            runs[new, OLDEST] = runs[run, OLDEST] if run != EMPTY else ordinal
        elif target != runs[run, ELEMENT] or states[target, RELINKS] != 0:
            leave_place(runs, per_key, cells, order, run)
            leave_equivalents(runs, equivalents, run)
        if not in_place or target != runs[run, ELEMENT] or states[target, RELINKS] != 0:
            born[header[BORN]] = new
            header[BORN] += 1
        runs[new, ELEMENT] = target
        runs[new, NODE] = node
        runs[new, LAST_POSITION] = position
        runs[new, LAST_TIME] = time
        if settings[OUTPUT] == TIMEOUTS:
            runs[new, WAS_MATCH] = complete
    return goes_on


@inlined
def may_pass(passes, first, end, code, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, run):
    """The conditions `passes[first:end]` about finished elements: the one that the run is in, and those it leaves empty. 1, 0, or
    an error below 0."""
    status = 1
    for at in range(first, end):
        if status > 0:
            status = evaluate(
                code, passes[at, 0], passes[at, 1], scratch, scratch_valid, ranks, slots, slot_valid, row,
                registers, register_valid, run, run,
            )  # fmt: skip
    return status


_SIGNATURE = (
    "int64(int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[:,::1], int64[::1], uint8[::1], int64[::1], int64[:,::1],"
    "uint8[:,::1], int64[:,::1], int64[:,::1], uint8[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[:,::1], int64[::1],"
    "int64[:,::1], int64[::1], int64[::1], int64, int64, int64, int64, int64, int64, int64, int64)"
)


@inlined(_SIGNATURE)
def select(
    transitions, states, passes, settings, code, scratch, scratch_valid, ranks, slots, slot_valid,
    runs, registers, register_valid, nodes, found, header, per_key, cells, order, equivalents, born, key, row, ordinal, bits, time,
    position, run, state,
):  # fmt: skip
    """Try the transitions that select the event. Returns what happened as bits, or an error below 0."""
    first_only = settings[OUTPUT] == FIRST
    happened = 0
    for m in range(states[state, FIRST_TRANSITION], states[state, END_TRANSITION]):
        if (bits & transitions[m, MASK]) != transitions[m, MASK]:
            continue
        take = transitions[m, TAKE] != 0
        target = transitions[m, TARGET]
        if not take:
            status = may_pass(
                passes, transitions[m, PASS_FROM], transitions[m, PASS_TO], code, scratch, scratch_valid, ranks, slots, slot_valid, row,
                registers, register_valid, run,
            )  # fmt: skip
            if status < 0:
                return status
            if status == 0:
                continue
        in_place = run != EMPTY and (first_only or (take and settings[SELECTION] != SKIP_TO_ANY))
        new = SCRATCH
        if in_place:
            new = run
        elif states[target, FIRST_TRANSITION] < states[target, END_TRANSITION]:
            new = next_free(header)
        status = holds(
            code, transitions[m, BLOCK_START], transitions[m, BLOCK_END], scratch, scratch_valid, ranks, slots, slot_valid, row,
            registers, register_valid, run, new,
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
        goes_on = record(
            states, settings, runs, nodes, found, header, per_key, cells, order, equivalents, born, key, ordinal, time, position, run, new,
            target, complete > 0, in_place,
        )  # fmt: skip
        happened |= TOOK if take else (BEGAN_NEXT if transitions[m, NEAREST] else 0)
        if in_place and goes_on:
            happened |= REPLACED
        if first_only:
            happened |= TOOK | BEGAN_NEXT
            break
    return happened
