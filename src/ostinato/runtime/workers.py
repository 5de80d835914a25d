"""Threads that share the work of one call. Kernels and NumPy let go of the interpreter's lock, so that they run beside one another."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from ostinato.base.errors import OstinatoError

Work = Callable[[int], None]


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: object) -> None:
    if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or threads < 1):
        raise OstinatoError(f"threads={threads!r}", hint="It is a whole number from 1 on, or None: as many as there are processors")


class Workers:
    """At most so many threads, the caller among them; None: as many as there are processors. They are started when they are needed first,
    and end with whoever holds this."""

    def __init__(self, threads: int | None = 1) -> None:
        check_threads(threads)
        self.most = processors() if threads is None else threads
        self.most_used = 1
        self._pool: ThreadPoolExecutor | None = None

    def each(self, pieces: int, work: Work, threads: int | None = None) -> None:
        """Do the work for the numbers from 0 on. Whoever is free takes the next, so that a piece that takes long holds up nobody. Where
        several fail, the error is that of the first of them, as if they had been done one by one."""
        threads = min(self.most if threads is None else threads, self.most, pieces)
        if threads <= 1:
            for number in range(pieces):
                work(number)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.most - 1, thread_name_prefix="ostinato")
        self.most_used = max(self.most_used, threads)
        numbers, failed = count(), dict[int, BaseException]()

        def run() -> None:
            while not failed and (number := next(numbers)) < pieces:
                try:
                    work(number)
                except BaseException as error:
                    failed[number] = error

        others = [self._pool.submit(run) for _ in range(threads - 1)]
        run()
        for other in others:
            other.result()
        if failed:
            raise failed[min(failed)]
