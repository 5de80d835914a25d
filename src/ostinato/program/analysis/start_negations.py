"""Negations that are decided by the first event of a match and the events on its way, whatever else it selects: where matches are counted,
they can be counted start by start, and no candidate has to be looked at.

Such are those before the match and behind it (the window goes from its first event), and those inside whose events are compared with its
first one alone: for one start they are known by their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ostinato.program.analysis.carried_negations import carried, uncarried
from ostinato.program.measure_code import Point
from ostinato.program.negation import NegatedEvent, Negation
from ostinato.program.pattern import EventPattern

MOST_BITS = 62


@dataclass(frozen=True)
class Compared:
    """A negation with one item that is compared with the first event: bit `bit` says that a row is one for a start."""

    bit: int
    negation: Negation


@dataclass(frozen=True)
class StartNegations:
    """`program` has the negations inside of a match, each known by bits. Rows with one of the bits `leading`, or `trailing`, are negated
    before, or behind it (-1: every row is)."""

    pattern: EventPattern
    leading: tuple[int, ...]
    trailing: tuple[int, ...]
    compared: tuple[Compared, ...]

    @property
    def own_bits(self) -> int:
        """The bits that say something for a start only."""
        return sum(1 << one.bit for one in self.compared)


def start_negations(pattern: EventPattern) -> StartNegations | None:
    """None where there are others, or candidates are few: what makes them many is a repetition under skip till any match."""
    if pattern.evaluation != "compact" or pattern.output != "count" or pattern.selection != "skip_till_any_match":
        return None
    if len(pattern.initial) != 1 or not uncarried(pattern).negations or not any(one.repeats for one in pattern.elements):
        return None
    free = [bit for bit in range(MOST_BITS) if bit not in _bits(pattern)]
    dynamic = [negation for negation in pattern.negations if not negation.is_static]
    outside = [negation for negation in pattern.negations if negation.leads or negation.trails]
    if len(dynamic) > len(free) or not all(_asks_the_start(pattern, negation) for negation in dynamic):
        return None
    if not all(_stands_apart(pattern, negation) for negation in outside):
        return None
    compared = tuple(Compared(bit, negation) for bit, negation in zip(free, dynamic, strict=False))
    bits = {one.negation: one.bit for one in compared}
    known = tuple(replace(one, items=(NegatedEvent(bits[one]),)) if one in bits else one for one in pattern.negations)
    inner = replace(pattern, negations=tuple(negation for negation in known if not negation.leads and not negation.trails))
    if carried(inner).negations != inner.negations:
        return None
    leading = tuple(negation.items[0].bit for negation in known if negation.leads)
    trailing = tuple(negation.items[0].bit for negation in known if negation.trails)
    return StartNegations(inner, leading, trailing, compared)


def _bits(pattern: EventPattern) -> set[int]:
    of_elements = {bit for element in pattern.elements for bit in (element.first_bit, element.later_bit)}
    return of_elements | {item.bit for negation in pattern.negations for item in negation.items}


def _stands_apart(pattern: EventPattern, negation: Negation) -> bool:
    """Whether it stands before every match, or behind every one, and not between two events of any. What is negated before a match is
    known by its row alone: the start has not come yet."""
    if len(negation.items) > 1 or (negation.leads and (negation.trails or not negation.is_static)):
        return False
    return all((element.variable >= negation.before) == negation.leads for element in pattern.elements)


def _asks_the_start(pattern: EventPattern, negation: Negation) -> bool:
    """Whether it is about one event, and what its test wants of the match is the first event's."""
    given, entry = negation.given, pattern.elements[pattern.initial[0].target]

    def of_start(point: Point) -> bool:
        is_first = point.anchor == "FIRST" or (point.variable == entry.variable and not entry.repeats)
        return point.variable in (-1, entry.variable) and is_first and point.offset == 0 and point.shift == 0

    return len(negation.items) == 1 and not given.aggregates and all(map(of_start, given.points))
