"""One process compiles while the others wait: a lock that holds between processes and is re-entrant inside one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if os.name == "nt":
    import msvcrt

    def _acquire(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _acquire(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


_inside = threading.RLock()
_depth = 0
_handle = -1


@contextmanager
def compile_lock(path: Path) -> Iterator[None]:
    """Hold the lock file `path`. The operating system lets go of it when the process dies, so that a killed worker blocks nobody.
    Compiling one kernel compiles those that it calls: nested use takes nothing more."""
    global _depth, _handle
    with _inside:
        if _depth == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            _handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            _acquire(_handle)
        _depth += 1
        try:
            yield
        finally:
            _depth -= 1
            if _depth == 0:
                os.close(_handle)
