"""The stateful operator: one call per bucket and micro-batch, one session per bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from ostinato.hosts.spark.conform import conform
from ostinato.hosts.spark.host_ids import identified
from ostinato.hosts.spark.streaming.bucket_state import BucketState
from ostinato.hosts.spark.streaming.buckets import bucket_of
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.late_output import beside
from ostinato.hosts.spark.streaming.packing import ROWS, from_blobs, to_blob
from ostinato.hosts.spark.worker_memory import task_budget
from ostinato.program import serde
from ostinato.runtime.budget import Budget
from ostinato.runtime.session import Session

MATCHES, LATE, ROW_COUNT, SHED = "matches", "late_rows", "row_count", "shed"
DECIDED_ON_SPARK = spark.StructType(
    [
        spark.StructField(MATCHES, spark.BinaryType(), True),
        spark.StructField(LATE, spark.LongType(), True),
        spark.StructField(ROW_COUNT, spark.LongType(), True),
        spark.StructField(SHED, spark.LongType(), True),
    ]
)
_STATE = spark.StructType([spark.StructField("blob", spark.BinaryType(), True)])


class BucketProcessor(StatefulProcessor):
    def __init__(
        self,
        program: bytes,
        output: pa.Schema,
        buckets: int,
        clock: Clock,
        lateness: int | None = None,
        behind: int = 0,
        budget: Budget | None = None,
        keeps_late: bool = False,
    ) -> None:
        """`behind`: how much older than the watermark rows may be, in the unit of the time column. `budget` is that of each bucket.
        `keeps_late`: `output` has late rows too; see `late_output`."""
        self._program_bytes = program
        self._output = output
        self._buckets = buckets
        self._clock = clock
        self._lateness = lateness
        self._behind = behind
        self._budget = budget
        self._keeps_late = keeps_late

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("session", _STATE)
        self._program = serde.loads(self._program_bytes)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        table = from_blobs(blob for frame in rows for blob in frame[ROWS])
        yield from self._go_on(bucket_of(key[0]), table, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        if self._state.exists():
            yield from self._go_on(bucket_of(key[0]), None, timerValues.getCurrentWatermarkInMs(), fired=True)

    def close(self) -> None:
        pass

    def _go_on(self, bucket: int, table: pa.Table | None, watermark: int, fired: bool = False) -> Iterator[pd.DataFrame]:
        """Rows first, then the watermark: a row is late only if it is older than a watermark that its bucket has acted upon.

        Where the lateness is known, the session need not wait for the watermark: it will stand at or behind the latest row of this
        micro-batch less the lateness when the next one comes. So rows rarely have to wait in the stored state."""
        held = self._state.get() if self._state.exists() else None
        stored = None if held is None else BucketState.loads(bytes(held[0])).check(self._buckets)
        snapshot = stored.snapshot if stored else None
        kept = "keep" if self._keeps_late else "count"
        budget = task_budget(self._budget)
        session = Session(self._program, budget=budget, lateness=self._lateness, late=kept, snapshot=snapshot)
        before = session.metrics()
        decided = [session.push(table)] if table is not None else []
        if watermark > 0:
            decided.append(session.advance(self._clock.from_watermark(watermark) - self._behind))
        matches = pa.concat_tables(decided) if decided else session.schema.empty_table()
        late_rows = session.take_late() if self._keeps_late else None
        matches_before = stored.matches if stored else 0
        timer = self._timer(-1 if fired or stored is None else stored.timer, watermark)
        state = BucketState(self._buckets, matches_before + matches.num_rows, timer, session.snapshot())
        self._state.update((state.dumps(),))
        after = session.metrics()
        late, shed = after["late_rows"] - before["late_rows"], _shed(after) - _shed(before)
        if matches.num_rows or late or shed:
            shown = self._shown(identified(matches, self._program, bucket, matches_before + 1), late_rows)
            yield pd.DataFrame({MATCHES: [to_blob(shown)], LATE: [late], ROW_COUNT: [matches.num_rows], SHED: [shed]})

    def _shown(self, matches: pa.Table, late: pa.Table | None) -> pa.Table:
        if late is None:
            return conform(matches, self._output)
        return beside(conform(matches, pa.schema(list(self._output)[:-1])), late, self._output)

    def _timer(self, pending: int, watermark: int) -> int:
        """A timer just behind the watermark: it fires as soon as time goes on, whether or not rows come for this bucket."""
        wanted = max(watermark, 0) + 1
        if pending == wanted:
            return pending
        if pending >= 0:
            self._handle.deleteTimer(pending)
        self._handle.registerTimer(wanted)
        return wanted


def _shed(metrics: dict[str, int]) -> int:
    """Partial matches, and matches that wait for an absence, which the budget had no room for."""
    return sum(value for name, value in metrics.items() if name.startswith("shed_"))
