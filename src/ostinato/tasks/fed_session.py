"""A session whose rows come stream by stream, as hosts have them that know streams by numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

from ostinato.runtime.rows.ingest import MissingTimeError
from ostinato.runtime.rows.reorder import NEVER
from ostinato.runtime.session.graph import Found
from ostinato.runtime.session.session import Session
from ostinato.runtime.session.set_session import SetSession
from ostinato.tasks.fixed_division import FixedDivision
from ostinato.tasks.outside_streams import outside_streams
from ostinato.tasks.set_output import merged_results
from ostinato.tasks.worker import without_time

AnySession: TypeAlias = Session | SetSession
Decided: TypeAlias = "pa.Table | dict[str, pa.Table]"  # of one query, or of each of a set


class FedSession:
    """Streams are numbered as `outside_streams` lists them: by what the queries read, whichever was added first. Where queries come and
    go, as it is `fixed`."""

    def __init__(self, session: AnySession, fixed: FixedDivision | None = None) -> None:
        self.session = session
        self.streams = outside_streams(session.program) if fixed is None else fixed.fed(session.program)

    def push(self, stream: int, table: pa.Table) -> Decided:
        """Rows of one of the streams, for all that read it."""
        own = self.streams[stream]
        try:
            return self.joined(self._collected(self.session.push_to(*feed, table, in_parts=False)) for feed in own.feeds)
        except MissingTimeError:
            raise without_time(own.reads, table) from None

    def advance(self, watermarks: Sequence[int]) -> Decided:
        """How far each stream has come."""
        if max(watermarks) == NEVER:
            return self.joined(())
        of_feeds = {feed: watermark for stream, watermark in zip(self.streams, watermarks, strict=True) for feed in stream.feeds}
        return self._collected(self.session.advance_feeds(of_feeds, in_parts=False))

    def close(self) -> Decided:
        return self.session.close()

    def joined(self, decided: Iterable[Decided]) -> Decided:
        """What several calls have returned."""
        if isinstance(self.session, SetSession):
            return merged_results(one for one in decided if isinstance(one, dict))
        tables = [one for one in decided if isinstance(one, pa.Table)]
        return pa.concat_tables(tables) if tables else self.session.schema.empty_table()

    def _collected(self, found: Iterator[Found]) -> Decided:
        return self.session.collected(found)


def row_count(decided: Decided) -> int:
    return decided.num_rows if isinstance(decided, pa.Table) else sum(table.num_rows for table in decided.values())
