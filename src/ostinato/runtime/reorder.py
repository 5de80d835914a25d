"""Rows that wait until no earlier one can come any more."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

NEVER = int(np.iinfo(np.int64).min)


class ReorderBuffer:
    """`lateness` 0: rows come in order, nothing waits. A number: the greatest time seen minus it is the horizon. None: only
    `advance` moves the horizon."""

    def __init__(self, lateness: int | None) -> None:
        self.lateness = lateness
        self.horizon = NEVER  # no row with a smaller time is accepted any more
        self.late = 0
        self._waiting: list[pa.Table] = []

    def add(self, batch: pa.Table, times: np.ndarray) -> list[pa.Table]:
        """Take a batch in; what may be processed now comes back, in order of arrival."""
        batch, times = self._without_late(batch, times)
        if not len(times):
            return []
        if self.lateness == 0:
            self.horizon = max(self.horizon, int(times.max()))
            return [batch]
        self._waiting.append(batch.append_column("__time", pa.array(times)))
        if self.lateness is not None:
            self.horizon = max(self.horizon, int(times.max()) - self.lateness)
        return self._due()

    def _without_late(self, batch: pa.Table, times: np.ndarray) -> tuple[pa.Table, np.ndarray]:
        accepted = times >= self.horizon
        if accepted.all():
            return batch, times
        self.late += int((~accepted).sum())
        return batch.filter(pa.array(accepted)), times[accepted]

    def advance(self, horizon: int) -> list[pa.Table]:
        self.horizon = max(self.horizon, horizon)
        return self._due()

    def flush(self) -> list[pa.Table]:
        waiting, self._waiting = self._waiting, []
        return [batch.drop_columns(["__time"]) for batch in waiting]

    def _due(self) -> list[pa.Table]:
        due, waiting = [], []
        for batch in self._waiting:
            early = np.asarray(batch.column("__time")) < self.horizon
            if early.all():
                due.append(batch.drop_columns(["__time"]))
                continue
            if early.any():
                due.append(batch.filter(pa.array(early)).drop_columns(["__time"]))
                batch = batch.filter(pa.array(~early))
            waiting.append(batch)
        self._waiting = waiting
        return due

    @property
    def waiting_rows(self) -> int:
        return sum(batch.num_rows for batch in self._waiting)

    def state(self) -> pa.Table | None:
        return pa.concat_tables(self._waiting, promote_options="none").combine_chunks() if self._waiting else None

    def load(self, waiting: pa.Table | None, horizon: int, late: int) -> None:
        self._waiting = [] if waiting is None else [waiting]
        self.horizon = horizon
        self.late = late
