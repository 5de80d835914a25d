"""The arrays of backtracking: the stack of postponed runs, the runs that wait for rows, and the events that they have selected.

A node is an event bound to an element, with its predecessor, which has a smaller number: runs that have a beginning in common share it.
Nodes of a run that came to nothing are given back when it leaves the stack, as long as nothing newer is needed."""

from __future__ import annotations

from ostinato.kernels._jit import inlined
from ostinato.kernels.output.match_nodes import BEFORE, BOUND_TO, NOTHING, ORDINAL
from ostinato.kernels.runs.run_layout import COUNT, FANOUT, OUTPUT

# Columns of `stack`
ROW = 0  # the next one to read
STATE = 1
NODE = 2  # last node
LAST_TIME = 3
LAST_POSITION = 4
TOP = 5  # the newest node of this place and of those below
STACK_COLUMNS = 6

# Columns of `waiting`; STATE, NODE, LAST_TIME and LAST_POSITION as in `stack`
FIRST_ORDINAL = 0
FIRST_TIME = 5
NEXT = 6
KEY = 7
WAITING_COLUMNS = 8

# Columns of `nodes`, beside those that all nodes of matches have
LENGTH = 3
NODE_COLUMNS = 4

# Cells of `header`
FREE = 0  # first of the list of free places in `waiting`
USED = 1  # places from here on were never used
LIVE = 2  # runs that wait
NODES = 3
FOUND = 4  # matches in `found`
MATCHES = 5  # matches ever
ERROR = 6
EXPIRED = 7
PEAK = 8
READ = 9  # rows read, again and again
AT_KEY = 10  # from here on: where to go on after the arrays were too small
IN_KEY = 11
DEPTH = 12
CURSOR = 13  # the next of the runs that waited
NEXT_START = 14
LOW = 15  # the segment
HIGH = 16
BOUND = 17  # behind the row where the best match so far completes
BEST = 18
BEST_FIRST = 19  # the first event of the best match so far
FROM_ORDINAL = 20  # the first event of the runs on the stack
FROM_TIME = 21
LIMIT = 22  # the first row beyond their window
NEW_HEAD = 23  # runs that wait after this segment
NEW_TAIL = 24
PINNED = 25  # nodes below are needed
SEGMENT = 26  # rows
READ_AGAIN = 27  # rows read that some run had read before
FURTHEST = 28  # behind the last row of the key that any run has read
HEADER_CELLS = 29


@inlined
def has_room(settings, waiting, stack, nodes, found, header):
    """Whether the arrays hold whatever one event of one run can bring forth."""
    fanout = settings[FANOUT]
    if header[DEPTH] + fanout >= stack.shape[0] or header[LIVE] + 1 >= waiting.shape[0]:
        return False
    return settings[OUTPUT] == COUNT or (header[NODES] + fanout < nodes.shape[0] and header[FOUND] + fanout < found.shape[0])


@inlined
def note_read(header, first, end):
    """The run on top of the stack has read these rows. Runs come in the order of their starts, so that whatever lies before the furthest
    row and behind the start of a run has been read by some other one."""
    header[READ] += end - first
    header[READ_AGAIN] += max(0, min(end, header[FURTHEST]) - first)
    header[FURTHEST] = max(header[FURTHEST], end)


@inlined
def add_node(nodes, header, ordinal, element, before):
    node = header[NODES]
    nodes[node, ORDINAL] = ordinal
    nodes[node, BOUND_TO] = element
    nodes[node, BEFORE] = before
    nodes[node, LENGTH] = 1 if before == NOTHING else nodes[before, LENGTH] + 1
    header[NODES] = node + 1
    return node


@inlined
def copy_registers(registers, register_valid, source, target):
    for i in range(registers.shape[1]):
        registers[target, i] = registers[source, i]
        register_valid[target, i] = register_valid[source, i]


@inlined
def pop(stack, header):
    """Take the topmost run off, and give back its nodes."""
    header[DEPTH] -= 1
    below = NOTHING if header[DEPTH] == 0 else stack[header[DEPTH] - 1, TOP]
    header[NODES] = max(header[PINNED], below + 1)


@inlined
def settle_tops(stack, header, slot):
    """After places from `slot` on have changed."""
    newest = NOTHING if slot == 0 else stack[slot - 1, TOP]
    for place in range(slot, header[DEPTH]):
        newest = max(newest, stack[place, NODE])
        stack[place, TOP] = newest


@inlined
def remove(stack, registers, register_valid, header, slot):
    """Take a run off; the topmost one takes its place."""
    top = header[DEPTH] - 1
    if top == slot:
        pop(stack, header)
    else:
        for i in range(STACK_COLUMNS):
            stack[slot, i] = stack[top, i]
        copy_registers(registers, register_valid, top, slot)
        header[DEPTH] = top
        settle_tops(stack, header, slot)


@inlined
def suspend(waiting, stack, registers, register_valid, header, slot, key):
    """Let a run wait, behind the others of its key."""
    run = header[FREE]
    if run != NOTHING:
        header[FREE] = waiting[run, NEXT]
    else:
        run = header[USED]
        header[USED] += 1
    header[LIVE] += 1
    header[PEAK] = max(header[PEAK], header[LIVE])
    for i in range(STATE, TOP):
        waiting[run, i] = stack[slot, i]
    waiting[run, FIRST_ORDINAL] = header[FROM_ORDINAL]
    waiting[run, FIRST_TIME] = header[FROM_TIME]
    waiting[run, NEXT] = NOTHING
    waiting[run, KEY] = key
    copy_registers(registers, register_valid, slot, stack.shape[0] + run)
    if header[NEW_TAIL] == NOTHING:
        header[NEW_HEAD] = run
    else:
        waiting[header[NEW_TAIL], NEXT] = run
    header[NEW_TAIL] = run
    header[PINNED] = max(header[PINNED], stack[slot, NODE] + 1)


@inlined
def release(waiting, header, run):
    waiting[run, NEXT] = header[FREE]
    waiting[run, STATE] = NOTHING
    header[FREE] = run
    header[LIVE] -= 1


@inlined
def next_waiting(waiting, stack, registers, register_valid, header):
    """Put the next run that waited on the empty stack."""
    run = header[CURSOR]
    header[CURSOR] = waiting[run, NEXT]
    for i in range(STATE, TOP):
        stack[0, i] = waiting[run, i]
    stack[0, ROW] = header[LOW]
    stack[0, TOP] = stack[0, NODE]
    header[FROM_ORDINAL] = waiting[run, FIRST_ORDINAL]
    header[FROM_TIME] = waiting[run, FIRST_TIME]
    copy_registers(registers, register_valid, stack.shape[0] + run, 0)
    header[DEPTH] = 1
    release(waiting, header, run)


@inlined
def drop_new(waiting, header):
    run = header[NEW_HEAD]
    while run != NOTHING:
        following = waiting[run, NEXT]
        release(waiting, header, run)
        run = following
    header[NEW_HEAD] = NOTHING
    header[NEW_TAIL] = NOTHING
