"""In which orders situations are looked for: as planned, until moving averages say that others cost less.

Nothing is kept between two moments but situations, so that orders change between them without anything to take along."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.intervals import interval_layout as layout
from ostinato.program.analysis.search_cost import FIRST_SIZE, SearchCost, first_selectivity
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.snapshots.state_check import StateCheck

FIRST_PERIOD = 1 << 10  # of work: situations looked at, and searches
LAST_PERIOD = 1 << 15  # where averages drift and the orders stay as they are


class SearchOrders:
    def __init__(self, pattern: IntervalPattern, settings: np.ndarray) -> None:
        count = len(pattern.definitions)
        self._settings = settings
        self._pairs = tuple((one.first, one.second) for one in pattern.constraints)
        self._adapts = pattern.adapts and count > 2  # of two, one is the other's only choice
        self._first = np.array([FIRST_SIZE] * count + [first_selectivity(one) for one in pattern.constraints] * count, np.float64)
        self.averages = np.tile(self._first, (layout.AVERAGES, 1))
        self.averages[layout.KNOWN] = 0.0
        self.looked = np.zeros((layout.LOOKED, len(self._first)), np.int64)
        self.changes = 0
        settings[layout.PERIOD] = FIRST_PERIOD if self._adapts else layout.OPEN
        self._set(np.array(pattern.orders, np.int64))

    def _set(self, orders: np.ndarray) -> None:
        self.orders = orders
        self.ranks_of = np.ascontiguousarray(np.argsort(orders, axis=1))
        self.last_related = np.zeros(len(orders), np.int64)
        for pair in self._pairs:
            for own, other in (pair, pair[::-1]):
                self.last_related[own] = max(self.last_related[own], self.ranks_of[own, other])

    def choose(self) -> None:
        """By the averages as they are now."""
        self.averages[layout.PLANNED] = self.averages[layout.CURRENT]
        orders = self._cheapest()
        if np.array_equal(orders, self.orders):
            self._settings[layout.PERIOD] = min(2 * self._settings[layout.PERIOD], LAST_PERIOD)
            return
        self.changes += 1
        self._settings[layout.PERIOD] = FIRST_PERIOD
        self._set(orders)

    def _cheapest(self) -> np.ndarray:
        count, pairs = len(self.orders), len(self._pairs)
        known = self.averages[layout.PLANNED].tolist()
        sizes, parts = [max(size, layout.LEAST_SIZE) for size in known[:count]], known[count:]
        costs = [SearchCost(self._pairs, sizes, parts[pairs * first : pairs * (first + 1)]) for first in range(count)]
        return np.array([cost.order_from(first) for first, cost in enumerate(costs)], np.int64)

    def state(self) -> dict[str, np.ndarray]:
        """Averages as words, as all numbers of a snapshot are."""
        return {"averages": self.averages.view(np.int64)}

    def check(self, state: StateCheck) -> None:
        averages = state.array("averages", np.int64, *self.averages.shape).view(np.float64)
        state.require(bool(((averages >= 0) & (averages < layout.OPEN)).all()), "averages that can be")

    def load(self, state: dict[str, np.ndarray]) -> None:
        """What was measured is known again; the orders follow from it."""
        self.averages = state["averages"].view(np.float64).copy()
        if self._adapts and not np.array_equal(self.averages[layout.PLANNED], self._first):
            self._set(self._cheapest())
