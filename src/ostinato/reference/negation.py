"""Negation: a complete run is a match unless the item of one of its negations has a match in the gap."""

from __future__ import annotations

from dataclasses import replace

from ostinato.algebra.pattern import Negation
from ostinato.algebra.query import Unit, Within
from ostinato.base.errors import UnsupportedError
from ostinato.reference.components import shape_of
from ostinato.reference.moves import Moves, Run
from ostinato.reference.stream import elapsed


def is_match(moves: Moves, run: Run) -> bool:
    """Each negation by itself, adjacent ones too. Those of alternatives that were not taken say nothing."""
    if not moves.complete(run):
        return False
    (line,) = moves.open_lines(run)
    return not any(_occurs(moves, run, negation, line.components[:before]) for negation, before in line.negations)


def _occurs(moves: Moves, run: Run, negation: Negation, before: tuple[int, ...]) -> bool:
    """Whether the item has a match, by the query's selection, entirely inside the gap: the same meaning over a part of the stream, with
    no window, for the gap lies inside that of the match."""
    gap = _gap(moves, run, negation, before)
    item = replace(moves.query, pattern=negation.item, within=None)
    inner = Moves(item, moves.stream, shape_of(item.pattern), (*moves.given, *moves.named(run)), gap)
    runs: list[Run] = []
    for event in gap:
        grown = [after for begun in ((), *runs) for after in inner.select(begun, event)]
        if any(is_match(inner, found) for found in grown):
            return True
        runs = grown + [begun for begun in runs if inner.may_ignore(begun, event)]
    return False


def _gap(moves: Moves, run: Run, negation: Negation, components: tuple[int, ...]) -> range:
    """Strictly between the last event selected before the negation and the first selected after it. With nothing selected on one
    side it stands at that end of the match: the surrounding gap bounds it, else the window."""
    before = [index for index, number in run if number in components]
    after = [index for index, number in run if number not in components]
    if before and after:
        return range(before[-1] + 1, after[0])
    if moves.inside is not None:
        return range(before[-1] + 1, moves.inside.stop) if before else range(moves.inside.start, after[0])
    if moves.query.within is None:
        raise UnsupportedError("a negation that can stand at an end of the match needs a window", span=negation.span)
    return _before(moves, run, moves.query.within) if after else _after(moves, run, moves.query.within)


def _before(moves: Moves, run: Run, within: Within) -> range:
    first, last = run[0][0], run[-1][0]
    return range(next(index for index in range(first + 1) if _fits(moves, within, run, index, last)), first)


def _after(moves: Moves, run: Run, within: Within) -> range:
    first, last = run[0][0], run[-1][0]
    end = len(moves.stream)
    return range(last + 1, next((index for index in range(last + 1, end) if not _fits(moves, within, run, first, index)), end))


def _fits(moves: Moves, within: Within, run: Run, first: int, last: int) -> bool:
    """Whether the window could reach from one event to the other. A window of events counts those of the run's partition."""
    if within.unit is Unit.TIME:
        return elapsed(moves.query, moves.stream[first], moves.stream[last]) <= within.length
    return sum(moves.in_partition(run, index) for index in range(first, last + 1)) <= within.length
