"""By how much the times that results show can be older than the watermark that decides them."""

from __future__ import annotations

from ostinato.program.code_inputs import POINT
from ostinato.program.measure_code import MeasureCode, Point
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.tree import TreePattern

SHOWN_WITH_THEIR_TIMES = ("all", "all, omit empty matches")


def output_times(pattern: Pattern, before: int = 0) -> dict[str, int]:
    """The columns of its results that are times of their events, where it is known how old these can be. `before` is how much older than
    the watermark the rows are that it reads."""
    reads = pattern.reads
    if reads.time < 0 or pattern.output in ("count", "aggregates", "compressed"):
        return {}
    at_once = before if is_decided_at_once(pattern) else None
    later = None if pattern.timed_window < 0 else before + pattern.timed_window
    found: dict[str, int | None] = {}
    if pattern.measures.code is None:
        found = {"start_ts": later, "end_ts": later if at_once is None else at_once}
    for name, point in _times(pattern.measures, reads.time_name):
        last = (point.variable, point.anchor, point.offset) == (-1, "LAST", 0)
        found[name] = at_once if at_once is not None and last else later
    if pattern.rows_per_match in SHOWN_WITH_THEIR_TIMES:
        found[reads.time_name] = later
    return {name: delay for name, delay in found.items() if delay is not None}


def _times(measures: MeasureCode, time: str) -> list[tuple[str, Point]]:
    """The measures that are the time of an event of the match, not of its neighbours."""
    found = []
    for name, result in zip(measures.names, measures.code.results if measures.code is not None else (), strict=False):
        assert measures.code is not None
        op = measures.code.ops[result]
        if op.op == "input" and op.params[0].startswith(POINT):
            _, number, column = op.params[0].split(":", 2)
            point = measures.points[int(number)]
            if column == time and point.shift == 0:
                found.append((name, point))
    return found


def is_decided_at_once(pattern: Pattern) -> bool:
    """Whether its last event decides a match: that of an event pattern waits for no further row, unless for an negation or a timeout."""
    if isinstance(pattern, TreePattern):
        return not pattern.trails and not pattern.sees_last_instant
    return isinstance(pattern, EventPattern) and pattern.output != "timeouts" and not any(one.trails for one in pattern.negations)
