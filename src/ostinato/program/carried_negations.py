"""Negations that a matcher can carry while it follows partial matches, instead of filtering matches afterwards.

Forbidden events that are known by their rows alone, between two components that every match has, kill exactly the partial matches that
wait there: those whose last event stands before the negation and whose next one will stand behind it. Nothing that they kill could become
a match again, and moves do not depend on them, so that dropping the partial matches leaves what a filter would leave. Of a forbidden
sequence those that wait know how far it has come since they began to: whichever event comes first leaves the most room for the next."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

from ostinato.program.program import Negation, Program

CARRYING = ("compact",)
MOST_STATES = 62  # they are a bit set


def is_carried(negation: Negation) -> bool:
    return negation.is_static and not negation.leads and not negation.trails


def crossed(program: Program, source: int, target: int) -> tuple[int, ...]:
    """The negations between two components, by number."""
    before, behind = program.components[source].variable, program.components[target].variable
    return tuple(number for number, negation in enumerate(program.negations) if before < negation.before <= behind)


def gap_sets(program: Program, component: int) -> list[tuple[int, ...]]:
    """The different sets of negations that moves out of a component cross."""
    found = {crossed(program, component, begin.target) for begin in program.components[component].begins}
    return sorted(found - {()})


def stages(program: Program, gap: tuple[int, ...]) -> list[tuple[int, ...]]:
    """How far the forbidden events of each negation of a gap may have come without being there altogether, least first."""
    return list(product(*(range(len(program.negations[number].items)) for number in gap)))


def carried(program: Program) -> Program:
    """The program with those negations only that its matcher carries."""
    if program.strategy not in CARRYING:
        return replace(program, negations=())
    chosen = replace(program, negations=tuple(filter(is_carried, program.negations)))
    gaps = [gap for component in range(len(chosen.components)) for gap in gap_sets(chosen, component)]
    states = len(chosen.components) + sum(prod(len(chosen.negations[number].items) for number in gap) for gap in gaps)
    return chosen if states <= MOST_STATES else replace(program, negations=())


def uncarried(program: Program) -> Program:
    """The program with those that have to filter what it finds."""
    known = carried(program).negations
    return replace(program, negations=tuple(negation for negation in program.negations if negation not in known)) if known else program
