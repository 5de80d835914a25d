"""Situations derived in batches of one size, by all threads there are: what tuning decides otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ostinato.runtime.row_code import batch_tuning

NO_WORK = 1e-12  # seconds for which a thread is woken


@contextmanager
def batches_of(rows: int) -> Iterator[None]:
    names = ("SMALLEST", "LARGEST", "WORTH")
    before = [getattr(batch_tuning, name) for name in names]
    for name, value in zip(names, (rows, rows, NO_WORK), strict=True):
        setattr(batch_tuning, name, value)
    try:
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(batch_tuning, name, value)
