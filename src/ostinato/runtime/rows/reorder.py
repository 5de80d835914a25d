"""Rows that wait until no earlier one can come any more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

NEVER = int(np.iinfo(np.int64).min)  # the watermark before any watermark


class ReorderBuffer:
    """`lateness` 0: rows come in order of time, and wait for others of the same time alone, where more than the time orders them
    (`ties_wait`). A number: the greatest time seen minus it is the watermark. None: only `advance` moves the watermark. `too_late` gets
    rows from before the watermark, and the watermark of each."""

    def __init__(self, lateness: int | None, ties_wait: bool, too_late: Callable[[pa.Table, np.ndarray], None]) -> None:
        self.lateness = lateness
        self.waits = lateness != 0 or ties_wait
        self.watermark = NEVER  # no row with a smaller time is accepted any more
        self._too_late = too_late
        self._row_by_row = False
        self._waiting: list[tuple[pa.Table, np.ndarray]] = []  # with their times

    def too_late_to(self, too_late: Callable[[pa.Table, np.ndarray], None]) -> None:
        """Who gets rows that come too late from now on."""
        self._too_late = too_late

    def take_row_by_row(self) -> None:
        """What is late is decided as if every row were a batch of its own, however rows come. Those of the latest time wait then, which
        changes no order."""
        self._row_by_row = self.waits = True

    def add(self, batch: pa.Table, times: np.ndarray) -> list[pa.Table]:
        """Take a batch in; what may be processed now comes back, in order of arrival."""
        batch, times = self._without_late(batch, times)
        if not len(times):
            return []
        if not self.waits:
            self.watermark = max(self.watermark, int(times.max()))
            return [batch]
        self._waiting.append((batch, times))
        if self.lateness is not None:
            self.watermark = max(self.watermark, int(times.max()) - self.lateness)
        return self._due()

    def _without_late(self, batch: pa.Table, times: np.ndarray) -> tuple[pa.Table, np.ndarray]:
        watermark = self._watermarks(times) if self._row_by_row else self.watermark
        accepted = times >= watermark
        if accepted.all():
            return batch, times
        self._too_late(batch.filter(pa.array(~accepted)), np.broadcast_to(watermark, len(times))[~accepted])
        return batch.filter(pa.array(accepted)), times[accepted]

    def _watermarks(self, times: np.ndarray) -> np.ndarray:
        """For each row that of the rows before it."""
        watermarks = np.full(len(times), self.watermark)
        if self.lateness is not None:
            np.maximum(watermarks[1:], np.maximum.accumulate(times[:-1]) - self.lateness, out=watermarks[1:])
        return watermarks

    def advance(self, watermark: int) -> list[pa.Table]:
        self.watermark = max(self.watermark, watermark)
        return self._due()

    @property
    def greatest(self) -> int:
        """The latest time of the rows that wait."""
        return max((int(times.max()) for _, times in self._waiting if len(times)), default=NEVER)

    def flush(self) -> list[pa.Table]:
        waiting, self._waiting = self._waiting, []
        return [batch for batch, _ in waiting]

    def _due(self) -> list[pa.Table]:
        due, waiting = [], []
        for batch, times in self._waiting:
            early = times < self.watermark
            if early.all():
                due.append(batch)
                continue
            if early.any():
                due.append(batch.filter(pa.array(early)))
                batch, times = batch.filter(pa.array(~early)), times[~early]
            waiting.append((batch, times))
        self._waiting = waiting
        return due

    @property
    def bytes(self) -> int:
        """Of the rows that wait."""
        return sum(batch.nbytes + times.nbytes for batch, times in self._waiting) if self._waiting else 0

    @property
    def waiting_rows(self) -> int:
        return sum(len(times) for _, times in self._waiting)

    def state(self) -> pa.Table | None:
        """The rows that wait, with their times as the last column, whatever the others are called."""
        if not self._waiting:
            return None
        timed = [batch.append_column("__time", pa.array(times)) for batch, times in self._waiting]
        return pa.concat_tables(timed, promote_options="none").combine_chunks()

    def load(self, waiting: pa.Table | None, watermark: int) -> None:
        self._waiting = []
        if waiting is not None:
            last = waiting.num_columns - 1
            self._waiting.append((waiting.remove_column(last), waiting.column(last).to_numpy()))
        self.watermark = watermark
