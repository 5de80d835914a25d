"""How much memory this process may take: that of the machine, of the control group it runs in, or what its own limit leaves."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

UNKNOWN = 4 << 30  # where nothing can be asked
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")

if sys.platform != "win32":
    import resource


@cache
def memory_there_is() -> int:
    """In bytes."""
    return min((*_physical(), *_of_cgroup(), *_of_process()), default=UNKNOWN)


def _physical() -> Iterator[int]:
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= os.sysconf_names.keys():
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_cgroup() -> Iterator[int]:
    """Limits of the group and of those around it, in both versions of the interface."""
    places = [CGROUPS / "memory.max", CGROUPS / "memory" / "memory.limit_in_bytes"]
    for line in _read(OWN_CGROUP).splitlines():
        own = Path(line.rpartition(":")[2].lstrip("/"))
        for group in (own, *own.parents):
            places += [CGROUPS / group / "memory.max", CGROUPS / "memory" / group / "memory.limit_in_bytes"]
    for place in places:
        text = _read(place).strip()
        if text.isdigit():  # else there is no limit
            yield int(text)


def _of_process() -> Iterator[int]:
    if sys.platform != "win32":
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            limit = resource.getrlimit(kind)[0]
            if limit != resource.RLIM_INFINITY:
                yield limit


def _read(path: Path) -> str:
    """Nothing where the system has no such file."""
    try:
        return path.read_text()
    except OSError:
        return ""
