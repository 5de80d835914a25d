"""A few matches drawn on the price line."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.base.errors import DataError, UnsupportedError
from ostinato.cli.demo.queries import BURST_PATTERN

Event = tuple[datetime, float]
AROUND = timedelta(seconds=20)
SHOWN = 3
FALL, RISE, LINE = "#c1432f", "#2f7d4f", "#8a8f98"


def draw(ticks: pa.Table, v_shapes: pa.Table, bursts: pa.Table, path: Path) -> None:
    """Two rows of small plots: V shapes above, bursts below; the deepest ones first. Dots are the events that the pattern selected."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(2, SHOWN, figsize=(13, 6.4), constrained_layout=True)
    for axis, match in zip(axes[0], deepest(v_shapes, "start_price", "bottom_price"), strict=False):
        _draw_match(axis, ticks, match, contiguous_events(ticks, match))
    for axis, match in zip(axes[1], deepest(bursts, "burst_price", "low_price"), strict=False):
        _draw_match(axis, ticks, match, selected_events(ticks, match))
    for axis in axes.flat:
        if not axis.has_data():
            axis.set_visible(False)
    figure.suptitle("V shapes (SQL MATCH_RECOGNIZE, above) and recoveries after a burst of volume (SASE+, below); dots are selected events")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def deepest(matches: pa.Table, top: str, bottom: str) -> list[dict[str, Any]]:
    if matches.num_rows == 0:
        return []
    depth = pc.subtract(matches[top], matches[bottom])
    return matches.take(pc.sort_indices(depth, sort_keys=[("", "descending")])[:SHOWN]).to_pylist()


def contiguous_events(ticks: pa.Table, match: dict[str, Any]) -> list[Event]:
    """A row pattern takes every row from its first to its last."""
    rows = around(ticks, match["symbol"], match["start_ts"], match["end_ts"])
    return list(zip(rows["ts"].to_pylist(), rows["price"].to_pylist(), strict=True))


def selected_events(ticks: pa.Table, match: dict[str, Any]) -> list[Event]:
    """An event pattern leaves ticks out: the same pattern without RETURN says which ones it selected."""
    # Late: the command's other parts need no engine in this process.
    from ostinato.hosts import embedded

    rows = around(ticks, match["symbol"], match["start_ts"], match["end_ts"])
    for found in embedded.match(f"{BURST_PATTERN} OUTPUT first", ticks=rows).to_arrow().to_pylist():
        if (found["start_ts"], found["end_ts"]) == (match["start_ts"], match["end_ts"]):
            return [(event["ts"], event["price"]) for event in (found["a"], *found["b"], found["c"])]
    raise DataError("A match of the stream is no match of its own ticks.", hint="Compare the archive with the feed.")


def _draw_match(axis: Any, ticks: pa.Table, match: dict[str, Any], events: list[Event]) -> None:
    from matplotlib.dates import AutoDateLocator, DateFormatter

    start, end = match["start_ts"], match["end_ts"]
    rows = around(ticks, match["symbol"], start - AROUND, end + AROUND)
    axis.plot(rows["ts"].to_pylist(), rows["price"].to_pylist(), color=LINE, linewidth=1)
    low = min(range(len(events)), key=lambda number: events[number][1])
    for part, colour in ((events[low:], RISE), (events[: low + 1], FALL)):
        times, prices = zip(*part, strict=True)
        axis.plot(times, prices, color=colour, linewidth=1, linestyle=":", marker="o", markersize=4)
    axis.set_title(f"{match['symbol']} {start:%H:%M:%S} to {end:%H:%M:%S}", fontsize=10)
    axis.xaxis.set_major_locator(AutoDateLocator(minticks=3, maxticks=5))
    axis.xaxis.set_major_formatter(DateFormatter("%H:%M:%S"))
    axis.tick_params(axis="both", labelsize=8)


def around(ticks: pa.Table, symbol: str, start: Any, end: Any) -> pa.Table:
    zone = ticks.schema.field("ts").type
    wanted = pc.and_(
        pc.equal(ticks["symbol"], symbol),
        pc.and_(pc.greater_equal(ticks["ts"], pa.scalar(start, zone)), pc.less_equal(ticks["ts"], pa.scalar(end, zone))),
    )
    return ticks.filter(wanted).sort_by("ts")


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise UnsupportedError("The picture needs matplotlib.", hint="Install it with: pip install 'ostinato[plot]'") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
