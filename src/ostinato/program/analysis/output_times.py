"""By how much the times that results show can be older than the watermark that decides them."""

from __future__ import annotations

from ostinato.program.analysis.carried_columns import plain_inputs, values_at_points
from ostinato.program.analysis.look_around import look_around
from ostinato.program.input import Source
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.program import Program
from ostinato.program.tree import TreePattern

SHOWN_WITH_THEIR_TIMES = ("all", "all, omit empty matches")


def output_times(pattern: Pattern, before: int = 0, in_order: bool = False) -> dict[str, int]:
    """The columns of its results that are times of their events, where it is known how old these can be. `before` is how much older than
    the watermark the rows are that it reads. `in_order`: a match waits for those that complete before it. The last of these to be decided
    begins no later than the match completes, so its last event is no older than a window then, and its first than two. One that waits for
    rows behind it may wait for any time: until its partition gets some."""
    reads = pattern.reads
    if reads.time < 0 or pattern.output in ("count", "aggregates", "compressed") or look_around(pattern).after:
        return {}
    if isinstance(pattern, InstanceAutomaton):
        return _instance_times(pattern, before)
    if isinstance(pattern, IntervalPattern):
        return _interval_times(pattern, before)
    at_once = before if is_decided_at_once(pattern) else None
    window = None if pattern.timed_window < 0 else before + pattern.timed_window
    waits = in_order and pattern.trails
    later = window + pattern.timed_window if waits and window is not None else window
    found: dict[str, int | None] = {}
    if pattern.measures.code is None:
        found = {"start_ts": later, "end_ts": window if at_once is None else at_once}
    for name, column, point in values_at_points(pattern.measures):
        if column != reads.time_name:
            continue
        last = (point.variable, point.anchor, point.offset) == (-1, "LAST", 0)
        found[name] = later if not last else window if at_once is None else at_once
    if pattern.rows_per_match in SHOWN_WITH_THEIR_TIMES:
        found[reads.time_name] = later
    return {name: delay for name, delay in found.items() if delay is not None}


def _instance_times(automaton: InstanceAutomaton, before: int) -> dict[str, int]:
    """The event that completes an instance is its end."""
    shown = dict(plain_inputs(automaton.measures))
    ends = {name: before for name, source in shown.items() if source == "end"}
    window = automaton.timed_window
    return ends | ({name: before + window for name, source in shown.items() if source == "start"} if window >= 0 else {})


def _interval_times(pattern: IntervalPattern, before: int) -> dict[str, int]:
    """A moment is decided as soon as the watermark is behind it; no situation of a match begins earlier than a window before. One that is a
    result by itself begins as long before as it may last."""
    shown = dict(plain_inputs(pattern.measures))
    found = {name: before for name, source in shown.items() if source == "detected"}
    window = longest_situation(pattern) if pattern.each else pattern.timed_window
    return found | ({name: before + window for name, source in shown.items() if source == "start"} if window >= 0 else {})


def longest_situation(pattern: IntervalPattern) -> int:
    """How long one may last at the most, whichever definition it is of; -1: any time."""
    longest = [one.at_most for one in pattern.definitions]
    return -1 if min(longest) < 0 else max(longest)


def result_times(program: Program, before: int = 0) -> dict[str, int]:
    """The same for the one result of a graph, whose streams have rows that are older than the watermark by `before` at most."""
    (result,) = program.results
    behind = input_delays(program, before)[program.operators[result.operator].ports[0]]
    return {} if behind is None else output_times(program.operators[result.operator].body, behind)


def input_delays(program: Program, before: int = 0) -> list[int | None]:
    """By how much the rows of each input can be older than the watermark of the streams from outside; None: by no known time."""
    delays: list[int | None] = []
    for number, reads in enumerate(program.inputs):
        of_sources = [_source_delay(program, number, source, delays, before) for source in reads.sources or (Source(reads.stream),)]
        delays.append(None if None in of_sources else max(one for one in of_sources if one is not None))
    return delays


def _source_delay(program: Program, number: int, source: Source, known: list[int | None], before: int) -> int | None:
    """Inputs stand behind those of the operators that they read."""
    if source.operator < 0:
        return before
    operator = program.operators[source.operator]
    upstream = known[operator.ports[0]]
    return None if upstream is None else output_times(operator.body, upstream, in_order=True).get(published_time(program, number, source))


def published_time(program: Program, number: int, source: Source) -> str:
    """The result of an operator by which an input that reads it is ordered."""
    time = program.inputs[number].time_name
    return next((own for own, name in source.columns if name == time), time)


def is_decided_at_once(pattern: Pattern) -> bool:
    """Whether its last event decides a match: that of an event pattern waits for no further row, unless for an negation or a timeout."""
    if isinstance(pattern, InstanceAutomaton):
        return True
    if isinstance(pattern, TreePattern):
        return not pattern.trails and not pattern.sees_last_instant
    return isinstance(pattern, EventPattern) and pattern.output != "timeouts" and not any(one.trails for one in pattern.negations)
