"""The arrays of a search over a nested pattern: what their columns hold."""

from __future__ import annotations

# Kinds of steps. A plan is a list of steps; the search takes them one after the other and turns back where one finds nothing (more).
TRIGGER = 0  # the event that completes the match is bound
BIND = 1  # an event of a variable, latest first
REPEAT = 2  # one or more events of a variable, earliest first
GIVEN = 3  # the events that a match, which was found earlier, has of a variable
ABSENT = 4  # the steps from INNER on must not find anything in an interval
FOUND = 5  # what must not be there is
MATCH = 6  # everything is bound
CACHED = 7  # the events of a nested expression, from those of its matches that are kept
STORE = 8  # a match of a nested expression is complete, and kept

# Columns of a step. Ranges are [X, X_END): of `terms` (variables) or of code. NEXT is the step to go on with.
# COUNTED, of the last BIND where matches are counted: the column of `links` that numbers its events; 0: they are taken one by one.
# CHAIN is a line of the chains, CHAIN_COLUMN the column in which it stands at the rows.
# CUTS, of ABSENT: the step whose further events, all earlier, cannot help once something is found; -1: there is none.
(
    KIND, VARIABLE, CONTEXT, LINK, CHAIN, CHAIN_VARIABLE, CHAIN_SLOT, FIRST, FIRST_END, LATER, LATER_END, AFTER, AFTER_END,
    BEFORE, BEFORE_END, TESTS, TESTS_END, SHARES, ENDS_MATCH, INNER, LEFT, LEFT_END, LEFT_KIND, RIGHT, RIGHT_END, RIGHT_KIND,
    NEXT, GROUP, MEMBERS, MEMBERS_END, MEMBER, MEMBER_SLOT, PLANS, PLANS_END, IS_SEMANTIC, FLAGGED, DEPENDS, DEPENDS_END,
    OWN_SLOT, CUTS, COUNTED, CHAIN_COLUMN,
) = range(42)  # fmt: skip
STEP_WIDTH = 42

# Kinds of limits of an interval, see `program.tree.Limit`
BEYOND, INCLUDING, WINDOW = range(3)

# Columns of the stack. CURSOR is the ordinal that is bound, LINE the line of registers before the step, LAST the highest ordinal or,
# of given events, the place in the match. Of cached ones LOADED is the row up to which matches were looked for, ENTRY where they are.
AT, CURSOR, PHASE, LINE, LOW, LAST, IS_LATER, LOADED, LOADING_PLAN, ENTRY = range(10)
STACK_WIDTH = 10

# Phases of a level: of ABSENT whether it is looked for or known not to be there; of REPEAT what was tried with the event that is bound.
NEW, LOOKS, PASSED, WENT_ON, EXTENDED, LOADS = range(6)

# Columns of a context: the interval in which events may be bound, and the level of the step that opened it. The first is the match itself.
# SEES_FROM is the first level whose events count as taken: what is kept does not depend on events around it.
LOW_TIME, HIGH_ORDINAL, OPENED_AT, COMPLETED_BY, SEES_FROM = range(5)
CONTEXT_WIDTH = 5

# Cells of `control`
(
    LEVEL, IS_RETRY, KEY, TO_ARENA, BASE, READ, LOW_ORDINAL, WITHIN, MATCHES, EVENTS, COUNTS, STEPS, STEP_LIMIT, ERROR,
    AT_KEY, AT_PLAN, FINAL, WATERMARK, WAITS, BY_EVENTS, HEADS, GIVEN_FROM, GIVEN_TO, TRIGGERS, RESULTS, ENTRIES, CACHE_HITS, CACHE_LOADS,
) = range(28)  # fmt: skip
CONTROL_CELLS = 28

# What a call ended with
DONE, OUTPUT_FULL, STACK_FULL, OVER_STEPS, FAILED, HEADS_FULL, CACHES_FULL = range(7)

# What a step ended with: nothing (more) was found, it goes on with the next step, or with a level that it made itself; what must not be
# there is known to be. Less than zero: the call must end, with the status as its opposite.
BACK, ON, DEEPER, VIOLATED = range(4)

# Columns of what is bound to a variable
FIRST_OF, LAST_OF = range(2)

# Columns of a plan: its first step, and the bits of which the completing event has one
FIRST_STEP, BIT = range(2)

# Columns of a chain: which events it links (a bit), by which value (a slot), in which column: chains that no row is in together share one
CHAIN_BIT, CHAIN_BY, CHAIN_AT = range(3)

# Columns of the heads of a value: its slot, from 1 on (0: nothing is here); then per chain the latest event with the value
HEAD_KEY, HEAD_SLOT, HEAD_VALUE, HEAD_EVENTS = range(4)
NOTHING = -1

# Columns of an entry of the caches. Of an object cache: a list of matches for a value (LOWEST = WHOLE), and one entry per key and
# expression that says up to which row matches were looked for (LOWEST = PROGRESS). Of a semantic cache: an interval, LOWEST its first time
# and HIGHEST its last row; FIRST_RESULT are its matches that the interval PARENT does not have, which begins no later and ends before it.
# Of a negated expression: IS_EMPTY, by its interval and up to MOST_VALUES values; where intervals are looked up by themselves alone, the
# last row of the interval is the first of the values.
# FORM: intervals in order are a tree (see `tree_intervals`) whose root the entry of its list has in SMALLER. Negated expressions have two
# lists, of empty intervals (LOWEST = PROGRESS, and PARENT of an interval that is not known yet) and, as the next entry, of others
# (LOWEST = WHOLE), whose first and last are written with the opposite sign: an interval that has one of them in it is contained so.
MOST_VALUES = 6
(OF_KEY, OF_GROUP, LOWEST, HIGHEST, FIRST_RESULT, PARENT, IS_EMPTY, FORM, SMALLER, GREATER, ABOVE, FARTHEST, VALUES) = range(13)
ENTRY_WIDTH = VALUES + MOST_VALUES
WHOLE, PROGRESS = -(1 << 62), -(1 << 62) + 1
UNKNOWN, EMPTY, OCCUPIED = range(3)
LOOKED_UP, LIST_OF_INTERVALS, INTERVAL = range(3)
NOT_FLAGGED, ALONE, IN_ORDER = range(3)  # of FLAGGED: whether one interval says something about another
NEXT_RESULT, RESULT_EVENTS = range(2)  # columns of a result; then its events
