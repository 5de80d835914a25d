"""When partitions that receive nothing are looked at, for what time decides there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ostinato.program.analysis.output_times import is_decided_at_once
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.tree import TreePattern

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows

SELDOM = 32  # rows; where time ends partial matches and decides no result, nobody waits for it
PART = 4  # of a window: where it only lets rows go that no match can have any more, so many of them are held that much longer


@dataclass(frozen=True)
class Sweeps:
    """After how many rows, and how much time, at the soonest."""

    rows: int
    span: int = 0


def sweeps_of(patterns: Iterable[Pattern], waited_for: bool) -> Sweeps | None:
    """How often these patterns may want it; None: time decides nothing for them. `waited_for`: others read what they return, or it comes
    in order, which time decides."""
    timed = [pattern for pattern in patterns if pattern.is_decided_by_time]
    if not timed:
        return None
    at_once = all(one.look_ahead == 0 and is_decided_at_once(one) for one in timed)
    if at_once and all(isinstance(one, EventPattern) for one in timed):
        return Sweeps(SELDOM)
    if at_once and not waited_for and all(isinstance(one, TreePattern) for one in timed):
        return Sweeps(SELDOM, min(one.timed_window for one in timed) // PART)
    return Sweeps(1)


def is_due(source: InputRows, sweeps: Sweeps, swept: int) -> bool:
    """When their number is paid for by the rows since the last time, when time had come as far as `swept`. Half of it, so that it happens
    also where every row brings a key of its own."""
    if source.keys is None or source.since_sweep < sweeps.rows or 2 * source.since_sweep < len(source.keys):
        return False
    return source.reorder.watermark - swept >= sweeps.span
