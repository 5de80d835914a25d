"""`ostinato demo`: a market feed on a local Spark, streamed and archived, matched live and again from the archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.console import Console

from ostinato.base.errors import DataError
from ostinato.cli.demo.feed import Feed, market_feed
from ostinato.cli.demo.page import write_page
from ostinato.cli.demo.picture import draw
from ostinato.cli.demo.pipeline import Outcome, Pipeline
from ostinato.cli.demo.queries import BURST, EXPLAINED, V_SHAPE
from ostinato.cli.kernels import prepare_kernels
from ostinato.cli.progress import progress
from ostinato.cli.spark_session import spark_session
from ostinato.cli.terminal import show_table, standard_output

PARTS = 4


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the feed, the archive, the matches and the picture go.")] = Path(
        "demo-output"
    ),
    ticks: Annotated[int, typer.Option(min=200, help="Ticks of each of the six symbols.")] = 5_000,
) -> None:
    """Stream a generated market feed through an SQL and a SASE+ query on a local Spark, archive it, and query the archive."""
    console, errors = standard_output(), Console(stderr=True)
    prepare_kernels(("scan", "runs"), errors)  # before Spark's workers would all want to
    feed = market_feed(ticks)
    output.mkdir(parents=True, exist_ok=True)
    found = _on_spark(feed, output, errors)
    for (title, explanation), outcome in zip(EXPLAINED.items(), found.values(), strict=True):
        show_table(_clock_times(outcome.live.sort_by("start_ts")), console, limit=6, title=f"{title}: {explanation}")
        verdict = "the same matches" if outcome.agree else "DIFFERENT matches"
        console.print(f"Live stream and archive: {verdict} ({outcome.live.num_rows} and {outcome.archived.num_rows})\n")
    _leave_pictures(feed, found, output)
    console.print(f"Picture: {output / 'matches.png'}\nPage:    {output / 'index.html'}", markup=False, highlight=False)
    if not all(outcome.agree for outcome in found.values()):
        raise DataError("The stream and the archive disagree.", hint=f"Compare {output / 'matches'} with a run over {output / 'archive'}.")


def _on_spark(feed: Feed, output: Path, errors: Console) -> dict[str, Outcome]:
    errors.print(f"Starting Spark; its own messages go to {output / 'spark.log'}", markup=False, highlight=False, soft_wrap=True)
    with spark_session(output / "spark.log") as session, progress("Preparing", errors) as meter:
        pipeline = Pipeline(session, output.absolute(), meter.says)
        pipeline.prepare()
        pipeline.land(feed, PARTS)
        live = pipeline.stream(feed)
        archived = pipeline.query_archive()
    return {name: Outcome(live[name], archived[name]) for name in live}


def _leave_pictures(feed: Feed, found: dict[str, Outcome], output: Path) -> None:
    v_shapes, bursts = (outcome.live.sort_by("start_ts") for outcome in found.values())
    draw(_in_order(feed.ticks), v_shapes, bursts, output / "matches.png")
    sections = [
        (title, explanation, text, outcome.live.sort_by("start_ts"), outcome.agree)
        for (title, explanation), text, outcome in zip(EXPLAINED.items(), (V_SHAPE, BURST), found.values(), strict=True)
    ]
    write_page(output / "index.html", "matches.png", sections, feed.ticks.num_rows)


def _clock_times(matches: pa.Table) -> pa.Table:
    """It is all one day: the time of day is enough to read."""
    for number, field in enumerate(matches.schema):
        if pa.types.is_timestamp(field.type):
            seconds = pc.floor_temporal(matches[number], unit="second").cast(pa.timestamp("s"))
            matches = matches.set_column(number, field.name.removesuffix("_ts"), pc.strftime(seconds, format="%H:%M:%S"))
    return matches


def _in_order(ticks: pa.Table) -> pa.Table:
    return ticks.sort_by([("symbol", "ascending"), ("ts", "ascending")])
