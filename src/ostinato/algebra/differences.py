"""Times of which it is said how far one may be behind another."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

Difference = tuple[int, int, int]  # (x, y, most): y is at most so much later than x


class Differences:
    """Times that satisfy all that has been said, as long as there are some: `times` are such times."""

    def __init__(self, count: int) -> None:
        self.times = [0] * count
        self._said: list[list[tuple[int, int]]] = [[] for _ in range(count)]

    def copy(self) -> Differences:
        copied = Differences(0)
        copied.times = self.times.copy()
        copied._said = [own.copy() for own in self._said]
        return copied

    def add(self, differences: Iterable[Difference]) -> bool:
        """False: no times satisfy these and all before. What has been said is no more to be used then."""
        return all(self._add(x, y, most) for x, y, most in differences)

    def _add(self, x: int, y: int, most: int) -> bool:
        """Times that are too late are moved back, and those behind them. What leads back to where it began would go on for ever: then there
        are none."""
        self._said[x].append((y, most))
        waiting = deque([(x, y, most)])
        while waiting:
            a, b, length = waiting.popleft()
            if self.times[b] <= self.times[a] + length:
                continue
            if b == x:
                return False
            self.times[b] = self.times[a] + length
            waiting.extend((b, c, further) for c, further in self._said[b])
        return True
