"""The columns of the default output that follow from the events of a match."""

from __future__ import annotations

from typing import Any

DERIVED = ("match_id", "start_ts", "end_ts")


def variables_of(row: dict[str, Any], time: str | None, whole: bool = True) -> dict[str, list[dict[str, Any]]]:
    """The events of every variable of a match. A match whose times are not those of its first and last event is an error; without a time
    column (`time` None) they are places in the stream. `whole`: all its events are shown; else they lie within its times."""
    events = {name: listed(value) for name, value in row.items() if name not in DERIVED}
    times = [event[time or "seq"] for found in events.values() for event in found]
    start, end = row["start_ts"], row["end_ts"]
    assert (start, end) == (min(times), max(times)) if whole else all(start <= one <= end for one in times), row
    return events


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
