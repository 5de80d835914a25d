"""Memory of Spark's Python workers: what one batch frees, the next one takes."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

from ostinato.runtime.limits.budget import Budget

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters in glibc
_KEPT = 1 << 28  # bytes


@cache
def keep_freed_memory() -> None:
    """The C library gives large arrays back to the system as soon as they are freed, and the system zeroes the pages of the next
    ones: about a tenth of the time of a task. A worker lives on for later tasks; it keeps at most this much that is free."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # musl has none
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _KEPT)


def task_budget(given: Budget | None) -> Budget:
    """What a task may hold. Where nothing was said, the tasks that the machine can run at a time share the memory of a query."""
    return (given or Budget()).of_task(_processors())


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
