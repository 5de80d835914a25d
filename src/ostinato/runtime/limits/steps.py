"""How much one call may do where neither partial matches nor results show it: the time that nobody sees coming.

A step is ten to thirty nanoseconds: an event is offered to a partial match. Others count as several: a new partial match, or an event of
a candidate that a negation or an aggregate looks at."""

from __future__ import annotations

from ostinato.base.errors import BudgetError
from ostinato.program.pattern import Pattern
from ostinato.runtime.limits.budget import Budget, over_budget

PER_ROW = 50_000  # steps that a row may take besides: long inputs may take long
UNLIMITED = 1 << 62
WAYS_OUT = "shorten WITHIN, add conditions, choose a stricter selection strategy, or raise the budget: ost.Budget(steps=...)"


class Steps:
    def __init__(self, pattern: Pattern, budget: Budget) -> None:
        self._pattern = pattern
        self._steps = budget.steps
        self._allowed = UNLIMITED
        self.left = UNLIMITED

    def begin(self, rows: int) -> None:
        """A call that takes in so many rows."""
        if self._steps is not None:
            self._allowed = self.left = min(UNLIMITED, self._steps + PER_ROW * rows)

    def take(self, count: int, what: str) -> None:
        """Before so many are made; `what` says how it came to them."""
        if self._steps is not None:
            self.left -= count
            if self.left < 0:
                raise self.exceeded(what)

    def exceeded(self, what: str) -> BudgetError:
        return over_budget(self._pattern, f"{what}, and the budget is {self._allowed:,} steps for this call", WAYS_OUT)
