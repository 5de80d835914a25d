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

# Columns of a step. Ranges are [X, X_END): of `terms` (variables) or of code. NEXT is the step to go on with.
(
    KIND, VARIABLE, CONTEXT, LINK, CHAIN, CHAIN_VARIABLE, CHAIN_SLOT, FIRST, FIRST_END, LATER, LATER_END, AFTER, AFTER_END,
    BEFORE, BEFORE_END, TESTS, TESTS_END, SHARES, ENDS_MATCH, INNER, LEFT, LEFT_END, LEFT_KIND, RIGHT, RIGHT_END, RIGHT_KIND,
    NEXT,
) = range(27)  # fmt: skip
STEP_WIDTH = 27

# Kinds of limits of an interval, see `program.tree.Limit`
BEYOND, INCLUDING, WINDOW = range(3)

# Columns of the stack. CURSOR is the ordinal that is bound, LINE the line of registers before the step, LAST the highest ordinal or,
# of given events, the place in the match.
AT, CURSOR, PHASE, LINE, LOW, LAST, IS_LATER = range(7)
STACK_WIDTH = 7

# Phases of a level: of ABSENT whether it is looked for or known not to be there; of REPEAT what was tried with the event that is bound.
NEW, LOOKS, PASSED, WENT_ON, EXTENDED = range(5)

# Columns of a context: the interval in which events may be bound, and the level of the step that opened it. The first is the match itself.
LOW_TIME, HIGH_ORDINAL, OPENED_AT = range(3)
CONTEXT_WIDTH = 3

# Cells of `control`
(
    LEVEL, IS_RETRY, KEY, TO_ARENA, BASE, READ, AT_TRIGGER, LOW_ORDINAL, WITHIN, MATCHES, EVENTS, COUNTS, STEPS, STEP_LIMIT, ERROR,
    AT_KEY, AT_PLAN, FINAL, WATERMARK, WAITS, BY_EVENTS, HEADS, GIVEN_FROM, GIVEN_TO, TRIGGERS,
) = range(25)  # fmt: skip
CONTROL_CELLS = 25

# What a call ended with
DONE, OUTPUT_FULL, STACK_FULL, OVER_STEPS, FAILED, HEADS_FULL = range(6)

# Columns of a plan: its first step, and the bits of which the completing event has one
FIRST_STEP, BIT = range(2)

# Columns of a chain: which events it links (a bit), by which value (a slot)
CHAIN_BIT, CHAIN_BY = range(2)

# Columns of a head: the latest event of a chain with a value
HEAD_KEY, HEAD_CHAIN, HEAD_VALUE, HEAD_ORDINAL = range(4)
NOTHING = -1
