"""How a query is to run on Spark: what the calls take beside the query and its streams, as one value."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.hosts.sandbox import Sandbox
from ostinato.hosts.spark.batch.decision import PATHS
from ostinato.runtime.budget import Budget
from ostinato.runtime.session_options import LATE

Lateness = int | float | str | dt.timedelta


@dataclass(frozen=True)
class RunOptions:
    """`lateness`, `buckets` and `late` are for streams, `path` is for batches; `budget` is that of a task or of a bucket.
    `writes` and `sandbox` are about the text: whether SQL may write, and whether nobody vouches for it. `tail_of`:
    the checkpoint of a stream that has ended, whose last matches are asked for."""

    lateness: Lateness | None = None
    buckets: int | None = None
    path: str | None = None
    budget: Budget | None = None
    late: str | None = None
    writes: bool = False
    sandbox: Sandbox | None = None
    tail_of: str | None = None

    @property
    def keeps_late(self) -> bool:
        return self.late == "keep"

    def refuse_late(self, why: str, hint: str) -> None:
        if self.keeps_late:
            raise UnsupportedError(f"late rows are not kept {why}", hint=hint)

    def __post_init__(self) -> None:
        if self.path is not None and self.path not in PATHS:
            raise OstinatoError(f'there is no way "{self.path}" to divide the work', hint=f"path= is one of {', '.join(PATHS)}")
        if self.buckets is not None and (not isinstance(self.buckets, int) or self.buckets < 1):
            raise OstinatoError(f"buckets={self.buckets!r} is no number of buckets", hint="Pass a whole number from 1 on")
        if self.late not in (None, *LATE):
            raise OstinatoError(f"late={self.late!r} is unknown", hint="It is 'count' or 'keep'")
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise OstinatoError(f"budget={self.budget!r} is no budget", hint="Pass ost.Budget(runs=..., bytes=...)")
