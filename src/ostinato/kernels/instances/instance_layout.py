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
STATE_COLUMNS = 11

# Cells of `settings`
START_SLOT = 0  # of the start of an event; NOTHING: events do not last
ANY_MASK = 1  # of all bits that matter; 0: any row may
LIMIT = 2  # of instances
STEP_LIMIT = 3
SETTINGS = 4
