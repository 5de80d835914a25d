"""The demonstration's work on Spark: stream the feed into an archive and through both queries, then query the archive."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from ostinato.cli.demo.feed import Feed
from ostinato.cli.demo.queries import BURST, V_SHAPE

FOLDERS = ("feed", "archive", "matches", "checkpoints")
FIRST_FILE_TIME = 1_750_000_000
RESTARTS = 3
SLOW_WORKER = "Python worker failed to connect back"


@dataclass(frozen=True)
class Outcome:
    """What both ways of evaluating one query found."""

    live: pa.Table
    archived: pa.Table

    @property
    def agree(self) -> bool:
        return as_set(self.live) == as_set(self.archived)


@dataclass
class Pipeline:
    """`report` is told what happens next, for whoever watches."""

    session: Any
    folder: Path
    report: Callable[[str], None]

    def prepare(self) -> None:
        """Remove what an earlier demonstration left, and nothing else."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in FOLDERS:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / "feed").mkdir()

    def land(self, feed: Feed, parts: int) -> None:
        """Each part is a file, as a collector would drop them; Spark takes files by their time of change."""
        self.report(f"Landing {feed.ticks.num_rows:,} ticks in {parts} files")
        for number, part in enumerate(feed.in_parts(parts)):
            path = self.folder / "feed" / f"part-{number:03d}.parquet"
            pyarrow.parquet.write_table(part, path)
            os.utime(path, (FIRST_FILE_TIME + number, FIRST_FILE_TIME + number))

    def stream(self, feed: Feed) -> dict[str, pa.Table]:
        """All three sinks at once: the archive and the matches of each query."""
        self.report("Streaming the feed through both queries and into the archive")
        ticks = self._live_ticks(feed)
        ticks.createOrReplaceTempView("ticks")
        engine = _engine(self.session)
        sinks = {"archive": ticks, "matches/v_shapes": engine.sql(V_SHAPE), "matches/bursts": engine.match(BURST, ticks=ticks)}
        running = {name: self._under_way(frame, name) for name, frame in sinks.items()}
        for name, query in running.items():
            self._finish(query, sinks[name], name)
        return {name: self._read(name) for name in sinks if name != "archive"}

    def query_archive(self) -> dict[str, pa.Table]:
        """The same texts over the archived files."""
        self.report("Running the same queries over the archive")
        archive = self.session.read.parquet(str(self.folder / "archive"))
        archive.createOrReplaceTempView("ticks")
        engine = _engine(self.session)
        return {"matches/v_shapes": engine.sql(V_SHAPE).toArrow(), "matches/bursts": engine.match(BURST, ticks=archive).toArrow()}

    def _live_ticks(self, feed: Feed) -> Any:
        folder = str(self.folder / "feed")
        schema = self.session.read.parquet(folder).schema
        reader = self.session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(folder).withWatermark("ts", f"{feed.lateness_seconds} seconds")

    def _start(self, frame: Any, name: str) -> Any:
        writer = frame.writeStream.format("parquet").outputMode("append").trigger(availableNow=True)
        return writer.option("checkpointLocation", str(self.folder / "checkpoints" / name)).start(str(self.folder / name))

    def _under_way(self, frame: Any, name: str) -> Any:
        """Started, and past its first batch: several at once would start all their Python workers at the same moment."""
        query = self._start(frame, name)
        while query.isActive and query.lastProgress is None:
            time.sleep(0.1)
        return query

    def _finish(self, query: Any, frame: Any, name: str) -> None:
        """Spark gives a Python worker ten seconds to start, which a busy machine may miss; the checkpoint lets us go on."""
        for attempt in range(RESTARTS + 1):
            try:
                query.awaitTermination()
                return
            except Exception as error:
                if SLOW_WORKER not in str(error) or attempt == RESTARTS:
                    raise
            self.report(f"Restarting {name} from its checkpoint")
            query = self._start(frame, name)

    def _read(self, name: str) -> pa.Table:
        return self.session.read.parquet(str(self.folder / name)).toArrow()


def _engine(session: Any) -> Any:
    from ostinato.hosts.spark import on  # late: it loads Spark

    return on(session)


def as_set(table: pa.Table) -> frozenset[tuple[Any, ...]]:
    """Matches as values: their order and numbering are the business of the one who asked."""
    columns = [name for name in table.column_names if name != "match_id"]
    return frozenset(tuple(row.values()) for row in table.select(columns).to_pylist())
