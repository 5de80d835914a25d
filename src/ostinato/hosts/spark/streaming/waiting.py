"""What the rows of a stream wait for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Waiting:
    """Spark's watermark, which the stateful operator is told. Where `lateness` is known rows need not wait for it. `announced`: how many
    streams tell in their blobs how far they have come (0: none does). `behind`: how much older than the watermark rows may be that
    come from another match. Lengths are in the unit of the time column."""

    lateness: int | None = None
    announced: int = 0
    behind: int = 0
