"""The demonstration's feed is the same everywhere, and late only as much as it says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.cli.demo.feed import SYMBOLS, market_feed


def test_the_feed_is_deterministic():
    first, second = market_feed(300), market_feed(300)
    assert first.ticks.equals(second.ticks)
    assert first.ticks.num_rows == len(SYMBOLS) * 302
    brio = first.ticks.filter(pa.compute.equal(first.ticks["symbol"], "BRIO")).sort_by("ts")
    assert brio["price"].to_pylist()[:4] == [100.14, 99.9, 100.03, 99.82]
    assert brio["volume"].to_pylist()[:4] == [439, 241, 277, 778]


def test_no_tick_is_later_than_promised():
    feed = market_feed(500)
    times = feed.ticks["ts"].cast(pa.int64()).to_numpy()
    behind = np.maximum.accumulate(times) - times
    assert 0 < behind.max() <= feed.lateness_seconds * 1_000_000


def test_parts_cover_the_feed():
    feed = market_feed(250)
    parts = feed.in_parts(4)
    assert len(parts) == 4
    assert pa.concat_tables(parts).equals(feed.ticks)
