"""A pattern of situations as the arrays that kernels read; see `kernels.intervals.interval_layout`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ostinato.kernels.intervals import interval_layout as layout
from ostinato.kernels.intervals.allen import AFTER, BEFORE, DURING, GROUP_OF, ZONE_OF
from ostinato.kernels.scalar.scalar import Interpreter
from ostinato.program.intervals import AllowedRelation, IntervalConstraint, IntervalPattern, SituationTest, inverse_of

UNLIMITED = 1 << 62


class IntervalPlan:
    def __init__(self, pattern: IntervalPattern, most: int | None) -> None:
        self.interpreter = Interpreter(pattern.scalar)
        self.definitions = np.array([self._definition(one) for one in pattern.definitions], np.int64)
        self.bounds = np.array(
            [(one.relation, one.least, one.most) for constraint in pattern.constraints for one in constraint.allowed if one.bounded],
            np.int64,
        ).reshape(-1, 3)
        derived = [one.start < 0 for one in pattern.definitions]
        self.constraints = np.array(_constraints(pattern.constraints, derived), np.int64).reshape(-1, layout.CONSTRAINT_COLUMNS)
        self.owners = np.array(pattern.owners, np.int64)
        self.settings = np.full(layout.SETTINGS, UNLIMITED, np.int64)
        self.settings[layout.WITHIN] = layout.OPEN if pattern.within < 0 else pattern.within
        self.settings[layout.IS_FINAL] = pattern.latency == "final"
        self.settings[layout.PASSES_OVER] = pattern.passes_over and all(one.reads < 0 and one.start < 0 for one in pattern.definitions)
        self.settings[layout.DROPS_PARTNERLESS] = pattern.drops_partnerless
        self.settings[layout.EACH] = pattern.each
        self.settings[layout.LIMIT] = UNLIMITED if most is None else most

    def _definition(self, one: SituationTest) -> list[int]:
        block = (layout.NOTHING, layout.NOTHING) if one.block < 0 else tuple(map(int, self.interpreter.blocks[one.block]))
        most = layout.OPEN if one.at_most < 0 else one.at_most
        return [_mask(one.bit), _mask(one.reads), *block[:2], max(one.at_least, 0), most, one.start]


def _constraints(constraints: tuple[IntervalConstraint, ...], derived: list[bool]) -> list[list[int]]:
    lines, end = [], 0
    for one in constraints:
        begin, end = end, end + sum(related.bounded for related in one.allowed)
        turned = tuple(replace(related, relation=inverse_of(related.relation)) for related in one.allowed)
        line = [one.first, one.second, _bits(related.relation for related in one.allowed if not related.bounded)]
        line += [_bits(GROUP_OF[related.relation] for related in allowed) for allowed in (one.allowed, turned)]
        line += [begin, end, _whole(one.allowed), _whole(turned), *_gap(one.allowed, BEFORE), *_gap(one.allowed, AFTER)]
        closed = _bits(side for side, closes in enumerate(one.closes(derived[one.first], derived[one.second])) if closes)
        zones = [_bits(ZONE_OF[related.relation] for related in allowed) for allowed in (one.allowed, turned)]
        lines.append([*line, closed, *zones])
    return lines


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in set(numbers))


def _whole(allowed: tuple[AllowedRelation, ...]) -> int:
    """The groups of which every relation is allowed; a gap that is bounded once is found by search."""
    free = {related.relation for related in allowed if not related.bounded}
    gaps = {one for one in (BEFORE, AFTER) if len({related for related in allowed if related.relation == one}) == 1}
    held = free | gaps
    whole = [group for group in set(GROUP_OF) if all(one in held for one, own in enumerate(GROUP_OF) if own == group)]
    return _bits(whole) | (DURING in free) << layout.INNER


def _gap(allowed: tuple[AllowedRelation, ...], relation: int) -> tuple[int, int]:
    """Its least and its most length; of several the whole between them."""
    own = [related for related in allowed if related.relation == relation]
    if not own or not all(related.bounded for related in own):
        return 1, layout.OPEN
    return min(related.least for related in own), max(related.most for related in own)


def _mask(bit: int) -> int:
    return 0 if bit < 0 else int(np.uint64(1 << bit).view(np.int64))
