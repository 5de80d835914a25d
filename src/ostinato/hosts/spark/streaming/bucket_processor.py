"""The stateful operator: one call per bucket and micro-batch, one session per bucket."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as spark
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from ostinato.archive.row_groups import times_of
from ostinato.base.errors import DataError, StateError
from ostinato.hosts.spark.streaming.bucket_state import BucketState
from ostinato.hosts.spark.streaming.buckets import bucket_of
from ostinato.hosts.spark.streaming.clock import Clock
from ostinato.hosts.spark.streaming.late_output import beside
from ostinato.hosts.spark.streaming.live_set import LiveSet, StoredRules
from ostinato.hosts.spark.streaming.open_sessions import left_open, taken
from ostinato.hosts.spark.streaming.packing import by_stream, to_blob
from ostinato.hosts.spark.streaming.rule_log import LogEntry
from ostinato.hosts.spark.streaming.rule_source import without_changes
from ostinato.hosts.spark.streaming.told import Told
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.rows.reorder import NEVER
from ostinato.runtime.session.session import RunningProgram, Session
from ostinato.runtime.session.set_session import SetSession
from ostinato.tasks.conform import conform
from ostinato.tasks.fed_session import Decided, FedSession, row_count
from ostinato.tasks.host_ids import identified
from ostinato.tasks.keyed_pass import Failed, set_session
from ostinato.tasks.quiet_rows import SentRows, put_together
from ostinato.tasks.set_output import as_one_table, errors_table
from ostinato.tasks.shipped_program import ShippedProgram
from ostinato.tasks.worker_memory import task_budget

MATCHES, LATE, ROW_COUNT, SHED, QUARANTINED = "matches", "late_rows", "row_count", "shed", "quarantined"
DECIDED_ON_SPARK = spark.StructType(
    [
        spark.StructField(MATCHES, spark.BinaryType(), True),
        spark.StructField(LATE, spark.LongType(), True),
        spark.StructField(ROW_COUNT, spark.LongType(), True),
        spark.StructField(SHED, spark.LongType(), True),
        spark.StructField(QUARANTINED, spark.LongType(), True),
    ]
)
_STATE = spark.StructType([spark.StructField("blob", spark.BinaryType(), True)])


class BucketProcessor(StatefulProcessor):
    def __init__(
        self,
        program: ShippedProgram,
        output: pa.Schema,
        buckets: int,
        clock: Clock,
        waiting: Waiting,
        budget: Budget | None = None,
        keeps_late: bool = False,
        is_set: bool = False,
        quarantines: bool = False,
        live: LiveSet | None = None,
    ) -> None:
        """`budget` is that of each bucket. `keeps_late`: `output` has late rows too; see `late_output`. `quarantines`: of a set, it has the
        errors of queries that fail; see `set_output`. `live`: the queries are those of a log; then `program` is not looked at."""
        self._shipped = program
        self.output = output
        self.buckets = buckets
        self._clock = clock
        self.waiting = waiting
        self._budget = budget
        self._keeps_late = keeps_late
        self._is_set = is_set
        self._quarantines = quarantines
        self._live = live

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("session", _STATE)
        if self._live is None:
            self._program = self._shipped.load()
        else:
            self._rules = handle.getValueState("rules", _STATE)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        frames, changes = without_changes(list(rows))
        told = Told.of(frames, self.waiting.announced)
        yield from self._process(bucket_of(key[0]), by_stream(frames), told, timerValues.getCurrentWatermarkInMs(), changes=changes)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        if self._state.exists():
            told = Told((NEVER,) * self.waiting.announced)
            yield from self._process(bucket_of(key[0]), {}, told, timerValues.getCurrentWatermarkInMs(), fired=True)

    def close(self) -> None:
        pass

    def _process(
        self,
        bucket: int,
        sent: Mapping[int, Sequence[SentRows]],
        told: Told,
        watermark: int,
        fired: bool = False,
        changes: Sequence[LogEntry] = (),
    ) -> Iterator[pd.DataFrame]:
        stored = self._stored()
        if stored is not None and stored.has_ended:
            if sent:
                raise StateError("rows came for a stream that has ended", hint="begin with a new checkpoint directory")
            return
        session = self._opened(stored)
        self._take_in(session, changes)
        before, stopped_before = session.metrics(), _quarantined(session)
        told = told.after(stored.latest if stored else ())
        fed = FedSession(session, None if self._live is None else self._live.division)
        rows = self._rows(fed, sent, stored.latest if stored else (), told)
        matches = _without(self._decided(fed, rows, told, watermark), _quarantined(session))
        late_rows = session.take_late() if self._keeps_late else None
        matches_before = stored.matches if stored else 0
        timer = self._timer(-1 if fired or stored is None else stored.timer, None if told.has_ended else watermark)
        snapshot = b"" if told.has_ended else RunningProgram.snapshot(session)
        count = row_count(matches)
        state = BucketState(self.buckets, matches_before + count, timer, snapshot, told.latest)
        self._state.update((state.dumps(),))
        after = session.metrics()
        late, shed = after["late_rows"] - before["late_rows"], _shed(after) - _shed(before)
        stopped = {query: error for query, error in _quarantined(session).items() if query not in stopped_before}
        frame = None
        if count or late or shed or stopped:
            shown = self._shown(self._with_errors(self._named(matches, bucket, matches_before), stopped), late_rows)
            counted = {LATE: [late], ROW_COUNT: [count], SHED: [shed], QUARANTINED: [len(stopped)]}
            frame = pd.DataFrame({MATCHES: [to_blob(shown)], **counted})
        if isinstance(session, SetSession) and not told.has_ended:
            left_open(snapshot, self._told(), session)
        if frame is not None:
            yield frame

    def _with_errors(self, matches: pa.Table, stopped: Failed) -> pa.Table:
        return pa.concat_tables([matches, errors_table(stopped, self.output)]) if stopped else matches

    def _shown(self, matches: pa.Table, late: pa.Table | None) -> pa.Table:
        if late is None:
            return conform(matches, self.output)
        return beside(conform(matches, pa.schema(list(self.output)[:-1])), late, self.output)

    def closed(self, label: int, blob: bytes) -> pa.Table:
        """What would be decided if nothing came any more, from a stored state."""
        self._program = self._shipped.load()
        stored = BucketState.loads(blob)
        if stored.has_ended:
            return self.output.empty_table()
        session = self._session(snapshot=stored.snapshot)
        stopped_before = _quarantined(session)
        matches = session.close()
        stopped = {query: error for query, error in _quarantined(session).items() if query not in stopped_before}
        named = self._with_errors(self._named(matches, bucket_of(label), stored.matches), stopped)
        return self._shown(named, session.take_late() if self._keeps_late else None)

    def _opened(self, stored: BucketState | None) -> Session | SetSession:
        """A set, which takes a while to open, goes on where this worker has it open."""
        known = taken(stored.snapshot, self._told()) if stored is not None and self._is_set else None
        if known is not None:
            self._program = known.program
            return known
        kept = "keep" if self._keeps_late else "count"
        return self._session(lateness=self.waiting.session_lateness, late=kept, snapshot=None if stored is None else stored.snapshot)

    def _told(self) -> tuple[Hashable, ...]:
        """What sessions are opened with; snapshots tell of the program all but the functions of users."""
        functions = self._shipped.functions if self._live is None else self._live.functions
        return self._budget, self.waiting.session_lateness, self._quarantines, functions

    def _take_in(self, session: Session | SetSession, changes: Sequence[LogEntry]) -> None:
        """What has changed in a set that is live, before the rows that came with it."""
        if self._live is not None and isinstance(session, SetSession):
            stored = self._stored_rules()
            after = self._live.changed(session, stored, changes)
            if after != stored:
                self._rules.update((after.dumps(),))
            self._program = session.program

    def _stored_rules(self) -> StoredRules:
        held = self._rules.get() if self._rules.exists() else None
        return StoredRules() if held is None else StoredRules.loads(bytes(held[0]))

    def _session(self, **told: Any) -> Session | SetSession:
        budget = task_budget(self._budget)
        if self._live is not None:
            self._program = self._live.program(self._stored_rules())
        if self._is_set:
            return set_session(self._program, {} if self._quarantines else None, budget=budget, **told)
        return Session(self._program, budget=budget, **told)

    def _named(self, matches: Decided, bucket: int, counted: int) -> pa.Table:
        """With numbers that no other bucket gives; of a set, all results in one table."""
        if isinstance(matches, pa.Table):
            return identified(matches, self._program.body, bucket, counted + 1)
        return as_one_table(matches, self._program, self.output, bucket, counted)

    def _stored(self) -> BucketState | None:
        held = self._state.get() if self._state.exists() else None
        return None if held is None else BucketState.loads(bytes(held[0])).check(self.buckets)

    def _rows(self, session: FedSession, sent: Mapping[int, Sequence[SentRows]], before: Sequence[int], told: Told) -> dict[int, pa.Table]:
        """What has come of each stream. `before`: how far it had come."""
        done = told.watermarks(self.waiting.told_lateness)
        return {
            stream: put_together(own, session.streams[stream].time, before[stream] if before else NEVER, done[stream] if done else NEVER)
            for stream, own in sent.items()
        }

    def _decided(self, session: FedSession, rows: Mapping[int, pa.Table], told: Told, watermark: int) -> Decided:
        """Rows first, then the watermark: a row is late only if it is older than a watermark that its bucket has acted upon.

        Where the lateness is known, the session need not wait for the watermark: it will stand at or behind the latest row of this
        micro-batch less the lateness when the next one comes. So rows rarely have to wait in the stored state."""
        decided: list[Decided] = []
        for stream, table in rows.items():
            self._check_datable(session.streams[stream].time, table)
            decided.append(session.push(stream, table))
        decided.append(session.close() if told.has_ended else session.advance(self._watermarks(session, told, watermark)))
        return session.joined(decided)

    def _watermarks(self, session: FedSession, told: Told, watermark: int) -> list[int]:
        """How far each stream has come: as far as Spark says of all of them, or as it has told of itself."""
        of_all = NEVER if watermark <= 0 else self._clock.from_watermark(watermark) - self.waiting.behind
        told_of = told.watermarks(self.waiting.told_lateness) or (NEVER,) * len(session.streams)
        return [max(of_all, own) for own in told_of]

    def _check_datable(self, time: str, table: pa.Table) -> None:
        """Spark's watermark begins in 1970. Rows before would wait for it for ever, unless the stream itself tells how far it has come."""
        if not self.waiting.announced and table.num_rows:
            first = pc.min(times_of(table.column(time))).as_py()
            if first is not None and first < 0:
                raise DataError(
                    "a row is older than 1970, where Spark's watermarks begin",
                    detail=f"the first time is {first} in the unit of the column {time!r}",
                    hint="pass lateness= in place of withWatermark; over matches of another query, move the times",
                )

    def _timer(self, pending: int, watermark: int | None) -> int:
        """A timer just behind the watermark: it fires as soon as time goes on, whether or not rows come for this bucket. No watermark: the
        stream has ended."""
        wanted = -1 if watermark is None else max(watermark, 0) + 1
        if pending == wanted:
            return pending
        if pending >= 0:
            self._handle.deleteTimer(pending)
        if wanted >= 0:
            self._handle.registerTimer(wanted)
        return wanted


def _quarantined(session: Session | SetSession) -> Failed:
    return session.quarantined if isinstance(session, SetSession) else {}


def _without(matches: Decided, stopped: Failed) -> Decided:
    """What a query has found in the micro-batch in which it fails is left out, as in every call of a session."""
    return {query: table for query, table in matches.items() if query not in stopped} if isinstance(matches, dict) and stopped else matches


def _shed(metrics: dict[str, Any]) -> int:
    """Partial matches, and matches that wait for an negation, which the budget had no room for."""
    return sum(value for name, value in metrics.items() if name.startswith("shed_"))
