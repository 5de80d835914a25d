"""Memory of Spark's Python workers: what one batch frees, the next one takes."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

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
