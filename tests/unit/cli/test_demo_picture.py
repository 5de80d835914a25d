"""The picture marks the events that a pattern selected, and says when they were."""

import pytest

from ostinato.cli.demo.feed import market_feed
from ostinato.cli.demo.picture import around, contiguous_events, deepest, draw, selected_events
from ostinato.cli.demo.queries import BURST, V_SHAPE
from ostinato.hosts import embedded

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def ticks():
    return market_feed(600).ticks.sort_by([("symbol", "ascending"), ("ts", "ascending")])


def test_selected_events_of_both_patterns(ticks):
    shapes = embedded.sql(V_SHAPE, ticks=ticks).to_arrow()
    for match in deepest(shapes, "start_price", "bottom_price"):
        events = contiguous_events(ticks, match)
        assert len(events) == match["ticks"] and min(price for _, price in events) == match["bottom_price"]
    bursts = embedded.match(BURST, ticks=ticks).to_arrow()
    assert bursts.num_rows
    left_out = 0
    for match in deepest(bursts, "burst_price", "low_price"):
        events = selected_events(ticks, match)
        assert len(events) == match["falls"] + 2
        assert [price for _, price in events[1:-1]] == sorted((price for _, price in events[1:-1]), reverse=True)
        left_out += around(ticks, match["symbol"], match["start_ts"], match["end_ts"]).num_rows - len(events)
    assert left_out > 0


def test_the_picture_has_times(ticks, tmp_path, monkeypatch):
    from matplotlib import pyplot

    shown = []
    monkeypatch.setattr(pyplot, "close", lambda figure: shown.append(figure))
    shapes, bursts = embedded.sql(V_SHAPE, ticks=ticks).to_arrow(), embedded.match(BURST, ticks=ticks).to_arrow()
    draw(ticks, shapes, bursts, tmp_path / "matches.png")
    assert (tmp_path / "matches.png").stat().st_size > 10_000
    labels = [label.get_text() for label in shown[0].axes[0].get_xticklabels()]
    assert any(label.count(":") == 2 for label in labels)
