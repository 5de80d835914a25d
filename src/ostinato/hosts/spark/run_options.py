"""How a query is to run on Spark: what the calls take beside the query and its streams, as one value."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.hosts.sandbox import Sandbox
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.session.quarantine import check_policy
from ostinato.runtime.session.session_options import check_late

Lateness = int | str | dt.timedelta
RANGES, BY_KEY, ONE = "time ranges", "by key", "one partition"  # the ways in which a batch is divided
PATHS = (RANGES, BY_KEY, ONE)


@dataclass(frozen=True)
class RunOptions:
    """`lateness`, `buckets` and `late` are for streams, `path` is for batches; `budget` is that of a task or of a bucket.
    `writes` and `sandbox` are about the text: whether SQL may write, and whether nobody vouches for it. `tail_of`:
    the checkpoint of a stream that has ended, whose last matches are asked for. `on_error` is for sets of queries; `rule_log` and `keys`
    for sets that change while their stream runs: where the changes are kept, and by which columns the rows are divided."""

    lateness: Lateness | None = None
    buckets: int | None = None
    path: str | None = None
    budget: Budget | None = None
    late: str | None = None
    writes: bool = False
    sandbox: Sandbox | None = None
    tail_of: str | None = None
    on_error: str = "raise"
    rule_log: str | None = None
    keys: tuple[str, ...] | None = None

    @property
    def quarantines(self) -> bool:
        return self.on_error == "quarantine"

    @property
    def keeps_late(self) -> bool:
        return self.late == "keep"

    def refuse_late(self, why: str, hint: str) -> None:
        if self.keeps_late:
            raise UnsupportedError(f"late rows are not kept {why}", hint=hint)

    def check_used(self, *, streams: bool, batches: bool) -> None:
        """What says something about streams or batches is refused where there are none, rather than ignored."""
        for name, value in (("lateness", self.lateness), ("buckets", self.buckets), ("rule_log", self.rule_log)):
            if value is not None and not streams:
                raise UnsupportedError(
                    f"{name}= is for streams, and this is a batch, whose rows are all put in order first",
                    hint="leave it out, or read the rows as a stream: ost.on(spark).read_stream(...), spark.readStream",
                )
        if self.path is not None and not batches:
            raise UnsupportedError("path= is for batches, and this is a stream, whose keys are divided into buckets", hint="leave it out")

    def __post_init__(self) -> None:
        if self.path is not None and self.path not in PATHS:
            raise OstinatoError(f'there is no way "{self.path}" to divide the work', hint=f"path= is one of {', '.join(PATHS)}")
        if self.buckets is not None and (not isinstance(self.buckets, int) or self.buckets < 1):
            raise OstinatoError(f"buckets={self.buckets!r} is no number of buckets", hint="Pass a whole number from 1 on")
        if self.keys is not None and self.rule_log is None:
            raise UnsupportedError("keys= is for sets that change while their stream runs", hint="pass rule_log=, or leave it out")
        check_late(self.late)
        check_policy(self.on_error)
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise OstinatoError(f"budget={self.budget!r} is no budget", hint="Pass ost.Budget(runs=..., bytes=...)")
