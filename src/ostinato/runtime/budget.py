"""How much state a query may hold, and what happens beyond."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ostinato.base.errors import OstinatoError


class Beyond(Enum):
    ERROR = "error"
    SHED_OLDEST = "shed oldest"


@dataclass(frozen=True)
class Budget:
    """`runs` counts partial matches (threads of the preferred match included), `bytes` the retained rows and the match DAG.
    None is unlimited. `beyond` is "error" or "shed oldest"."""

    runs: int | None = 10_000_000
    bytes: int | None = None
    beyond: Beyond = Beyond.ERROR

    def __post_init__(self) -> None:
        for name, limit in (("runs", self.runs), ("bytes", self.bytes)):
            if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
                raise OstinatoError(f"A budget of {name}={limit!r}", hint="It is a whole number from 1 on, or None for no limit")
        try:
            object.__setattr__(self, "beyond", Beyond(self.beyond))
        except ValueError:
            policies = ", ".join(repr(policy.value) for policy in Beyond)
            raise OstinatoError(f"A budget with beyond={self.beyond!r}", hint=f"It is one of {policies}") from None
