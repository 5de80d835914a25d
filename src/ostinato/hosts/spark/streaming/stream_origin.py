"""What a streaming DataFrame says of its times: which columns have a watermark, and whether its rows are matches of another query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from ostinato.base.errors import UnsupportedError

DELAY = "spark.watermarkDelayMs"  # Spark notes it in the metadata of a column that has a watermark, and hands it on as far as that holds
BEHIND = "ostinato.behind"  # so do we: by how much the times of a column of matches can be older than the watermark when they are decided

ENDS = "ostinato.ends"  # the matches are those of a stream that decides its tail when it ends
METRICS_OF = "ostinato.metrics"  # the name under which matches are observed, on each of their columns


@dataclass(frozen=True)
class Origin:
    """`watermarked` are the columns with a watermark; `has_watermark`: there is one upstream, on whatever column. `matched`: rows come out
    of a stateful operator such as ours; `behind` tells of its times, as `BEHIND` says, and `ends` of its end."""

    watermarked: frozenset[str] = frozenset()
    has_watermark: bool = False
    matched: bool = False
    behind: Mapping[str, int] = field(default_factory=dict)
    ends: bool = False


def origin_of(frame: DataFrame) -> Origin:
    schema = frame.schema
    if not hasattr(frame, "_jdf"):  # Spark Connect shows no plan
        watermarked, matched = frozenset(_noted(schema, DELAY)), bool(_noted(schema, METRICS_OF))
        return Origin(watermarked, bool(watermarked), matched, _noted(schema, BEHIND), bool(_noted(schema, ENDS)))
    names = list(_operators(frame._jdf.queryExecution().analyzed()))
    # Metadata is written to Parquet with the rows: what was read from there had a watermark once, and has none now.
    has_watermark = "EventTimeWatermark" in names
    matched = any(name.startswith("TransformWithState") for name in names)
    watermarked = frozenset(_noted(schema, DELAY)) if has_watermark else frozenset()
    behind, ends = (_noted(schema, BEHIND), bool(_noted(schema, ENDS))) if matched else ({}, False)
    return Origin(watermarked, has_watermark, matched, behind, ends)


def _operators(plan: Any) -> Iterator[str]:
    yield plan.nodeName()
    children = plan.children()
    for number in range(children.size()):
        yield from _operators(children.apply(number))


def _noted(schema: StructType, key: str) -> dict[str, Any]:
    return {column.name.lower(): column.metadata[key] for column in schema.fields if key in column.metadata}


def with_notes(schema: StructType, behind: Mapping[str, int], ends: bool, observed: str) -> StructType:
    """The schema of matches, with what `behind` knows of its columns, whether their stream `ends`, and under which name it is observed."""
    of_all = {METRICS_OF: observed} | ({ENDS: 1} if ends else {})
    for column in schema.fields:
        column.metadata = of_all | ({BEHIND: behind[column.name]} if column.name in behind else {})
    return schema


def check_ends(ends: Sequence[bool], matched: bool) -> None:
    """`ends`: of each stream, whether it says that it ends; `matched`: some of them are matches of another query."""
    if any(ends) and (matched or not all(ends)):
        raise UnsupportedError(
            "ends=True decides the last matches when all streams of a query have ended",
            hint="pass it for all of them or for none; where a query reads the matches of another, leave it out",
        )


def check_watermark(own: Origin, time: str, is_integer: bool, stream: str | None = None) -> None:
    """Without `lateness=` the query goes by the watermark of the stream's own time column, and by no other."""
    named = "the stream" if stream is None else f"stream {stream!r}"
    if time.lower() in own.watermarked and not is_integer:
        return
    if own.watermarked or own.has_watermark:
        where = f"on {', '.join(map(repr, sorted(own.watermarked)))}" if own.watermarked else "on a column that it has no more"
        raise UnsupportedError(
            f"{named}'s watermark is {where}, but the query goes by {time!r}",
            hint=f"put the watermark on {time!r}, without computing it anew afterwards; windows of time have window_time(window)",
        )
    raise UnsupportedError(
        f"{named} has no watermark: nothing would ever be decided",
        hint=f"say how late rows may come: lateness='10 seconds', or df.withWatermark({time!r}, '10 seconds')",
    )


def check_no_watermark(own: Origin, time: str) -> None:
    """A second watermark would hold up the first, or be held up by it."""
    if own.has_watermark:
        on = "" if time.lower() in own.watermarked else f" (on another column than {time!r}: put it there)"
        raise UnsupportedError("lateness= is given for a stream that has a watermark already" + on, hint="leave out lateness=")


def behind_of(own: Origin, time: str) -> int:
    """How much older than the watermark the rows of another match can be."""
    if time.lower() not in own.behind:
        raise UnsupportedError(
            f"the rows are matches of another query, and their {time!r} can be older than the watermark, by no known time",
            hint="give that query a WITHIN in time, and take the time of one of its events as it is; or say how much older: lateness=",
        )
    return own.behind[time.lower()]
