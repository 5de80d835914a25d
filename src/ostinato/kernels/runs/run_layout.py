"""What the run kernels read of a query: the columns of `transitions` and `states`, the cells of `settings`.

`transitions` lists, state by state, what a run may select. A state is the element a run is in; one more is the state of the empty run. For
the output FIRST a take stands first among its state's transitions, because it is preferred; else last, because it may overwrite the run."""

from __future__ import annotations

# Columns of `transitions`
TARGET = 0
MASK = 1  # the predicate bits that the event needs
BLOCK_START = 2
BLOCK_END = 3
PASS_FROM = 4  # conditions in `passes` about the elements that are finished by it
PASS_TO = 5
TAKE = 6
NEAREST = 7  # it begins the element that is next in order
JOIN_SLOT = 8  # the value of the row that must equal the state's join register, or -1
TRANSITION_COLUMNS = 9

# Columns of `states`
FIRST_TRANSITION = 0
END_TRANSITION = 1
REPORT_FROM = 2  # conditions in `passes` about what is finished when a match is reported
REPORT_TO = 3
COMPLETES = 4  # nothing mandatory follows
REPEATS = 5
STATE_MASK = 6  # a row without any of these bits offers no transition ...
ALWAYS = 7  # ... unless this is set
JOIN_REGISTER = 8  # by whose value its runs wait, or -1
MERGEABLE = 9  # there may be equivalent runs here
WATCH_FROM = 10  # the registers in `watched` that this and later states still need
WATCH_TO = 11
RELINKS = 12  # taking an event changes where the run waits, or what it is equivalent to
ORDER_TRANSITION = 13  # the transition for which its runs wait in order (see `run_order`), or -1: bounds of the value that it asks for ...
ORDER_FROM = 14
ORDER_TO = 15
VALUE_START = 16  # ... and how the value of the row is had (see `search_bounds.row_value`)
VALUE_END = 17
VALUE_AT = 18
VALUE_KIND = 19
STATE_COLUMNS = 20

# Cells of `settings`
SELECTION = 0
OUTPUT = 1
WITHIN = 2
WITHIN_EVENTS = 3
EPOCH = 4
TIMED = 5
FANOUT = 6  # most children of a run at one event
RUN_LIMIT = 7
WATERMARK = 8
HAS_WATERMARK = 9
FINAL = 10
LATEST = 11  # strict contiguity: a run that ends before this position has been passed by
MERGES = 12  # which equivalent runs are followed as one
UNITES = 13  # a run may stand for several starts: matches are read from unions
STOPS = 14  # a run ends with its first match
STEP_LIMIT = 15  # of all that was done ever: beyond, a call is given up
SETTING_CELLS = 16

STRICT = 0
PARTITION = 1
SKIP_TO_NEXT = 2
SKIP_TO_ANY = 3

ALL = 0
COUNT = 1
FIRST = 2
NONOVERLAPPING = 3
TIMEOUTS = 4  # what is found are the runs that their window ended, and no matches

NEVER_MERGED = 0
SAME_START = 1
WHATEVER_START = 2
