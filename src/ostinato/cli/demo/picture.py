"""A few matches drawn on the price line."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.base.errors import UnsupportedError

AROUND = timedelta(seconds=20)
SHOWN = 3
FALL, RISE, LINE = "#c1432f", "#2f7d4f", "#8a8f98"


def draw(ticks: pa.Table, v_shapes: pa.Table, bursts: pa.Table, path: Path) -> None:
    """Two rows of small plots: V shapes above, bursts below; the deepest ones first."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(2, SHOWN, figsize=(13, 6.4), constrained_layout=True)
    for row, (matches, depth) in enumerate(((v_shapes, ("start_price", "bottom_price")), (bursts, ("burst_price", "low_price")))):
        for axis, match in zip(axes[row], deepest(matches, *depth), strict=False):
            _draw_match(axis, ticks, match)
    for axis in axes.flat:
        if not axis.has_data():
            axis.set_visible(False)
    figure.suptitle("V shapes (SQL MATCH_RECOGNIZE, above) and recoveries after a burst of volume (SASE+, below)")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def deepest(matches: pa.Table, top: str, bottom: str) -> list[dict[str, Any]]:
    if matches.num_rows == 0:
        return []
    depth = pc.subtract(matches[top], matches[bottom])
    return matches.take(pc.sort_indices(depth, sort_keys=[("", "descending")])[:SHOWN]).to_pylist()


def _draw_match(axis: Any, ticks: pa.Table, match: dict[str, Any]) -> None:
    start, end = match["start_ts"], match["end_ts"]
    rows = around(ticks, match["symbol"], start - AROUND, end + AROUND)
    times, prices = rows["ts"].to_pylist(), rows["price"].to_pylist()
    axis.plot(times, prices, color=LINE, linewidth=1)
    inside = [number for number, time in enumerate(times) if start <= time <= end]
    low = min(inside, key=lambda number: prices[number])
    for part, colour in (([n for n in inside if n <= low], FALL), ([n for n in inside if n >= low], RISE)):
        axis.plot([times[n] for n in part], [prices[n] for n in part], color=colour, linewidth=2, marker="o", markersize=3)
    axis.set_title(f"{match['symbol']} {start:%H:%M:%S} to {end:%H:%M:%S}", fontsize=10)
    axis.tick_params(axis="x", labelbottom=False)
    axis.tick_params(axis="y", labelsize=8)


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
