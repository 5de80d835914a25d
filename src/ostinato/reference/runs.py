"""Run-based selection (SASE+): strict and partition contiguity, skip till next, skip till any.

A run is the events selected so far. Every event may start one; each move that an event offers to a run makes a run of its own:
take, begin, ignore. The module `moves` is the meaning of these words; docs/semantics.md explains the decisions. Negation filters what
the runs find; a match that it kills is none, so it drops no runs and stops none.
"""

from __future__ import annotations

from typing import Any

from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.reference.components import shape_of
from ostinato.reference.match import Match
from ostinato.reference.moves import Moves, Run
from ostinato.reference.negation import is_match
from ostinato.reference.stream import ordered


def run_matches(query: MatchQuery, rows: list[dict[str, Any]]) -> list[Match]:
    if query.output is Output.FIRST and query.selection is Selection.ANY:
        raise UnsupportedError("one match per start is not offered under skip till any match", hint="use output all or nonoverlapping")
    moves = Moves(query, ordered(query, rows), shape_of(query.pattern))
    collect = {Output.NONOVERLAPPING: _nonoverlapping, Output.FIRST: _first, Output.TIMEOUTS: _timed_out}.get(query.output, _all)
    return moves.report(sorted(collect(moves), key=moves.rank))


def _all(moves: Moves) -> set[Run]:
    """Every match: a set, the same events under the same names count once."""
    found: set[Run] = set()
    runs: list[Run] = []
    for event in range(len(moves.stream)):
        grown = [after for run in ((), *runs) for after in moves.select(run, event)]
        found.update(run for run in grown if is_match(moves, run))
        runs = grown + [run for run in runs if moves.may_ignore(run, event)]
    return found


def _nonoverlapping(moves: Moves) -> set[Run]:
    """When a match completes, all runs of its partition are dropped, and the next one starts later than its end."""
    found: set[Run] = set()
    runs: list[Run] = []
    for event in range(len(moves.stream)):
        grown = [after for run in ((), *runs) for after in moves.select(run, event)]
        completed = [run for run in grown if is_match(moves, run)]
        runs = grown + [run for run in runs if moves.may_ignore(run, event)]
        if completed:
            found.add(min(completed, key=moves.preference))
            runs = [run for run in runs if not moves.in_partition(run, event)]
    return found


def _first(moves: Moves) -> set[Run]:
    """At most one match per start, by a run that prefers take, then the nearest begin, then ignore, and stops at its first match."""
    found: set[Run] = set()
    for start in range(len(moves.stream)):
        run: Run = ()
        for event in range(start, len(moves.stream)):
            selected = moves.select(run, event)
            if selected:
                run = selected[0]
                if is_match(moves, run):
                    found.add(run)
                    break
            elif not run or not moves.may_ignore(run, event):
                break
    return found


def _timed_out(moves: Moves) -> set[Run]:
    """The runs that were no match yet, and could have gone on, when their window ended. The end of the input ends every window."""
    ended: set[Run] = set()
    runs: list[Run] = []
    for event in range(len(moves.stream)):
        ended.update(run for run in runs if moves.expired(run, event))
        grown = [after for run in ((), *runs) for after in moves.select(run, event)]
        runs = grown + [run for run in runs if moves.may_ignore(run, event)]
        ended.update(run for run in runs if moves.is_counted_out(run, event))
    return {run for run in ended.union(runs) if moves.may_go_on(run) and not moves.complete(run)}
