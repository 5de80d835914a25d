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
    checkpoint = folder / "checkpoint"
    if (checkpoint / "commits" / str(batch)).exists():
        return Stage.DONE
    if (folder / "out" / "_spark_metadata" / str(batch)).exists():
        return Stage.WRITTEN
    if _has_state(checkpoint / "state", batch + 1):
        return Stage.IN_STATE
    return Stage.PLANNED if (checkpoint / "offsets" / str(batch)).exists() else Stage.BEFORE


def _has_state(folder: Path, version: int) -> bool:
    """Whether a task has committed this version: `state/OPERATOR/PARTITION/VERSION.changelog`, or `.zip`, with or without an id behind the
    number."""
    return any(next(folder.glob(f"*/*/{version}{rest}"), None) is not None for rest in (".*", "_*"))
