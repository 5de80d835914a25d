"""How many rows are derived at a time, and by how many threads.

As the thesis tunes itself (Körber, 5.6.4), by what is measured: the time that a row took so far says how long those of a call will take,
and that how many threads are worth being woken. Batches are powers of two; as many that each thread gets several, so that none waits long
for the last, and none is so large that what is computed on the way leaves the cache."""

from __future__ import annotations

SMALLEST, LARGEST = 1 << 12, 1 << 15
BATCHES_EACH = 4  # of a thread
WORTH = 1e-3  # seconds of work for which a thread is woken
FIRST_GUESS = 2e-8  # seconds per row
WEIGHT = 0.25  # of the last call in the moving average


class BatchTuning:
    def __init__(self, most: int) -> None:
        self._most = most
        self._seconds = FIRST_GUESS
        self.threads = 1  # of the last call
        self.size = LARGEST

    def choose(self, rows: int) -> None:
        """For a call with so many rows."""
        self.threads = max(1, min(self._most, int(rows * self._seconds / WORTH)))
        self.size = LARGEST if self.threads == 1 else SMALLEST
        while self.threads > 1 and self.size < LARGEST and 2 * self.size * BATCHES_EACH * self.threads <= rows:
            self.size *= 2

    def took(self, rows: int, seconds: float) -> None:
        """All threads together."""
        if rows >= SMALLEST:
            self._seconds += WEIGHT * (seconds / rows - self._seconds)
