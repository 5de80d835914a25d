"""Several streams read as one: the rows of all, in order of time, with a column that tells the event type and one that tells the part."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """One of the streams. `columns` are pairs (its own column, the column of the query); what it lacks is null. `event_type` is what its
    rows have in the type column; None: the stream has a type column of its own, among `columns`. Simultaneous rows stand in the order of
    the parts."""

    stream: str
    columns: tuple[tuple[str, str], ...]
    event_type: str | None = None
