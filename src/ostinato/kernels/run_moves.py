"""The moves of a run that select an event: take and begin.

`moves` lists, state by state, what a run may select: rows (target component, mask of the predicate bits it needs, block from, block
to, the conditions about finished components from and to in `passes`, whether it is a take, whether it begins the component that is
next in order). A state is the component a run is in; one more is the state of the empty run. For the output FIRST a take stands
first among its state's moves, because it is preferred; else last, because it may overwrite the run.

Arrays are handed down one by one and never given second names: Numba counts references to whatever is put into a tuple or another
variable, which made the same kernel ten times slower (see `_jit.borrowing`)."""

from __future__ import annotations

from ostinato.kernels._jit import inlined
from ostinato.kernels.arithmetic import TOO_MANY, addition_overflows
from ostinato.kernels.run_table import (
    BORN,
    COMPONENT,
    DOOMED,
    EMPTY,
    ERROR,
    FIRST_ORDINAL,
    FIRST_TIME,
    FOUND,
    LAST_POSITION,
    LAST_TIME,
    MATCHES,
    NODE,
    SCRATCH,
    add_node,
    claim,
    next_free,
)
from ostinato.kernels.scalar import evaluate

# Columns of `moves`
TARGET = 0
MASK = 1
BLOCK_START = 2
BLOCK_END = 3
PASS_FROM = 4
PASS_TO = 5
TAKE = 6
NEAREST = 7
MOVE_COLUMNS = 8

# Columns of `states`
FIRST_MOVE = 0
END_MOVE = 1
REPORT_FROM = 2  # conditions in `passes` about what is finished when a match is reported
REPORT_TO = 3
COMPLETES = 4  # nothing mandatory follows
REPEATS = 5
STATE_MASK = 6  # a row without any of these bits offers no move ...
ALWAYS = 7  # ... unless this is set
STATE_COLUMNS = 8

# Cells of `settings`
SELECTION = 0
OUTPUT = 1
WITHIN = 2
WITHIN_EVENTS = 3
EPOCH = 4
TIMED = 5
FANOUT = 6  # most children of a run at one event
RUN_LIMIT = 7
HORIZON = 8
HAS_HORIZON = 9
FINAL = 10
LATEST = 11  # strict contiguity: a run that ends before this position has been passed by
MERGES = 12  # equivalent runs are followed as one
STOPS = 13  # a run ends with its first match
SETTING_CELLS = 14

SAME_START = 1
WHATEVER_START = 2  # without a window the start makes no difference

STRICT = 0
PARTITION = 1
SKIP_TO_NEXT = 2
SKIP_TO_ANY = 3

ALL = 0
COUNT = 1
FIRST = 2
NONOVERLAPPING = 3

# What `select` reports, as bits
TOOK = 1
BEGAN_NEXT = 2
REPLACED = 4  # the run itself has become its child


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
def record(states, settings, runs, nodes, found, header, born, key, ordinal, time, position, run, new, target, complete, in_place):
    """Note the binding of an event: count or keep the match if it is complete, make `new` a run if it can go on.
    Returns whether it goes on. Where matches are counted, NODE is how many runs this one stands for."""
    goes_on = states[target, FIRST_MOVE] < states[target, END_MOVE] and not (complete and settings[STOPS])
    node = runs[run, NODE]
    if settings[OUTPUT] != COUNT and (complete or goes_on):
        node = add_node(nodes, header, ordinal, target, node)
    if complete and settings[OUTPUT] == COUNT:
        if addition_overflows(header[MATCHES], node):
            header[ERROR] = TOO_MANY
        header[MATCHES] += node
    elif complete:
        header[MATCHES] += 1
        found[header[FOUND], 0] = node
        found[header[FOUND], 1] = key
        header[FOUND] += 1
    if goes_on:
        if not in_place:
            claim(runs, header)
            born[header[BORN]] = new
            header[BORN] += 1
            runs[new, DOOMED] = 0
            known = run != EMPTY or settings[MERGES] == WHATEVER_START
            runs[new, FIRST_ORDINAL] = runs[run, FIRST_ORDINAL] if known else ordinal
            runs[new, FIRST_TIME] = runs[run, FIRST_TIME] if known else time
        runs[new, COMPONENT] = target
        runs[new, NODE] = node
        runs[new, LAST_POSITION] = position
        runs[new, LAST_TIME] = time
    return goes_on


@inlined
def may_pass(passes, first, end, code, scratch, scratch_valid, ranks, slots, slot_valid, row, registers, register_valid, run):
    """The conditions `passes[first:end]` about finished components: the one that the run is in, and those it leaves empty. 1, 0, or
    an error below 0."""
    status = 1
    for at in range(first, end):
        if status > 0:
            status = evaluate(
                code, passes[at, 0], passes[at, 1], scratch, scratch_valid, ranks, slots, slot_valid, row,
                registers, register_valid, run, run,
            )  # fmt: skip
    return status


@inlined
def select(
    moves, states, passes, settings, code, scratch, scratch_valid, ranks, slots, slot_valid,
    runs, registers, register_valid, nodes, found, header, born, key, row, ordinal, bits, time, position, run, state,
):  # fmt: skip
    """Try the moves that select the event. Returns what happened as bits, or an error below 0."""
    first_only = settings[OUTPUT] == FIRST
    happened = 0
    for m in range(states[state, FIRST_MOVE], states[state, END_MOVE]):
        if (bits & moves[m, MASK]) != moves[m, MASK]:
            continue
        take = moves[m, TAKE] != 0
        target = moves[m, TARGET]
        if not take:
            status = may_pass(
                passes, moves[m, PASS_FROM], moves[m, PASS_TO], code, scratch, scratch_valid, ranks, slots, slot_valid, row,
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
        elif states[target, FIRST_MOVE] < states[target, END_MOVE]:
            new = next_free(header)
        status = holds(
            code, moves[m, BLOCK_START], moves[m, BLOCK_END], scratch, scratch_valid, ranks, slots, slot_valid, row,
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
            states, settings, runs, nodes, found, header, born, key, ordinal, time, position, run, new, target, complete > 0, in_place
        )
        happened |= TOOK if take else (BEGAN_NEXT if moves[m, NEAREST] else 0)
        if in_place and goes_on:
            happened |= REPLACED
        if first_only:
            happened |= TOOK | BEGAN_NEXT
            break
    return happened
