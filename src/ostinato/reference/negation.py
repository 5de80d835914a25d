"""Negation: a complete run is a match unless the item of one of its negations has a match in the gap."""

from __future__ import annotations

from dataclasses import replace

from ostinato.algebra.pattern import Negation
from ostinato.algebra.query import Unit, Within
from ostinato.base.errors import UnsupportedError
from ostinato.reference.elements import shape_of
from ostinato.reference.stream import elapsed
from ostinato.reference.transitions import Run, RunTransitions


def is_match(transitions: RunTransitions, run: Run) -> bool:
    """Each negation by itself, adjacent ones too. Those of alternatives that were not taken say nothing."""
    if not transitions.complete(run):
        return False
    (line,) = transitions.open_lines(run)
    return not any(_occurs(transitions, run, negation, line.elements[:before]) for negation, before in line.negations)


def _occurs(transitions: RunTransitions, run: Run, negation: Negation, before: tuple[int, ...]) -> bool:
    """Whether the item has a match, by the query's selection, entirely inside the gap: the same meaning over a part of the stream, with
    no window, for the gap lies inside that of the match."""
    gap = _gap(transitions, run, negation, before)
    item = replace(transitions.query, pattern=negation.item, within=None)
    inner = RunTransitions(item, transitions.stream, shape_of(item.pattern), (*transitions.given, *transitions.named(run)), gap)
    runs: list[Run] = []
    for event in gap:
        grown = [after for begun in ((), *runs) for after in inner.select(begun, event)]
        if any(is_match(inner, found) for found in grown):
            return True
        runs = grown + [begun for begun in runs if inner.may_ignore(begun, event)]
    return False


def _gap(transitions: RunTransitions, run: Run, negation: Negation, elements: tuple[int, ...]) -> range:
    """Strictly between the last event selected before the negation and the first selected after it, in time where simultaneous events do
    not follow one another. With nothing selected on one side it stands at that end of the match: the surrounding gap bounds it, else the
    window."""
    before = [index for index, number in run if number in elements]
    after = [index for index, number in run if number not in elements]
    if before and after:
        return range(_next(transitions, before[-1]), _end_before(transitions, after[0]))
    if transitions.inside is not None:
        begin, end = transitions.inside.start, transitions.inside.stop
        return range(_next(transitions, before[-1]), end) if before else range(begin, _end_before(transitions, after[0]))
    if transitions.query.within is None:
        raise UnsupportedError("a negation that can stand at an end of the match needs a window", span=negation.span)
    return _before(transitions, run, transitions.query.within) if after else _after(transitions, run, transitions.query.within)


def _before(transitions: RunTransitions, run: Run, within: Within) -> range:
    first, last = run[0][0], run[-1][0]
    begin = next(index for index in range(first + 1) if _fits(transitions, within, run, index, last))
    return range(begin, _end_before(transitions, first))


def _after(transitions: RunTransitions, run: Run, within: Within) -> range:
    first, last = run[0][0], run[-1][0]
    end = len(transitions.stream)
    behind = next((index for index in range(last + 1, end) if not _fits(transitions, within, run, first, index)), end)
    return range(_next(transitions, last), behind)


def _next(transitions: RunTransitions, event: int) -> int:
    """The first event that can follow this one."""
    end = len(transitions.stream)
    return next((later for later in range(event + 1, end) if not transitions.simultaneous(event, later)), end)


def _end_before(transitions: RunTransitions, event: int) -> int:
    """Behind the last event that this one can follow."""
    return next((before + 1 for before in range(event - 1, -1, -1) if not transitions.simultaneous(before, event)), 0)


def _fits(transitions: RunTransitions, within: Within, run: Run, first: int, last: int) -> bool:
    """Whether the window could reach from one event to the other. A window of events counts those of the run's partition."""
    if within.unit is Unit.TIME:
        return elapsed(transitions.query, transitions.stream[first], transitions.stream[last]) <= within.length
    return sum(transitions.in_partition(run, index) for index in range(first, last + 1)) <= within.length
