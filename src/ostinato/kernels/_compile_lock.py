"""One process compiles a module while the others wait: locks that hold between processes and are re-entrant inside one."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _acquire(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _acquire(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


_inside = threading.RLock()
_held: dict[Path, int] = {}  # how often, per lock file


@contextmanager
def compile_lock(path: Path) -> Iterator[None]:
    """Hold the lock file `path`. The operating system lets go of it when the process dies, so that a killed worker blocks nobody.
    Compiling one kernel compiles those that it calls: nested use of a lock takes nothing more. Modules do not call each other in
    circles, so that two processes never wait for each other."""
    with _inside:
        handle = -1
        if path not in _held:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            _acquire(handle)
        _held[path] = _held.get(path, 0) + 1
        try:
            yield
        finally:
            _held[path] -= 1
            if _held[path] == 0:
                del _held[path]
                os.close(handle)
