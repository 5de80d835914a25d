"""The time of a sandbox on Spark: jobs are told by a tag, and cancelled when it is over."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ostinato.base.errors import SandboxError
from ostinato.hosts.sandbox import Sandbox, Watch
from ostinato.hosts.spark.parallelism import is_connect

Tagging = Callable[[str], object]
AGAIN = 0.2  # seconds: what was cancelled may start another job


@contextmanager
def in_time(spark: SparkSession, sandbox: Sandbox | None) -> Iterator[None]:
    """Jobs that this thread starts inside are cancelled after the seconds of the sandbox; then a SandboxError says so."""
    if sandbox is None:
        yield
        return
    watch, done, tag = Watch(sandbox), threading.Event(), f"ostinato-sandbox-{uuid.uuid4().hex}"
    add, cancel, remove = _tagging(spark)
    canceller = threading.Thread(target=_cancel, args=(cancel, tag, sandbox.seconds, done), daemon=True)
    add(tag)
    canceller.start()
    try:
        yield
    except SandboxError:
        raise
    except Exception as error:
        if watch.is_over:  # whatever a cancelled job is called by those who waited for it
            raise watch.too_late() from error
        raise
    finally:
        done.set()
        canceller.join()
        remove(tag)


def _tagging(spark: SparkSession) -> tuple[Tagging, Tagging, Tagging]:
    """Tags of a session are known to the thread that gave them alone, those of jobs to all; a client of Spark Connect has no jobs."""
    if is_connect(spark):
        return spark.addTag, spark.interruptTag, spark.removeTag
    context = spark.sparkContext
    return context.addJobTag, context.cancelJobsWithTag, context.removeJobTag


def _cancel(cancel: Tagging, tag: str, seconds: float, done: threading.Event) -> None:
    wait = seconds
    while not done.wait(wait):
        try:
            cancel(tag)
        except PySparkException:  # the session has ended, and its jobs with it
            return
        wait = AGAIN
