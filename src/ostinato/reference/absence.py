"""Negation: a complete run is a match unless forbidden events lie in one of its gaps."""

from __future__ import annotations

from dataclasses import replace

from ostinato.algebra.pattern import Sequence, Variable
from ostinato.algebra.query import MatchQuery, Negation, Unit, Within
from ostinato.base.errors import UnsupportedError
from ostinato.reference.components import shape_of
from ostinato.reference.moves import Moves, Run
from ostinato.reference.stream import elapsed


def nothing_forbidden(moves: Moves, run: Run) -> bool:
    """Each negation by itself, adjacent ones too."""
    return not any(_occurs(moves, run, negation) for negation in moves.query.negations)


def _occurs(moves: Moves, run: Run, negation: Negation) -> bool:
    """Whether the forbidden events are found, by the query's selection, entirely inside the gap."""
    forbidden = _forbidden(moves.query, negation)
    inner = Moves(forbidden, moves.stream, shape_of(forbidden.pattern), moves.named(run))
    runs: list[Run] = []
    for event in _gap(moves, run, negation):
        grown = [after for begun in ((), *runs) for after in inner.select(begun, event)]
        if any(inner.complete(found) for found in grown):
            return True
        runs = grown + [begun for begun in runs if inner.may_ignore(begun, event)]
    return False


def _forbidden(query: MatchQuery, negation: Negation) -> MatchQuery:
    """The negated events as a query. No window: the gap lies inside the window of the match."""
    pattern = Sequence(tuple(Variable(item.variable) for item in negation.items))
    return replace(query, pattern=pattern, definitions=negation.items, within=None, negations=())


def _gap(moves: Moves, run: Run, negation: Negation) -> range:
    """Strictly between the last event selected before the negation and the first selected after it. With nothing selected on one
    side it stands at that end of the match, and the window bounds it."""
    before = [index for index, number in run if number < negation.position]
    after = [index for index, number in run if number >= negation.position]
    if before and after:
        return range(before[-1] + 1, after[0])
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
