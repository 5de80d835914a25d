"""Negations that a matcher can carry while it follows partial matches, instead of filtering matches afterwards.

A forbidden event that is known by its row alone, between two components that every match has, kills exactly the partial matches that wait
there: those whose last event stands before the negation and whose next one will stand behind it. Nothing that it kills could become a
match again, and moves do not depend on it, so that dropping the partial matches leaves what a filter would leave."""

from __future__ import annotations

from dataclasses import replace

from ostinato.program.program import Negation, Program

CARRYING = ("compact",)
MOST_STATES = 62  # they are a bit set


def is_carried(negation: Negation) -> bool:
    return negation.is_static and len(negation.items) == 1 and not negation.leads and not negation.trails


def crossed(program: Program, source: int, target: int) -> tuple[int, ...]:
    """The negations between two components, by number."""
    before, behind = program.components[source].variable, program.components[target].variable
    return tuple(number for number, negation in enumerate(program.negations) if before < negation.before <= behind)


def gap_sets(program: Program, component: int) -> list[tuple[int, ...]]:
    """The different sets of negations that moves out of a component cross."""
    found = {crossed(program, component, begin.target) for begin in program.components[component].begins}
    return sorted(found - {()})


def carried(program: Program) -> Program:
    """The program with those negations only that its matcher carries."""
    if program.strategy not in CARRYING:
        return replace(program, negations=())
    chosen = replace(program, negations=tuple(filter(is_carried, program.negations)))
    states = sum(1 + len(gap_sets(chosen, component)) for component in range(len(chosen.components)))
    return chosen if states <= MOST_STATES else replace(program, negations=())


def uncarried(program: Program) -> Program:
    """The program with those that have to filter what it finds."""
    known = carried(program).negations
    return replace(program, negations=tuple(negation for negation in program.negations if negation not in known)) if known else program
