"""What the kernels of ordered threads keep where: columns of their tables, cells of their control, and how they end."""

from __future__ import annotations

# Columns of `cursor`: where the attempt starts, the next row to read, the row before which it last accepted (-1 none) and the path
# there, where its threads are kept while other partitions have their turn, and how many matches the partition has had.
START, AT, END, END_NODE, SAVED_AT, SAVED_COUNT, MATCHES = range(7)
CURSOR_WIDTH = 7

# Elements of `control`. SEARCHED counts rows and blocks of rows that a search looked at, INDEXED the blocks of the index in use, WORK
# what threads took, with the others that they were compared with; beyond WORK_LIMIT a call is given up. PLACED counts the rows of
# matches, of which there may be ALLOWED, RUNS the runs that they make. Before it is tried again whether a lone thread decides attempts,
# LEFT_ALONE others are begun, of the LAST_ALONE that it was the last time.
(
    KEY, LOADED, HALF, COUNT, NEXT_COUNT, ACCEPTED, NODES, NODE_BASE, STAMP, SAVED, FOUND, PLACED, STEPS, ERROR, NEEDED, SEARCHED, INDEXED,
    WORK, WORK_LIMIT, RUNS, ALLOWED, LEFT_ALONE, LAST_ALONE,
) = range(23)  # fmt: skip
CONTROL_WIDTH = 23
THREAD_WORK = 4  # of a thread that reads a row, about 100 ns; comparing it with another one is 1

DONE, THREADS_FULL, NODES_FULL, MATCHES_FULL, SAVED_FULL, INDEX_FULL, FAILED, SKIPS_NOWHERE, SKIPS_TO_START, OVER_STEPS = range(10)

# Elements of `fresh`: what a register holds when an attempt begins.
NULL, ZERO, NUMBER = range(3)

# Where the search goes on behind a match, apart from its end and the next row.
TO_FIRST, TO_LAST = 1, 2

NO_NODE = -1
NOT_ACCEPTED = -2

# Columns of `marks`, one line per automaton state: ACCEPTS or ACCEPTS_AT_END if it does, whether a row can be read in it, whether a
# register is still read behind it, the stamp of the step that reached it last, the last thread of that step in it, and whether
# threads wait in it (see `program.analysis.searches`; or no row can be read in it).
ACCEPTING, OPEN, READS, REACHED, LATEST, WAITS = range(6)
MARKS_WIDTH = 6

# Columns of `tests`, one line per variable: its block of scalar code (start, end), whether the block copies registers, and whether it is
# plain: it asks for nothing, computes nothing and at most stores values that are there.
BLOCK_START, BLOCK_END, COPIES, PLAIN = range(4)
TESTS_WIDTH = 4

# Columns of `ways`, one line per transition of the automaton: what the other tables say about it, side by side. Its variable and target,
# the variable's bits and block of scalar code, whether that is plain and whether it copies registers; of the target whether a row can be
# read in it, whether it accepts and whether a register is read behind it; whether the search knows all that the transition asks for,
# whether it asks for a value, the line of its search column (-1 none) with what is had from it, and where its bounds stand.
(
    WAY_VARIABLE, WAY_TARGET, WAY_MASK, WAY_START, WAY_END, WAY_PLAIN, WAY_COPIES, WAY_OPEN, WAY_ACCEPTS, WAY_READS, WAY_EXACT, WAY_VALUED,
    WAY_COLUMN, WAY_KIND, WAY_FAILS, WAY_VALUE_START, WAY_VALUE_END, WAY_VALUE_AT, WAY_BOUND_FROM, WAY_BOUND_TO,
) = range(20)  # fmt: skip
WAYS_WIDTH = 20

# A node of a path is (the node before it, a variable and how many rows more than one are mapped to it).
REPEATS = 8  # bits to the left
VARIABLES = (1 << REPEATS) - 1
