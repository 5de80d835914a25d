"""What the kernels are told about a pattern of situations, and the arrays in which situations live.

Those of one partition and definition stand side by side in the pool, in the order of their ends. Those that are derived do not overlap, so
that this is the order of their starts, and only the last of them can be open; those that are given have all ended."""

from __future__ import annotations

import numpy as np

NOTHING = -1
NEVER = np.iinfo(np.int64).min
OPEN = np.iinfo(np.int64).max  # the end of what goes on: later than any time
EMPTY = 0  # the place in the pool with the registers before the first row
RESERVED = 1

# Columns of `definitions`
HOLDS = 0  # mask of the bit of rows that satisfy it
READS = 1  # mask of the bit of rows that it reads; 0: it reads all
BLOCK = 2  # where its block begins in the code; NOTHING: it has none
BLOCK_END = 3
AT_LEAST = 4  # 0: nothing is asked
AT_MOST = 5  # OPEN: nothing is asked
START_SLOT = 6  # of situations that are given; NOTHING: they are derived
DEFINITION_COLUMNS = 7

# Columns of `constraints`
FIRST = 0
SECOND = 1
ALLOWED = 2  # a bit for each relation that is not bounded
GROUPS = 3  # a bit for each group in which the first may be, seen from the second
INVERSE_GROUPS = 4  # and the other way round
BOUNDS = 5  # where its bounds begin and end
BOUNDS_END = 6
WHOLE = 7  # of these groups those that are allowed as a whole, and INNER
INVERSE_WHOLE = 8
BEFORE_LEAST = 9  # the gap, where the first is before the second; OPEN as the most: it is not bounded
BEFORE_MOST = 10
AFTER_LEAST = 11
AFTER_MOST = 12
CLOSED = 13  # whether the first cannot find a second any more when it has ended (bit 0), and the second a first (bit 1)
ZONES = 14  # where the end of the first may lie, seen from the second: before its start, at it, within, at its end, behind it
INVERSE_ZONES = 15
CONSTRAINT_COLUMNS = 16
INNER = 7  # a bit of WHOLE: what starts and ends within the other is allowed

# Columns of `bounds`
RELATION = 0
LEAST = 1
MOST = 2

# Cells of `settings`
WITHIN = 0  # OPEN: there is none
IS_FINAL = 1
LIMIT = 2  # of situations
STEP_LIMIT = 3
PASSES_OVER = 4  # quiet rows are passed over
DROPS_PARTNERLESS = 5  # what has ended without one that a constraint asks for
PERIOD = 6  # after so much work averages are brought up to date; OPEN: never
EACH = 7  # situations are results by themselves
COMBINES = 8  # matches are looked for; 0: situations are derived, kept and let go as if they were
SETTINGS = 9

# Columns of `situations`
START = 0
END = 1
UNREAD = 2  # the first of its rows that its registers have not taken in, of those of this call; NOTHING: they have all of earlier calls
BEHIND = 3  # behind its last row; OPEN: it goes on
SITUATION_COLUMNS = 4

# Columns of `regions`, a line for each partition and definition
HEAD = 0
COUNT = 1
ROOM = 2  # behind the last place that it has
BASE = 3  # the first place that it has
REGION_COLUMNS = 4

# Columns of `per_key`
NOW = 0  # the moment whose rows may still come; NEVER: there is none
BEFORE = 1  # the moment before
KEY_COLUMNS = 2

# Lines of `places`, by depth of the search; the situations that are chosen by definition
CURSOR = 0
STOP = 1
CHOSEN = 2
AT_RANGE = 3  # the next one
IS_SURE = 4  # what lies in the range satisfies the constraints
IS_NEWS = 5  # whether what is chosen was not certain at the moment before
PLACES = 6

# `ranges`: a line by depth, and one to intersect with; how many there are, then each
MOST_RANGES = 16
BEGIN = 1
STOP_BEFORE = 2
SURE = 3
RANGE_CELLS = 3
RANGE_COLUMNS = 1 + MOST_RANGES * RANGE_CELLS

# Lines of `looked`. Columns: the definitions, then for each of them as the one that has changed, the constraints
OF = 0  # situations that there were
LEFT = 1  # those that a constraint left
TIMES = 2  # how often
LOOKED = 3

# Lines of `averages`, with the same columns: how many situations there are, and are left
CURRENT = 0
PLANNED = 1  # when the orders were chosen
KNOWN = 2  # how often they were brought up to date
AMONG = 3  # how many there were when some were left
AVERAGES = 4

# Lines of `found`, with a column for each result; the starts of all situations follow, and behind them their places in the pool. Where each
# is a result by itself, the start of all others is OPEN
FOUND_KEY = 0
FOUND_START = 1
FOUND_END = 2
FOUND_TIME = 3
FOUND_STARTS = 4

# Cells of `header`
TAIL = 0  # places of the pool from here on are free
LIVE = 1  # situations that are kept
FOUND = 2
ERROR = 3
AT_KEY = 4  # where to go on
AT_ROW = 5
AT_DEFINITION = 6
AT_TRIGGER = 7
AT_CHOICE = 8
AT_DEPTH = 9
VISITED = 10  # how often a situation was looked at
MADE = 11  # situations ever
PEAK = 12
PURGED = 13
PARTNERLESS = 14
SEARCHES = 15  # from situations that have changed
FOLDED = 16  # the work that averages know of
HAS_OTHERS = 17  # others have changed at the moment
KEY_PEAK = 18  # situations that were kept at the most, while rows of one key came
HEADER_CELLS = 19

# Columns of `levels`, a line for each key of a call: how many situations were kept
AT_FIRST = 0
AT_MOST_KEPT = 1
AT_LAST = 2
LEVELS = 3

# What `advance` returns
DONE = 0
TOO_SMALL = 1  # the pool
FULL = 2  # of results
OVER_LIMIT = 3
OVER_STEPS = 4
FAILED = 5
DRIFTED = 6  # averages are not what the orders were chosen by

BAD_START = -100  # beside the error codes of scalar code
