"""In which orders situations are looked for: as planned, until moving averages say that others cost less.

Nothing is kept between two moments but situations, so that orders change between them without anything to take along."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from ostinato.kernels.intervals import interval_layout as layout
from ostinato.program.analysis.search_cost import FIRST_SIZE, SearchCost, first_selectivity
from ostinato.program.intervals import IntervalPattern
from ostinato.runtime.snapshots.state_check import StateCheck

LEAST = 1e-6  # situations that are left: none have been seen so far
FIRST_PERIOD = 1 << 10  # of work: situations looked at, and searches
LAST_PERIOD = 1 << 14  # where averages drift and the orders stay as they are


class SearchOrders:
    def __init__(self, pattern: IntervalPattern, settings: np.ndarray) -> None:
        count = len(pattern.definitions)
        self._settings = settings
        self._pairs = tuple((one.first, one.second) for one in pattern.constraints)
        self._adapts = pattern.adapts and count > 2  # of two, one is the other's only choice
        parts = [first_selectivity(one) for one in pattern.constraints] * count
        self.averages = np.zeros((layout.AVERAGES, count + len(parts)), np.float64)
        self.averages[[layout.CURRENT, layout.PLANNED]] = FIRST_SIZE * np.array([1.0] * count + parts)
        self.averages[layout.AMONG] = FIRST_SIZE
        self.looked = np.zeros((layout.LOOKED, count + len(parts)), np.int64)
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

    def branch(self, settings: np.ndarray) -> SearchOrders:
        """The same orders for a part of the rows, which learns by itself."""
        part = copy(self)
        part._settings = settings
        part.averages, part.looked, part.changes = self.averages.copy(), np.zeros_like(self.looked), 0
        return part

    def learn(self, parts: Sequence[SearchOrders]) -> None:
        """What was measured in parts is known of the whole: each counts as often as its averages were brought up to date."""
        times = np.stack([part.averages[layout.KNOWN] for part in parts]) - self.averages[layout.KNOWN]
        learned = times.sum(axis=0) > 0
        for line in (layout.CURRENT, layout.AMONG):
            sums = sum(own * part.averages[line] for own, part in zip(times, parts, strict=True))
            self.averages[line, learned] = sums[learned] / times.sum(axis=0)[learned]
        self.averages[layout.KNOWN] += times.sum(axis=0)
        for part in parts:
            self.looked += part.looked
            self.changes += part.changes
        if any(not np.array_equal(part.averages[layout.PLANNED], self.averages[layout.PLANNED]) for part in parts):
            self.choose()

    def _cheapest(self) -> np.ndarray:
        count, pairs = len(self.orders), len(self._pairs)
        left, among = self.averages[[layout.CURRENT, layout.AMONG]].clip(LEAST)
        sizes, parts = left[:count].clip(1.0).tolist(), (left / among)[count:].clip(max=1.0).tolist()
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
        if self._adapts and self.averages[layout.KNOWN].any():
            self._set(self._cheapest())
