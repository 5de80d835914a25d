"""A progress line for long work; silent when stderr is not a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class Meter:
    """What a piece of work reports to: how far it is, of how much (None: unknown)."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._total: int | None = None

    def add(self, amount: int) -> None:
        self._progress.advance(self._task, amount)

    def expect(self, amount: int) -> None:
        """So much more will come."""
        self._total = (self._total or 0) + amount
        self._progress.update(self._task, total=self._total)

    def says(self, description: str) -> None:
        self._progress.update(self._task, description=description)


@contextmanager
def progress(description: str, console: Console) -> Iterator[Meter]:
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        yield Meter(shown, shown.add_task(description, total=None))
