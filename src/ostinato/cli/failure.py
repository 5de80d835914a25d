"""How the command ends: one message on stderr and an exit code, never a bare traceback for bad input."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pyarrow as pa
import typer
from rich.console import Console
from rich.text import Text

from ostinato.base.errors import OstinatoError
from ostinato.cli.warned import shown_once

FAILED = 1  # the query or the data
USAGE = 2
INTERRUPTED = 130
TERMINATED = 143
EXTRAS = {"pyspark": "spark", "pandas": "spark", "google": "spark", "matplotlib": "plot"}


class Usage(Exception):
    """The command line itself is wrong."""


def reported(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with its failures shown to a person and turned into exit codes."""

    @functools.wraps(command)
    def with_report(*arguments: Any, **options: Any) -> None:
        try:
            with shown_once(Console(stderr=True)):
                command(*arguments, **options)
        except (typer.Exit, typer.BadParameter):
            raise
        except (Exception, KeyboardInterrupt) as error:
            raise typer.Exit(show_failure(error, Console(stderr=True))) from None

    return with_report


_running: list[Callable[[], None]] = []  # what ends work that goes on elsewhere, for which the command waits


def interrupt(*_: object) -> None:
    """What Ctrl-C does while there is something left to do. What the command is just waiting for cannot be asked to end by itself."""
    for cancel in _running:
        Thread(target=cancel, daemon=True).start()
    raise KeyboardInterrupt


@contextmanager
def cancelled_by(cancel: Callable[[], None]) -> Iterator[None]:
    """Work elsewhere, which an interrupt has to end."""
    _running.append(cancel)
    try:
        yield
    finally:
        _running.remove(cancel)


def completed() -> None:
    """All that was asked for is there: an interrupt while the process leaves changes nothing any more. Only where the process is the
    command's own, as `interrupt` tells."""
    if signal.getsignal(signal.SIGINT) is interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def show_failure(error: BaseException, errors: Console) -> int:
    """Print what went wrong; the exit code. Errors that are nobody's fault but ours are raised again."""
    if _is_interrupt(error):
        errors.print("Interrupted: nothing was written.")
        return INTERRUPTED
    if isinstance(error, Usage):
        _print(errors, "usage", str(error))
        return USAGE
    if isinstance(error, OstinatoError):
        _print(errors, "error", str(error))
        return FAILED
    if isinstance(error, pa.ArrowInvalid | pa.ArrowTypeError | UnicodeDecodeError):
        _print(errors, "error", f"The data cannot be read: {error}")
        return FAILED
    if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
        _print(errors, "error", f"This needs {error.name}.\nHint: pip install 'ostinato[{EXTRAS[error.name]}]'")
        return FAILED
    if type(error).__module__.startswith(("pyspark.", "py4j.")):  # by name: this module must not load Spark
        _print(errors, "error", f"Spark gave up: {_beginning(str(error))}")
        return FAILED
    if isinstance(error, OSError):
        _print(errors, "error", _operating_system(error))
        return FAILED
    raise error


def _is_interrupt(error: BaseException | None) -> bool:
    """Also where what was interrupted has failed because of it: jobs of Spark are cancelled, and say so."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _beginning(message: str) -> str:
    """Spark appends plans and Java stacks to its messages; the cause stands first."""
    lines = [line for line in message.strip().splitlines() if line.strip()]
    return "\n".join(lines[:3])


def _operating_system(error: OSError) -> str:
    reason = error.strerror or (os.strerror(error.errno) if error.errno else str(error))
    return f"{error.filename}: {reason}" if error.filename else reason


def _print(errors: Console, kind: str, message: str) -> None:
    first, _, rest = message.partition("\n")
    errors.print(Text(f"{kind}: ", style="bold red").append(first, style="bold"), soft_wrap=True)
    if rest:
        errors.print(Text(rest), soft_wrap=True)
