"""When partitions that receive nothing are looked at, for what time decides there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ostinato.program.analysis.output_times import is_decided_at_once
from ostinato.program.pattern import EventPattern, Pattern

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows

SELDOM = 32  # rows; where time ends partial matches and decides no result, nobody waits for it


def sweep_rows(patterns: Iterable[Pattern]) -> int | None:
    """After how many rows these patterns may want it at the soonest; None: time decides nothing for them."""
    timed = [pattern for pattern in patterns if pattern.is_decided_by_time]
    if not timed:
        return None
    return SELDOM if all(isinstance(one, EventPattern) and one.look_ahead == 0 and is_decided_at_once(one) for one in timed) else 1


def is_due(source: InputRows, least: int) -> bool:
    """When their number is paid for by the rows since the last time. Half of it, so that it happens also where every row brings a key of
    its own."""
    return source.keys is not None and source.since_sweep >= least and 2 * source.since_sweep >= len(source.keys)
