"""A local Spark for one command, stopped at its end. What it has to say goes to a file, not between our lines."""

from __future__ import annotations

import logging
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ostinato.base.errors import UnsupportedError
from ostinato.cli.failure import cancelled_by, interrupt

SETTINGS = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "WARN"}


@contextmanager
def spark_session(log: Path) -> Iterator[Any]:
    # Late: most commands do without Spark, and it may not be installed.
    from ostinato.hosts.spark import local

    _require_java()
    before = signal.getsignal(signal.SIGINT)
    with _errors_into(log):  # the Java process inherits this for all its life
        session = local(None, **SETTINGS)
    if before is interrupt:  # Spark's own asks Java to cancel its jobs over the connection on which their end is waited for
        signal.signal(signal.SIGINT, before)
        logging.getLogger().addFilter(_is_no_interrupt)
    try:
        with cancelled_by(session.sparkContext.cancelAllJobs):
            yield session
    finally:
        session.stop()


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    """What was asked of Java when it was interrupted is shown with a traceback otherwise."""
    return "while sending command" not in record.getMessage()


@contextmanager
def _errors_into(log: Path) -> Iterator[None]:
    """File descriptor 2, and not just sys.stderr: other processes are meant."""
    saved = os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return
    if shutil.which("java") is None:
        hint = "Install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
        raise UnsupportedError("Spark needs Java, and there is none.", hint=hint)
