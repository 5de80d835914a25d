"""What streams tell of themselves in their blobs: how far they have come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ostinato.hosts.spark.streaming.packed_rows import FOREVER, LATEST, STREAM
from ostinato.runtime.rows.ingest import FAREST
from ostinato.runtime.rows.reorder import NEVER


@dataclass(frozen=True)
class Told:
    """The latest time of each stream that tells it, in the unit of the time column."""

    latest: tuple[int, ...]

    @staticmethod
    def of(frames: Sequence[pd.DataFrame], streams: int) -> Told:
        latest = [NEVER] * streams
        for frame in frames if streams else ():
            for stream, time in zip(frame[STREAM].tolist(), frame[LATEST].tolist(), strict=True):
                latest[stream] = max(latest[stream], time)
        return Told(tuple(latest))

    def after(self, earlier: Sequence[int]) -> Told:
        """With what was told before; a bucket that is new has heard nothing."""
        return Told(tuple(map(max, self.latest, earlier))) if earlier else self

    @property
    def has_ended(self) -> bool:
        return bool(self.latest) and min(self.latest) == FOREVER

    def watermarks(self, lateness: int | None) -> tuple[int, ...]:
        """What each stream has left behind. One of which nothing was heard may still bring anything; one that has ended brings nothing."""
        return tuple(NEVER if lateness is None or time == NEVER else FAREST if time == FOREVER else time - lateness for time in self.latest)
