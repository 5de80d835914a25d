"""A local Spark for one command, quiet, and stopped at its end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ostinato.base.errors import UnsupportedError

QUIET = {"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}


@contextmanager
def spark_session() -> Iterator[Any]:
    # Late: most commands do without Spark, and it may not be installed.
    from ostinato.hosts.spark import local

    _require_java()
    session = local(None, **QUIET)
    try:
        yield session
    finally:
        session.stop()


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return
    if shutil.which("java") is None:
        hint = "Install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
        raise UnsupportedError("Spark needs Java, and there is none.", hint=hint)
