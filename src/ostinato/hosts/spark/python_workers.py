"""Spark's Python workers have to run this package: made so where it is in our hands, found out before a query starts where it is not."""

from __future__ import annotations

import os
import re
import site
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from weakref import WeakSet

import pyarrow as pa
from pyspark.sql import SparkSession

from ostinato.base import release
from ostinato.base.errors import UnsupportedError
from ostinato.hosts.spark.parallelism import is_connect, is_local

_ASKED: WeakSet[object] = WeakSet()
_SAID = re.compile(r"^(?:[\w.]+(?:Error|Exception)|\[[A-Z_.]+\])[: ].*$", re.MULTILINE)


def package_root() -> str | None:
    """Where workers find this package; None where every process of this Python does."""
    root = str(Path(release.__file__).resolve().parents[2])
    return None if root in site.getsitepackages() else root


def with_package(path: str) -> str:
    """A PYTHONPATH with this package on it."""
    root, known = package_root(), [part for part in path.split(os.pathsep) if part]
    return os.pathsep.join(known if root is None or root in known else [root, *known])


def use_this_python(spark: SparkSession) -> None:
    """On this machine the workers of a session whose owner chose none are this Python, with this package."""
    if not is_local(spark):
        return
    context = spark.sparkContext
    if "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable
    path = with_package(context.environment.get("PYTHONPATH", ""))
    if path:
        context.environment["PYTHONPATH"] = path


def check_workers(spark: SparkSession) -> None:
    """Whether the workers can load this package, in this release: one task, once per session. Our own Python need not be asked."""
    if is_local(spark) and spark.sparkContext.pythonExec == sys.executable:
        return
    if spark not in _ASKED:
        _check_release(_answer(spark))
        _ASKED.add(spark)


def _answer(spark: SparkSession) -> str:
    try:
        found = spark.range(0, 1, 1, 1).mapInArrow(_introducing(), "release string").collect()
    except Exception as error:  # whatever it is: a worker that did not start, another Python, a package that is not there
        raise UnsupportedError("Spark's Python workers cannot run Ostinato", detail=_reason(str(error)), hint=_hint(spark)) from error
    return str(found[0][0])


def _introducing() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function inside of another reaches the worker by value: one of this module could not be loaded where the package is missing."""

    def introduce(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        from ostinato.base.release import RELEASE

        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict({"release": [RELEASE]})

    return introduce


def _check_release(found: str) -> None:
    if found != release.RELEASE:
        raise UnsupportedError(
            f"Spark's Python workers have Ostinato {found}, this process has {release.RELEASE}",
            hint="Install the same release for both",
        )


def _reason(text: str) -> str:
    """The error of the worker's traceback, which stands behind the error that Spark makes of it."""
    said = _SAID.findall(text)
    own = [line for line in said if line.startswith(("ModuleNotFoundError", "ImportError"))]
    return (own or said or text.strip().splitlines() or ["no reason was given"])[-1].strip()


def _hint(spark: SparkSession) -> str:
    if is_connect(spark):
        return "Install ostinato (and what `ostinato[spark]` asks for) in the Python of the Spark Connect server's workers"
    return (
        "Before the session starts, set PYSPARK_PYTHON to a Python that has ostinato installed, on every machine"
        f" (here that is os.environ['PYSPARK_PYTHON'] = {sys.executable!r})"
    )
