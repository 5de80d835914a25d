"""The switch for texts that nobody vouches for: what a query may use when its author is not trusted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa

from ostinato.base.errors import OstinatoError, SandboxError
from ostinato.kernels._compile_clock import compile_clock
from ostinato.runtime.limits.budget import Budget, in_words

LONGEST_TEXT = 100_000  # characters: to take a text apart is a matter of a moment that nothing interrupts
BATCH_ROWS = 1 << 16  # between two batches it is seen how late it is


@dataclass(frozen=True)
class Sandbox:
    """Only the named inputs, no files, no network, no writes, no reflection; at most `seconds` of time, and `bytes` for the state of the
    matching, for DuckDB, and for a result, each."""

    seconds: float = 60.0
    bytes: int = 1 << 30

    def __post_init__(self) -> None:
        numbers = isinstance(self.seconds, int | float) and isinstance(self.bytes, int)
        if not numbers or isinstance(self.seconds, bool) or isinstance(self.bytes, bool) or not (self.seconds > 0 and self.bytes > 0):
            raise OstinatoError(f"A sandbox of {self.seconds!r} seconds and {self.bytes!r} bytes", hint="Both are numbers above 0")

    def budget(self, given: Budget | None) -> Budget:
        """What is given counts as far as it is the smaller."""
        own = given or Budget()
        return replace(own, bytes=self.bytes if own.bytes is None else min(own.bytes, self.bytes))


def sandbox_of(given: bool | Sandbox | None, text: str = "") -> Sandbox | None:
    """The sandbox that is asked for, for a text that is not too long to be read in it."""
    closed = _asked_for(given)
    if closed is not None and isinstance(text, str) and len(text) > LONGEST_TEXT:
        raise SandboxError(
            f"The query is too long for the sandbox: {len(text):,} characters",
            hint=f"At most {LONGEST_TEXT:,}; pass long lists as a table, and join with it",
        )
    return closed


def _asked_for(given: bool | Sandbox | None) -> Sandbox | None:
    if given is None or given is False:
        return None
    if given is True:
        return Sandbox()
    if not isinstance(given, Sandbox):
        raise OstinatoError(
            f"sandbox= is {type(given).__name__}",
            hint='Write sandbox=True or sandbox=ost.Sandbox(...); a stream of that name is passed as streams={"sandbox": ...}',
        )
    return given


class Watch:
    """The time and the room that are left to one call in the sandbox. What it takes to compile kernels on a machine's first use is not
    the query's."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.held = 0
        self._ends = time.monotonic() + sandbox.seconds - compile_clock.seconds

    @property
    def left(self) -> float:
        return self._ends + compile_clock.seconds - time.monotonic()

    @property
    def is_over(self) -> bool:
        return self.left <= 0

    def check(self) -> None:
        if self.is_over:
            raise self.too_late()

    def too_late(self) -> SandboxError:
        return SandboxError(
            f"The query took longer than the {self.sandbox.seconds:g} seconds of its sandbox",
            hint="Read less, or give it more: sandbox=ost.Sandbox(seconds=...)",
        )

    def keep(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Rows of a result, before the next ones are computed."""
        self.check()
        self.held += rows.nbytes
        if self.held > self.sandbox.bytes:
            raise SandboxError(
                f"The result is larger than the {in_words(self.sandbox.bytes)} of its sandbox",
                hint="Ask for less, or give it more: sandbox=ost.Sandbox(bytes=...)",
            )

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """What runs inside is told to stop when the time is over."""
        timer = threading.Timer(max(self.left, 0), interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
