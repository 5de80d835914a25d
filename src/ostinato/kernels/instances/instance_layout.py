"""What the kernels are told about an automaton: a line per state, and one for its beginning behind them."""

from __future__ import annotations

# Columns of `states`
MASK = 0  # of the bit that a relevant row has; 0: any row may be relevant
RELEVANT = 1  # where a block begins in the code; NOTHING: there is none
RELEVANT_END = 2
REPEATS = 3
REBIND = 4
REBIND_END = 5
FORWARD = 6
FORWARD_END = 7
SLOT = 8  # of the equality by which instances are found
REGISTER = 9
WITHIN = 10
BOUND_SLOT = 11  # of a comparison that a relevant row has to satisfy; NOTHING: there is none
BOUND_REGISTER = 12
BOUND_RELATION = 13  # of the row to the instance, as `kernels.scalar.arithmetic` numbers them
BOUND_FLOATS = 14
STATE_COLUMNS = 15

LOWEST_GREATER = 4  # this relation and the next one: the row's value is the greater one

# Cells of `settings`
START_SLOT = 0  # of the start of an event; NOTHING: events do not last
ANY_MASK = 1  # of all bits that matter; 0: any row may
LIMIT = 2  # of instances
STEP_LIMIT = 3
GOES_ON = 4  # 1: it begins with what another automaton hands on, and with no row
SETTINGS = 5
