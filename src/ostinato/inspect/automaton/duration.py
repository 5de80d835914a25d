"""A length of time in words: `1 hour`, `2 days 12 hours`."""

from __future__ import annotations

from ostinato.expr.times.temporal_text import NANOS


def duration_text(nanoseconds: int) -> str:
    parts, rest = [], nanoseconds
    for unit, length in sorted(NANOS.items(), key=lambda named: -named[1]):
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    return " ".join(parts) or "0 seconds"
