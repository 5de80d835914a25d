"""The matches that start within a sliding window, tallied without keeping them apart.

Every event turns the row of cells (one per state, see `runtime.compact.event_transitions`) of all partial matches into the next one by a
fixed set of operations: it is a matrix. What starts have become by now is the start times the product of the matrices since. A start that
leaves the window has to be taken out of the sum, and cannot be subtracted. So the window is a queue of two stacks. The *front* holds,
for each start from the oldest on, what it and all later starts of the front have become at the border between the stacks; `matrix` is
the product of the events behind the border; the *back* holds those events as they came, and `later` what their own starts have become.
The oldest start leaves by being popped; when the front is used up, the back is turned into a new front, walking from the newest event to
the oldest. Each event is turned once, so that the work per event does not depend on the window."""

from __future__ import annotations

from ostinato.kernels._jit import borrowing, inlined
from ostinato.kernels.aggregation.aggregation_cells import add_bound, add_cell, add_joined, add_start, bind, clear, set_unit

NOTHING = -1

# Columns of `symbols`
FIRST_OPERATION = 0
END_OPERATION = 1
ACTS = 2  # states whose matches it adds to or ends or completes
STARTS = 3
CHANGES = 4  # whether it is more than a look at what is complete
SYMBOL_COLUMNS = 5

# Columns of `operations`, in the order in which they are done: by descending source, a state's own fate last, starts at the end.
WHAT = 0
SOURCE = 1
TARGET = 2
COMPLETES = 3
GOES_ON = 4
BOUND_TO = 5  # the element of the event
OPERATION_COLUMNS = 6

MOVE = 0  # the matches of the source, with the event bound to the target, are added to those of the target
TAKE = 1  # the event is bound to the matches of the source
COPY = 2  # the same, and those without it stay as well
END = 3  # the matches of the source end
START = 4  # a match starts in the target
SHIFT = 5  # the matches of the source go to the target, without the event

# Columns of `partitions`
ACTIVE = 0
OLDEST = 1  # the start that leaves the window first
BACK = 2  # top of the back
FRONT = 3  # top of the front
MATRIX = 4
BACK_OLDEST = 5  # first start in the back, NO_START if there is none
CLOCK = 6
POSITION = 7
EPOCH = 8  # the time of the last row, where simultaneous events may not follow one another
PARTITION_COLUMNS = 9

# Columns of `back`; the values that its event has for the accumulators are in `back_values` and `back_valid`
KEY = 0
SYMBOL = 1
NEXT = 2
BACK_COLUMNS = 3

# An entry of `front` is a row of cells, then these
FRONT_KEY = 0
FRONT_NEXT = 1
FRONT_EXTRA = 2

# Cells of `header`
FREE_BACK = 0
FREE_FRONT = 1
FREE_MATRIX = 2
USED_BACK = 3
USED_FRONT = 4
USED_MATRIX = 5
WAITING_STARTS = 6  # starts in any back: the front must have room for them
AT_KEY = 7
AT_ROW = 8
LEFT = 9  # starts that have left a window
HEADER_CELLS = 10

NO_START = 2**63 - 1


@inlined
def append(symbols, operations, accumulators, cells, base, rows, size, symbol, values, valid, event, with_starts):
    """Apply an event to `rows` rows of cells (`size` words each) that begin at `base`: to a single one, or to a matrix. Of a matrix only
    the rows up to the source of an operation have anything there, because matches never go back to an earlier state, except from the
    second of a pair of states to the first."""
    width = accumulators.shape[0]
    for o in range(symbols[symbol, FIRST_OPERATION], symbols[symbol, END_OPERATION]):
        what = operations[o, WHAT]
        element = operations[o, BOUND_TO]
        target = base + operations[o, TARGET] * width
        if what == START:
            if with_starts and operations[o, GOES_ON]:
                add_start(accumulators, cells, target, element, values, valid, event)
            continue
        if what == MOVE and not operations[o, GOES_ON]:
            continue
        source = base + operations[o, SOURCE] * width
        for i in range(0, min(rows, (operations[o, SOURCE] | 1) + 1) * size, size):
            if cells[source + i] == 0:
                continue
            if what == MOVE or what == COPY:
                add_bound(accumulators, cells, target + i, cells, source + i, element, values, valid, event)
            elif what == TAKE:
                bind(accumulators, cells, source + i, element, values, valid, event)
            else:
                if what == SHIFT:
                    add_cell(accumulators, cells, target + i, cells, source + i)
                clear(accumulators, cells, source + i)


@borrowing
def set_identity(accumulators, cells, base, states):
    width = accumulators.shape[0]
    for i in range(states):
        for j in range(states):
            clear(accumulators, cells, base + (i * states + j) * width)
        set_unit(accumulators, cells, base + (i * states + i) * width)


@borrowing
def refill_front(
    symbols, operations, accumulators, partitions, header, back, back_values, back_valid, front, product, key, states, now, span
):
    """Make the back the front. `product` is scratch for the matrix of the events walked over so far."""
    size = states * accumulators.shape[0]
    set_identity(accumulators, product, 0, states)
    top = NOTHING
    entry = partitions[key, BACK]
    alive = True
    while entry != NOTHING:
        if symbols[back[entry, SYMBOL], STARTS]:
            header[WAITING_STARTS] -= 1
            alive = alive and now - back[entry, KEY] <= span
            if alive:
                top = push_front(symbols, operations, accumulators, header, back, back_values, back_valid, front, product, entry, top, size)
            else:
                header[LEFT] += 1
        if alive:
            prepend(symbols, operations, accumulators, back, back_values, back_valid, product, entry, size)
        following = back[entry, NEXT]
        back[entry, NEXT] = header[FREE_BACK]
        header[FREE_BACK] = entry
        header[USED_BACK] -= 1
        entry = following
    partitions[key, BACK] = NOTHING
    partitions[key, BACK_OLDEST] = NO_START
    partitions[key, FRONT] = top


@borrowing
def push_front(symbols, operations, accumulators, header, back, back_values, back_valid, front, product, entry, top, size):
    """What the start of a back entry becomes by the events behind it, together with all later starts."""
    width = accumulators.shape[0]
    row = header[FREE_FRONT]
    base = row * (size + FRONT_EXTRA)
    header[FREE_FRONT] = front[base + size + FRONT_NEXT]
    header[USED_FRONT] += 1
    symbol = back[entry, SYMBOL]
    for j in range(0, size, width):
        clear(accumulators, front, base + j)
        if top != NOTHING:
            add_cell(accumulators, front, base + j, front, top * (size + FRONT_EXTRA) + j)
        for o in range(symbols[symbol, FIRST_OPERATION], symbols[symbol, END_OPERATION]):
            if operations[o, WHAT] == START and operations[o, GOES_ON]:
                target = operations[o, TARGET] * size
                add_bound(accumulators, front, base + j, product, target + j, operations[o, BOUND_TO], back_values, back_valid, entry)
    front[base + size + FRONT_KEY] = back[entry, KEY]
    front[base + size + FRONT_NEXT] = top
    return row


@borrowing
def prepend(symbols, operations, accumulators, back, back_values, back_valid, product, entry, size):
    """Multiply the product by the entry's event from the left: the same operations in reverse order, on whole rows."""
    width = accumulators.shape[0]
    symbol = back[entry, SYMBOL]
    for o in range(symbols[symbol, END_OPERATION] - 1, symbols[symbol, FIRST_OPERATION] - 1, -1):
        what = operations[o, WHAT]
        element = operations[o, BOUND_TO]
        target = operations[o, TARGET] * size
        source = operations[o, SOURCE] * size
        for j in range((operations[o, SOURCE] & ~1) * width, size, width):
            if what == MOVE and operations[o, GOES_ON]:
                add_bound(accumulators, product, source + j, product, target + j, element, back_values, back_valid, entry)
            elif what == TAKE:
                bind(accumulators, product, source + j, element, back_values, back_valid, entry)
            elif what == COPY:
                add_bound(accumulators, product, source + j, product, source + j, element, back_values, back_valid, entry)
            elif what == END or what == SHIFT:
                clear(accumulators, product, source + j)
                if what == SHIFT:
                    add_cell(accumulators, product, source + j, product, target + j)


@borrowing
def pop_front(partitions, header, front, key, size):
    top = partitions[key, FRONT]
    place = top * (size + FRONT_EXTRA) + size + FRONT_NEXT
    partitions[key, FRONT] = front[place]
    front[place] = header[FREE_FRONT]
    header[FREE_FRONT] = top
    header[USED_FRONT] -= 1
    header[LEFT] += 1


@borrowing
def give_matrix_back(partitions, header, matrices, key, length):
    """Free matrices are a list through their first words."""
    if partitions[key, MATRIX] != NOTHING:
        matrices[partitions[key, MATRIX] * length] = header[FREE_MATRIX]
        header[FREE_MATRIX] = partitions[key, MATRIX]
        header[USED_MATRIX] -= 1
        partitions[key, MATRIX] = NOTHING


@borrowing
def release(symbols, partitions, header, back, front, matrices, key, size, length):
    """The partition has no partial match any more."""
    while partitions[key, FRONT] != NOTHING:
        pop_front(partitions, header, front, key, size)
    while partitions[key, BACK] != NOTHING:
        entry = partitions[key, BACK]
        header[WAITING_STARTS] -= symbols[back[entry, SYMBOL], STARTS]
        partitions[key, BACK] = back[entry, NEXT]
        back[entry, NEXT] = header[FREE_BACK]
        header[FREE_BACK] = entry
        header[USED_BACK] -= 1
    give_matrix_back(partitions, header, matrices, key, length)
    partitions[key, BACK_OLDEST] = NO_START
    partitions[key, OLDEST] = NO_START


@borrowing
def leave(
    symbols, operations, accumulators, partitions, header, back, back_values, back_valid, front, matrices, product, current, later,
    key, states, now, span,
):  # fmt: skip
    """Take out the starts that are too old. `current` and `later` are rows of cells per partition."""
    width = accumulators.shape[0]
    size = states * width
    while partitions[key, FRONT] != NOTHING and now - front[partitions[key, FRONT] * (size + FRONT_EXTRA) + size + FRONT_KEY] > span:
        pop_front(partitions, header, front, key, size)
    if partitions[key, FRONT] == NOTHING:
        if partitions[key, MATRIX] != NOTHING:
            give_matrix_back(partitions, header, matrices, key, size * states)
            for j in range(key * size, key * size + size):
                current[j] = later[j]
        partitions[key, OLDEST] = partitions[key, BACK_OLDEST]
        if partitions[key, OLDEST] == NO_START or now - partitions[key, OLDEST] <= span:
            return
        refill_front(
            symbols, operations, accumulators, partitions, header, back, back_values, back_valid, front, product, key, states, now, span
        )
        if partitions[key, FRONT] == NOTHING:
            for j in range(key * size, key * size + size, width):
                clear(accumulators, current, j)
            return
        matrix = header[FREE_MATRIX]
        header[FREE_MATRIX] = matrices[matrix * size * states]
        header[USED_MATRIX] += 1
        partitions[key, MATRIX] = matrix
        set_identity(accumulators, matrices, matrix * size * states, states)
        for j in range(key * size, key * size + size, width):
            clear(accumulators, later, j)
    sum_up(accumulators, partitions, front, matrices, current, later, key, states)


@borrowing
def sum_up(accumulators, partitions, front, matrices, current, later, key, states):
    """current = top of the front x matrix + later."""
    width = accumulators.shape[0]
    size = states * width
    base = partitions[key, FRONT] * (size + FRONT_EXTRA)
    matrix = partitions[key, MATRIX] * size * states
    partitions[key, OLDEST] = front[base + size + FRONT_KEY]
    for j in range(states):
        at = key * size + j * width
        clear(accumulators, current, at)
        add_cell(accumulators, current, at, later, at)
        for i in range(min(states, (j | 1) + 1)):
            if front[base + i * width] != 0:
                add_joined(accumulators, current, at, front, base + i * width, matrices, matrix + i * size + j * width)
