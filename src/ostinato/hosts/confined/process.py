"""DuckDB for statements of others, in a process of its own: whatever it is busy with, it can be ended, and no more memory than it was
granted is taken; what happens in it happens to nobody else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import duckdb
import pyarrow as pa

from ostinato.base.errors import SandboxError
from ostinato.hosts.confined.messages import Ended, hear, packed, say, unpacked
from ostinato.hosts.sandbox import Watch
from ostinato.runtime.limits.budget import in_words

SENT_ROWS = 1 << 16
RESULT_ROWS = 1 << 13
NO_ROOM = ("MemoryError", "OutOfMemoryException")
HAS_ENDED = "DuckDB, which ran it in a process of its own, has ended."
# The rest of the environment is nothing to a statement
KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from ostinato.hosts.confined.serving import main; main()"


class ConfinedDuckDB:
    """Is used like a connection as far as the embedded host uses one. The process begins when it is first asked for something."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ConfinedDuckDB:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()
        if self._process is not None:
            self._process.communicate()

    def register(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """The rows are sent over."""
        schema = rows.schema
        self._ask({"do": "part", "name": name}, packed(schema.empty_table()))
        for batch in rows.to_batches(SENT_ROWS) if isinstance(rows, pa.Table) else rows:
            self._watch.check()
            self._ask({"do": "part", "name": name}, packed(batch))
        self._ask({"do": "table", "name": name})
        self._answer()

    def tree(self, text: str) -> bytes | None:
        """See `connection.tree_of`; None if it is too long to be looked at."""
        self._ask({"do": "tree", "text": text})
        message, tree = self._answer()
        return None if message["long"] else tree

    def sql(self, text: str) -> ConfinedRows:
        return ConfinedRows(self, text)

    def rows(self, text: str, count: int, *, empty: bool) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        self._ask({"do": "rows", "text": text, "rows": count, "empty": empty})
        return unpacked(self._answer()[1]).schema, self._batches()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        while True:
            message, body = self._answer()
            if not message["more"]:
                return
            yield from unpacked(body).to_batches()

    def _ask(self, message: dict[str, Any], body: bytes | pa.Buffer = b"") -> None:
        self._watch.check()
        pipe = self._pipes()[0]
        with self._watch.interrupting(self._end):  # who does not listen is ended, too
            try:
                say(pipe, message, body)
            except OSError as error:
                raise self._lost() from error

    def _answer(self) -> tuple[dict[str, Any], bytes]:
        with self._watch.interrupting(self._end):
            try:
                message, body = hear(self._pipes()[1])
            except (Ended, OSError, ValueError) as error:
                raise self._lost() from error
        if "error" not in message:
            return message, body
        if message["error"] in NO_ROOM:
            raise self._lost(f"DuckDB said: {str(message.get('said')).splitlines()[0]}" if message.get("said") else HAS_ENDED)
        known = getattr(duckdb, str(message["error"]), duckdb.Error)
        raise (known if isinstance(known, type) and issubclass(known, duckdb.Error) else duckdb.Error)(str(message.get("said")))

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _lost(self, detail: str = HAS_ENDED) -> SandboxError:
        if self._watch.is_over:
            return self._watch.too_late()
        return SandboxError(
            f"The statement needs more than the {in_words(self._watch.sandbox.bytes)} of its sandbox, or cannot be run at all",
            detail=detail,
            hint="Ask for less, or give it more: sandbox=ost.Sandbox(bytes=...)",
        )

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        return process.stdin, process.stdout

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            root = str(Path(__file__).parents[3])
            limits = [str(self._watch.sandbox.bytes), str(self._watch.sandbox.seconds)]
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", START, root, *limits],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    env={name: os.environ[name] for name in KEPT if name in os.environ},
                )  # fmt: skip
            except OSError as error:
                hint = f"sys.executable, which is {sys.executable!r}, has to be the Python that runs this"
                raise SandboxError("The process of the sandbox cannot be started", detail=str(error), hint=hint) from error
        return self._process


class ConfinedRows:
    """What a statement gives, as of one of DuckDB's relations."""

    def __init__(self, duckdb_there: ConfinedDuckDB, text: str, *, empty: bool = False) -> None:
        self._there = duckdb_there
        self._text = text
        self._empty = empty

    def limit(self, count: int) -> ConfinedRows:
        """Only 0 is asked for: the columns."""
        assert count == 0
        return ConfinedRows(self._there, self._text, empty=True)

    def to_arrow_reader(self, rows: int = RESULT_ROWS) -> BatchReader:
        """In batches of so many rows, or fewer: each is one message."""
        return BatchReader(*self._there.rows(self._text, min(rows, SENT_ROWS), empty=self._empty))

    def to_arrow_table(self) -> pa.Table:
        reader = self.to_arrow_reader()
        return pa.Table.from_batches(reader, reader.schema)


class BatchReader:
    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self.schema = schema
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._batches
