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

    @property
    def session_lateness(self) -> int | None:
        """By which the session itself puts rows in order: those of one stream. Where there are several they come in any turn, and what each
        has left behind is told when all rows are in."""
        return self.lateness if self.announced == 1 else None

    @property
    def told_lateness(self) -> int | None:
        """How far behind what it tells a stream is done."""
        return self.lateness if self.announced else None
