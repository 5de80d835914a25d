"""How far a micro-batch has come, as the checkpoint and the output of its job show it."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path


class Stage(IntEnum):
    """In the order in which Spark goes through them: the offsets are written, each task commits its state, the output names its files,
    the batch is done."""

    BEFORE = 0
    PLANNED = 1
    IN_STATE = 2
    WRITTEN = 3
    DONE = 4


def stage_of(folder: Path, batch: int) -> Stage:
    """What a job that was killed has left does not count: a micro-batch that is run again writes its state again, as long as its output
    is not there. The file `launched` is as old as the job."""
    checkpoint = folder / "checkpoint"
    if (checkpoint / "commits" / str(batch)).exists():
        return Stage.DONE
    if (folder / "out" / "_spark_metadata" / str(batch)).exists():
        return Stage.WRITTEN
    if _has_state(checkpoint / "state", batch + 1, (folder / "launched").stat().st_mtime_ns):
        return Stage.IN_STATE
    return Stage.PLANNED if (checkpoint / "offsets" / str(batch)).exists() else Stage.BEFORE


def _has_state(folder: Path, version: int, since: int) -> bool:
    """Whether a task has committed this version: `state/OPERATOR/PARTITION/VERSION.changelog`, or `.zip`, with or without an id behind the
    number."""
    return any(_written(file) >= since for rest in (".*", "_*") for file in folder.glob(f"*/*/{version}{rest}"))


def _written(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:  # it is being replaced
        return 0
