"""The process in which DuckDB runs statements of others: `python serving.py BYTES SECONDS`. It loads as little as it can."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, Any

import duckdb
import pyarrow as pa

from ostinato.hosts.confined.connection import closed_connection, relation, tree_of
from ostinato.hosts.confined.messages import Ended, hear, packed, say, unpacked

MOST_OF_TREE = 16 << 20  # a tree is looked at in the other process
RESERVE = 512 << 20  # for what DuckDB does not count: parsing, planning, threads


class Limits:
    """What the operating system holds the process to, beside what DuckDB counts itself. Tables that it is given are not counted."""

    def __init__(self, memory: int, seconds: float) -> None:
        self._memory = memory
        if sys.platform != "win32":
            import resource

            cores = os.cpu_count() or 1
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds * cores) + 10, int(seconds * cores) + 20))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def lift(self) -> None:
        self._limit(-1)

    def put(self) -> None:
        taken = Path("/proc/self/statm")
        if taken.exists():
            self._limit(int(taken.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") + self._memory + RESERVE)

    def _limit(self, size: int) -> None:
        if sys.platform == "linux":
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY if size < 0 else size, resource.RLIM_INFINITY))


class Service:
    def __init__(self, memory: int, limits: Limits) -> None:
        """`memory` is what DuckDB may take."""
        self.connection = closed_connection(memory)
        self._limits = limits
        self._parts: dict[str, list[pa.Table]] = {}
        limits.put()

    def answer(self, asked: dict[str, Any], body: bytes, out: IO[bytes]) -> None:
        """`part`: more rows of a table; `table`: it is complete. `tree`: how a text is parsed. `rows`: what it gives."""
        if asked["do"] == "part":
            self._limits.lift()
            self._parts.setdefault(asked["name"], []).append(unpacked(body))
            self._limits.put()
            return
        if asked["do"] == "table":
            self.connection.register(asked["name"], pa.concat_tables(self._parts.pop(asked["name"])))
            say(out, {})
        elif asked["do"] == "tree":
            tree = tree_of(self.connection, asked["text"]).encode()
            say(out, {"long": len(tree) > MOST_OF_TREE}, tree if len(tree) <= MOST_OF_TREE else b"")
        else:
            found = relation(self.connection, asked["text"])
            reader = (found.limit(0) if asked["empty"] else found).to_arrow_reader(asked["rows"])
            say(out, {}, packed(reader.schema.empty_table()))
            for batch in reader:
                say(out, {"more": True}, packed(batch))
            say(out, {"more": False})


def main() -> None:
    asked_by, out = sys.stdin.buffer, sys.stdout.buffer
    limits = Limits(int(sys.argv[1]), float(sys.argv[2]))
    service = Service(int(sys.argv[1]), limits)
    while True:
        try:
            asked, body = hear(asked_by)
        except Ended:
            return
        serve(service, asked, body, out)


def serve(service: Service, asked: dict[str, Any], body: bytes, out: IO[bytes]) -> None:
    """An error is an answer, too."""
    try:
        service.answer(asked, body, out)
    except duckdb.Error as error:
        say(out, {"error": type(error).__name__, "said": str(error)})
    except (pa.ArrowException, OSError, MemoryError) as error:  # what DuckDB says between two batches comes through Arrow
        say(out, {"error": "MemoryError" if isinstance(error, MemoryError) else "Error", "said": str(error)})


if __name__ == "__main__":
    main()
