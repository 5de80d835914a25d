"""Picks the strategy for a query, and says why."""

from __future__ import annotations

from dataclasses import replace

from ostinato.algebra.event_streams import EventQuery
from ostinato.algebra.pattern import is_nested
from ostinato.algebra.policies import MatchOrder, Output, Selection, Ties
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import MatchIntervals, SituationStream
from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.expr.nodes import MatchNumber
from ostinato.plan.compact_choice import against_compact
from ostinato.plan.emit import Emitter
from ostinato.plan.instances.emit_automaton import AutomatonEmitter
from ostinato.plan.intervals.emit_intervals import IntervalEmitter
from ostinato.plan.tree.emit_tree import TreeEmitter
from ostinato.plan.tree.flat_sequence import flat_sequence
from ostinato.program.analysis.event_sequence import event_sequence
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.tree import TreePattern
from ostinato.program.verification.verify import verify_pattern

ROW_EVALUATIONS = ("scan", "threads")
EVENT_EVALUATIONS = ("runs", "compact", "backtrack")
TREE_EVALUATIONS = ("joins", "iterative", "object cache", "semantic cache")
SEQUENCES = "compact"  # of nested patterns, too, where they are sequences of events
STREAM_EVALUATIONS = ("instances",)
INTERVAL_EVALUATIONS = ("intervals",)
TREE_REASONS = {
    "joins": "nested: events are joined in the order that is expected to look at the fewest, by value where they are equal",
    "iterative": "asked for: nested expressions are searched again for every combination of outer events",
    "object cache": "asked for: the matches of each nested expression are kept in one list",
    "semantic cache": "asked for: the matches of each nested expression are kept by the intervals that they were asked for",
    "compact": "asked for: a sequence of events, whose matches are listed as those of compact",
}


def plan(query: MatchQuery, strategy: str | None = None, by_key: bool = True) -> Pattern:
    """`strategy` forces one, for comparison; one that cannot evaluate the query is refused with the reason. `by_key`: nested patterns whose
    events are all equal in a column are evaluated value by value."""
    _check_known(strategy)
    if strategy in STREAM_EVALUATIONS:
        raise _refusal(strategy, "it evaluates expressions over streams of events that last")
    if strategy in INTERVAL_EVALUATIONS:
        raise _refusal(strategy, "it evaluates patterns of situations")
    if query.selection is Selection.PREFERRED:
        return _plan_rows(query, strategy)
    if query.listed is MatchOrder.INTERVAL and _counts_sequences(query, strategy):
        flat = _flat(query, strategy, by_key)
        return _plan_tree(query, strategy, by_key, flat) if isinstance(flat, str) else flat
    if query.listed is MatchOrder.INTERVAL or is_nested(query.pattern):
        return _plan_tree(query, strategy, by_key)
    if strategy in TREE_EVALUATIONS:
        raise _refusal(strategy, "it evaluates nested patterns, and this is a sequence of events")
    return _plan_events(query, strategy)


def plan_streams(query: EventQuery, strategy: str | None = None, by_key: bool = True, by_value: bool = True) -> InstanceAutomaton:
    """Expressions over streams have one evaluation. `by_value`: instances are found by what they have to be equal in."""
    _check_known(strategy)
    if strategy not in (None, *STREAM_EVALUATIONS):
        raise _refusal(str(strategy), "it combines streams of events that last")
    return AutomatonEmitter(query, by_key, by_value).emit()


def plan_intervals(query: MatchIntervals | SituationStream, strategy: str | None = None) -> IntervalPattern:
    """Situations and patterns of them have one evaluation."""
    _check_known(strategy)
    if strategy not in (None, *INTERVAL_EVALUATIONS):
        raise _refusal(str(strategy), "it is a query of situations")
    return IntervalEmitter(query).emit()


def _counts_sequences(query: MatchQuery, wanted: str | None) -> bool:
    """Whether a nested pattern, if it is a sequence of events, is counted as one of SASE+ from the first row on: where that is asked for,
    or nothing would ever be forgotten."""
    if query.output is not Output.COUNT or wanted in TREE_EVALUATIONS:
        return False
    return wanted is not None or query.within is None


def _flat(query: MatchQuery, wanted: str | None, by_key: bool) -> EventPattern | str:
    """A nested pattern that is a sequence of events, or why it is not counted so."""
    flat = flat_sequence(query, by_key)
    if isinstance(flat, str):
        if wanted is not None:
            raise _refusal(wanted, f"it is a nested pattern: {flat}")
        return flat
    pattern = _plan_events(flat, wanted)
    against = against_compact(flat, pattern) if wanted is None and pattern.evaluation != SEQUENCES else None
    if against is not None:
        return against
    return replace(pattern, reason=f"a sequence of events, nothing is left of the nesting; {pattern.reason}")


def _check_known(strategy: str | None) -> None:
    known = (*ROW_EVALUATIONS, *EVENT_EVALUATIONS, *TREE_EVALUATIONS, *STREAM_EVALUATIONS, *INTERVAL_EVALUATIONS)
    if strategy is not None and strategy not in known:
        raise OstinatoError(f'there is no strategy "{strategy}"', hint=f"the strategies are {', '.join(known)}")


def _plan_rows(query: MatchQuery, wanted: str | None) -> RowPattern:
    if query.ties is Ties.EPOCH:
        raise UnsupportedError("row patterns order all rows of a partition, simultaneous ones too", hint="leave out ties=")
    if query.output is not Output.ALL:
        raise UnsupportedError(f"the output {query.output.value} belongs to event patterns", hint="aggregate the result instead")
    if query.negations:
        raise UnsupportedError("negation belongs to event patterns", span=query.negations[0].span)
    if is_nested(query.pattern):
        raise UnsupportedError("conjunctions, and conditions on a part of a pattern, belong to event patterns")
    if query.timeouts:
        _check_timeouts(query)
    emitter = Emitter(query)
    if wanted is not None and wanted in EVENT_EVALUATIONS:
        raise _refusal(wanted, "it evaluates event patterns, and this is a row pattern")
    if emitter.dynamic:
        if wanted == "scan":
            raise _refusal(wanted, "some conditions look at other rows of the match")
        return emitter.emit_rows("threads", "preferred match; some conditions look at other rows of the match")
    if query.skip_to is not None:
        if wanted == "scan":
            raise _refusal(wanted, "where the search goes on depends on the variables of a match")
        return emitter.emit_rows("threads", f"preferred match; the search goes on at {query.skip_to}")
    if wanted == "threads":
        return emitter.emit_rows("threads", "asked for")
    return emitter.emit_rows("scan", "preferred match; every condition looks at the row and its neighbours only")


def _check_timeouts(query: MatchQuery) -> None:
    """A partial match has no number."""
    conditions = [condition.expr for definition in query.definitions for condition in definition.conditions]
    for expr in (*conditions, *(measure.expr for measure in query.measures or ())):
        if any(isinstance(node, MatchNumber) for node in expr.walk()):
            message = "MATCH_NUMBER() is not offered together with SHOW TIMEOUT MATCHES"
            raise UnsupportedError(message, hint="leave one of them out", span=expr.span)


def _plan_tree(query: MatchQuery, wanted: str | None, by_key: bool, uncounted: str = "") -> TreePattern:
    """`uncounted`: why its matches are not counted as those of a sequence."""
    if wanted is not None and wanted not in (*TREE_EVALUATIONS, SEQUENCES):
        raise _refusal(wanted, "it is a nested pattern")
    if query.selection is not Selection.ANY or query.ties is not Ties.EPOCH or query.partition:
        raise _refusal(wanted or "joins", "it selects any events, strictly in time")
    if query.output not in (Output.ALL, Output.COUNT):
        raise UnsupportedError(f"the output {query.output.value} is not offered for nested patterns", hint="use all or count")
    chosen = wanted or "joins"
    pattern = TreeEmitter(query, by_key).emit("joins", TREE_REASONS[chosen])
    against = event_sequence(pattern)
    if wanted == SEQUENCES and isinstance(against, str):
        raise _refusal(wanted, f"it is a nested pattern: {against}")
    if wanted is None and query.output is Output.COUNT and isinstance(against, str):
        pattern = replace(pattern, reason=f"{pattern.reason}; not counted by compact, for {uncounted or against}")
    return verify_pattern(replace(pattern, evaluation=chosen, by_cost=wanted is None))


def _plan_events(query: MatchQuery, wanted: str | None) -> EventPattern:
    if is_nested(query.pattern) or query.listed is MatchOrder.INTERVAL:
        raise UnsupportedError("nested patterns have a meaning, and no evaluation yet", hint="write a sequence of events and alternatives")
    if wanted is not None and wanted in ROW_EVALUATIONS:
        raise _refusal(wanted, "it evaluates row patterns, and this is an event pattern")
    if query.output is Output.TIMEOUTS:
        if wanted not in (None, "runs"):
            raise _refusal(wanted, "timeouts are asked for, which are runs that did not become matches")
        return Emitter(query).emit_events(
            "runs", f"{query.selection.value}: what their window ended is known where runs are followed one by one"
        )
    if wanted == "backtrack":
        return Emitter(query).emit_events(wanted, "asked for: partial matches are followed one at a time")
    runs = Emitter(query).emit_events("runs", "asked for")
    against = against_compact(query, runs)
    if wanted == "compact" and against is not None:
        raise _refusal(wanted, against)
    if against is None and wanted != "runs":
        return verify_pattern(
            replace(runs, evaluation="compact", reason=f"{query.selection.value}: every condition looks at one event alone")
        )
    if wanted == "runs":
        return runs
    return replace(runs, reason=f"{query.selection.value}: partial matches are followed side by side, for {against}")


def _refusal(strategy: str, reason: str) -> UnsupportedError:
    return UnsupportedError(f"the strategy {strategy} cannot evaluate this query: {reason}", hint="leave out strategy=")
