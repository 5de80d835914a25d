"""How long a process has compiled kernels: the price of a machine's first use, which no query is charged with."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class CompileClock:
    """Runs while anybody compiles: kernels compile those that they call, and threads may compile side by side."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._compiling = 0
        self._since = 0.0
        self._before = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        with self._lock:
            if not self._compiling:
                self._since = time.monotonic()
            self._compiling += 1
        try:
            yield
        finally:
            with self._lock:
                self._compiling -= 1
                if not self._compiling:
                    self._before += time.monotonic() - self._since

    @property
    def seconds(self) -> float:
        with self._lock:
            return self._before + (time.monotonic() - self._since if self._compiling else 0.0)


compile_clock = CompileClock()
