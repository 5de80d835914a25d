"""The kernel over a store: with scratch of its own, so that several can be at work beside one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ostinato.base.errors import DataError, OstinatoError
from ostinato.kernels.intervals import interval_layout as layout
from ostinato.kernels.intervals import intervals as kernel
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.intervals.interval_plan import IntervalPlan
from ostinato.runtime.intervals.key_stretches import KeyStretches, RowArrays
from ostinato.runtime.intervals.search_orders import SearchOrders
from ostinato.runtime.intervals.situation_store import SituationStore


@dataclass
class IntervalPass:
    """`store` and `orders` are what it goes on with, `settings` those of the plan. `scratch` of scalar code is written to."""

    pattern: IntervalPattern
    plan: IntervalPlan
    store: SituationStore
    orders: SearchOrders
    settings: np.ndarray
    scratch: np.ndarray
    scratch_valid: np.ndarray

    @classmethod
    def over(cls, pattern: IntervalPattern, plan: IntervalPlan) -> IntervalPass:
        """All that there is of a pattern."""
        code, settings = plan.interpreter, plan.settings
        return cls(pattern, plan, SituationStore(pattern), SearchOrders(pattern, settings), settings, code.scratch, code.scratch_valid)

    def branch(self, store: SituationStore) -> IntervalPass:
        """One beside it, over a part of what is kept."""
        settings = self.settings.copy()
        settings[layout.STEP_LIMIT] -= self.store.header[layout.VISITED]
        orders = self.orders.branch(settings)
        return IntervalPass(self.pattern, self.plan, store, orders, settings, self.scratch.copy(), self.scratch_valid.copy())

    def begin(self) -> None:
        """What comes next is the first of its keys."""
        self.store.header[[layout.AT_KEY, layout.AT_ROW]] = 0, layout.NOTHING

    def advance(self, rows: RowArrays, given: KeyStretches, levels: np.ndarray) -> int:
        """See `kernels.intervals.intervals.advance`."""
        plan, orders, store, code = self.plan, self.orders, self.store, self.plan.interpreter
        status: int = kernel.advance(
            plan.definitions, plan.constraints, plan.bounds, orders.orders, orders.ranks_of, orders.last_related, plan.owners,
            self.settings, code.code, self.scratch, self.scratch_valid, code.ranks, *rows, store.situations, store.registers,
            store.register_valid, store.regions, store.per_key, store.places, store.ranges, orders.looked, orders.averages, store.header,
            store.found, store.found_registers, store.found_valid, *given.arrays(), levels,
        )  # fmt: skip
        return status

    def help(self, status: int) -> None:
        """The kernel stopped before it was through, and not because results have to be taken or a limit was met."""
        if status == layout.TOO_SMALL:
            self.store.make_room()
        elif status == layout.DRIFTED:
            self.orders.choose()
        else:
            raise self._failed(int(self.store.header[layout.ERROR]))

    def _failed(self, error: int) -> OstinatoError:
        if error == layout.BAD_START:
            message = f"a row of {self.pattern.reads.stream} has no start, or one behind its end or too far back"
            return DataError(message, hint="leave such rows out before")
        return self.plan.interpreter.error(error)
