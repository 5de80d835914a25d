"""A length of time in words: `1 hour`, `2 days 12 hours`."""

from __future__ import annotations

UNITS = (("week", 604_800_000_000), ("day", 86_400_000_000), ("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 1_000_000))
SMALL_UNITS = (("millisecond", 1_000), ("microsecond", 1))


def duration_text(microseconds: int) -> str:
    parts, rest = [], microseconds
    for unit, length in UNITS + SMALL_UNITS:
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    return " ".join(parts) or "0 seconds"
