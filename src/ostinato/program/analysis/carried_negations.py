"""Negations that a matcher can carry while it follows partial matches, instead of filtering matches afterwards.

NegatedEvent events that are known by their rows alone, between two elements that every match has, kill exactly the partial matches that
wait there: those whose last event stands before the negation and whose next one will stand behind it. Nothing that they kill could become
a match again, and transitions do not depend on them, so that dropping the partial matches leaves what a filter would leave. Of a negated
sequence those that wait know how far it has come since they began to: whichever event comes first leaves the most room for the next."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

from ostinato.program.negation import Negation
from ostinato.program.pattern import EventPattern

CARRYING = ("compact",)
MOST_STATES = 62  # they are a bit set


def is_carried(negation: Negation) -> bool:
    return negation.is_static and not negation.leads and not negation.trails


def crossed(pattern: EventPattern, source: int, target: int) -> tuple[int, ...]:
    """The negations between two elements, by number."""
    before, behind = pattern.elements[source].variable, pattern.elements[target].variable
    return tuple(number for number, negation in enumerate(pattern.negations) if before < negation.before <= behind)


def gap_sets(pattern: EventPattern, element: int) -> list[tuple[int, ...]]:
    """The different sets of negations that transitions out of an element cross."""
    found = {crossed(pattern, element, transition.target) for transition in pattern.elements[element].transitions}
    return sorted(found - {()})


def stages(pattern: EventPattern, gap: tuple[int, ...]) -> list[tuple[int, ...]]:
    """How far the negated events of each negation of a gap may have come without being there altogether, least first."""
    return list(product(*(range(len(pattern.negations[number].items)) for number in gap)))


def carried(pattern: EventPattern) -> EventPattern:
    """The program with those negations only that its matcher carries."""
    if pattern.evaluation not in CARRYING:
        return replace(pattern, negations=())
    chosen = replace(pattern, negations=tuple(filter(is_carried, pattern.negations)))
    gaps = [gap for element in range(len(chosen.elements)) for gap in gap_sets(chosen, element)]
    states = len(chosen.elements) + sum(prod(len(chosen.negations[number].items) for number in gap) for gap in gaps)
    return chosen if states <= MOST_STATES else replace(pattern, negations=())


def uncarried(pattern: EventPattern) -> EventPattern:
    """The program with those that have to filter what it finds."""
    known = carried(pattern).negations
    return replace(pattern, negations=tuple(negation for negation in pattern.negations if negation not in known)) if known else pattern
