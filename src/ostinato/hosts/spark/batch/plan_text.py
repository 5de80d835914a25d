"""Spark's plan of a DataFrame as text. `DataFrame.explain` only prints it; asking for it in SQL starts a job."""

from __future__ import annotations

import io
import sys
import threading
from contextlib import redirect_stdout
from typing import TextIO

from pyspark.sql import DataFrame

_ONE_AT_A_TIME = threading.Lock()


class _OwnWords(io.StringIO):
    """Keeps what its own thread prints; others print on."""

    def __init__(self, others: TextIO) -> None:
        super().__init__()
        self._thread = threading.get_ident()
        self._others = others

    def write(self, text: str) -> int:
        return super().write(text) if threading.get_ident() == self._thread else self._others.write(text)


def extended_plan(frame: DataFrame) -> str:
    """What `frame.explain(extended=True)` prints."""
    with _ONE_AT_A_TIME, redirect_stdout(_OwnWords(sys.stdout)) as words:
        frame.explain(extended=True)
    return words.getvalue()
