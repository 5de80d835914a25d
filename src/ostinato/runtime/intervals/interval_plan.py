"""A pattern of situations as the arrays that kernels read; see `kernels.intervals.interval_layout`."""

from __future__ import annotations

import numpy as np

from ostinato.kernels.intervals import interval_layout as layout
from ostinato.kernels.intervals.allen import GROUP_OF
from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.program.intervals import IntervalConstraint, IntervalPattern, SituationTest, inverse_of

UNLIMITED = 1 << 62


class IntervalPlan:
    def __init__(self, pattern: IntervalPattern, most: int | None) -> None:
        self.interpreter = Interpreter(pattern.scalar)
        self.definitions = np.array([self._definition(one) for one in pattern.definitions], np.int64)
        self.bounds = np.array(
            [(one.relation, one.least, one.most) for constraint in pattern.constraints for one in constraint.allowed if one.bounded],
            np.int64,
        ).reshape(-1, 3)
        self.constraints = self._constraints(pattern.constraints)
        self.orders = np.array(pattern.orders, np.int64)
        self.ranks_of = np.ascontiguousarray(np.argsort(self.orders, axis=1))
        self.owners = np.array(pattern.owners, np.int64)
        self.settings = np.full(layout.SETTINGS, UNLIMITED, np.int64)
        self.settings[layout.WITHIN] = layout.OPEN if pattern.within < 0 else pattern.within
        self.settings[layout.IS_FINAL] = pattern.latency == "final"
        self.settings[layout.PASSES_OVER] = pattern.passes_over and all(one.reads < 0 and one.start < 0 for one in pattern.definitions)
        self.settings[layout.EACH] = pattern.each
        self.settings[layout.LIMIT] = UNLIMITED if most is None else most

    def _definition(self, one: SituationTest) -> list[int]:
        block = (layout.NOTHING, layout.NOTHING) if one.block < 0 else tuple(map(int, self.interpreter.blocks[one.block]))
        most = layout.OPEN if one.at_most < 0 else one.at_most
        return [_mask(one.bit), _mask(one.reads), *block[:2], max(one.at_least, 0), most, one.start]

    @staticmethod
    def _constraints(constraints: tuple[IntervalConstraint, ...]) -> np.ndarray:
        lines, end = [], 0
        for one in constraints:
            begin, end = end, end + sum(related.bounded for related in one.allowed)
            allowed = sum(1 << relation for relation in {related.relation for related in one.allowed if not related.bounded})
            groups = sum(1 << group for group in {GROUP_OF[related.relation] for related in one.allowed})
            inverse = sum(1 << group for group in {GROUP_OF[inverse_of(related.relation)] for related in one.allowed})
            lines.append((one.first, one.second, allowed, groups, inverse, begin, end))
        return np.array(lines, np.int64).reshape(-1, layout.CONSTRAINT_COLUMNS)


def _mask(bit: int) -> int:
    return 0 if bit < 0 else int(np.uint64(1 << bit).view(np.int64))
