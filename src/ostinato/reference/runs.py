"""Run-based selection (SASE+): strict and partition contiguity, skip till next, skip till any.

A run is the events selected so far. Every event may start one; each transition that an event offers to a run makes a run of its own:
take, begin, ignore. The module `transitions` is the meaning of these words; docs/semantics.md explains the decisions. Negation filters what
the runs find; a match that it kills is none, so it drops no runs and stops none.
"""

from __future__ import annotations

from typing import Any

from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.reference.elements import shape_of
from ostinato.reference.match import Match
from ostinato.reference.negation import is_match
from ostinato.reference.stream import ordered
from ostinato.reference.transitions import Run, RunTransitions


def run_matches(query: MatchQuery, rows: list[dict[str, Any]]) -> list[Match]:
    if query.output is Output.FIRST and query.selection is Selection.ANY:
        raise UnsupportedError("one match per start is not offered under skip till any match", hint="use output all or nonoverlapping")
    transitions = RunTransitions(query, ordered(query, rows), shape_of(query.pattern))
    collect = {Output.NONOVERLAPPING: _nonoverlapping, Output.FIRST: _first, Output.TIMEOUTS: _timed_out}.get(query.output, _all)
    return transitions.report(sorted(collect(transitions), key=transitions.rank))


def _all(transitions: RunTransitions) -> set[Run]:
    """Every match: a set, the same events under the same names count once."""
    found: set[Run] = set()
    runs: list[Run] = []
    for event in range(len(transitions.stream)):
        grown = [after for run in ((), *runs) for after in transitions.select(run, event)]
        found.update(run for run in grown if is_match(transitions, run))
        runs = grown + [run for run in runs if transitions.may_ignore(run, event)]
    return found


def _nonoverlapping(transitions: RunTransitions) -> set[Run]:
    """When a match completes, all runs of its partition are dropped, and the next one starts later than its end."""
    found: set[Run] = set()
    runs: list[Run] = []
    for event in range(len(transitions.stream)):
        grown = [after for run in ((), *runs) for after in transitions.select(run, event)]
        completed = [run for run in grown if is_match(transitions, run)]
        runs = grown + [run for run in runs if transitions.may_ignore(run, event)]
        if completed:
            found.add(min(completed, key=transitions.preference))
            runs = [run for run in runs if not transitions.in_partition(run, event)]
    return found


def _first(transitions: RunTransitions) -> set[Run]:
    """At most one match per start, by a run that prefers take, then the nearest begin, then ignore, and stops at its first match."""
    found: set[Run] = set()
    for start in range(len(transitions.stream)):
        run: Run = ()
        for event in range(start, len(transitions.stream)):
            selected = transitions.select(run, event)
            if selected:
                run = selected[0]
                if is_match(transitions, run):
                    found.add(run)
                    break
            elif not run or not transitions.may_ignore(run, event):
                break
    return found


def _timed_out(transitions: RunTransitions) -> set[Run]:
    """The runs that were no match yet, and could have gone on, when their window ended. The end of the input ends every window."""
    ended: set[Run] = set()
    runs: list[Run] = []
    for event in range(len(transitions.stream)):
        ended.update(run for run in runs if transitions.expired(run, event))
        grown = [after for run in ((), *runs) for after in transitions.select(run, event)]
        runs = grown + [run for run in runs if transitions.may_ignore(run, event)]
        ended.update(run for run in runs if transitions.is_counted_out(run, event))
    return {run for run in ended.union(runs) if transitions.may_continue(run) and not transitions.complete(run)}
