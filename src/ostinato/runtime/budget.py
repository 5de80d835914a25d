"""How much state a query may hold, and what happens beyond."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Beyond(Enum):
    ERROR = "error"
    SHED_OLDEST = "shed oldest"


@dataclass(frozen=True)
class Budget:
    """`runs` counts partial matches (threads of the preferred match included), `bytes` the retained rows and the match DAG.
    None is unlimited."""

    runs: int | None = 10_000_000
    bytes: int | None = None
    beyond: Beyond = Beyond.ERROR
