"""A market feed that is the same on every machine: prices walk, fall into a dip now and then, and volume bursts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

SYMBOLS = ("ADAGIO", "BRIO", "CODA", "DOLCE", "FUGA", "LENTO")
OPENING = int(datetime(2026, 3, 2, 9, 0, tzinfo=UTC).timestamp() * 1_000_000)
SECOND = 1_000_000
SCHEMA = pa.schema([("symbol", pa.string()), ("ts", pa.timestamp("us", tz="UTC")), ("price", pa.float64()), ("volume", pa.int64())])


@dataclass(frozen=True)
class Feed:
    """Ticks in the order in which they arrive: late by up to `lateness_seconds`, never more."""

    ticks: pa.Table
    lateness_seconds: int

    def in_parts(self, parts: int) -> list[pa.Table]:
        size = -(-self.ticks.num_rows // parts)
        return [self.ticks.slice(start, size) for start in range(0, self.ticks.num_rows, size)]


def market_feed(ticks_per_symbol: int = 5_000, lateness_seconds: int = 5, seed: int = 2026) -> Feed:
    """One tick a second for each symbol, then two quiet ones, after a minute and after two hours: the first ends every trend, the
    second lets the watermark pass, so that a stream decides all that a batch does."""
    tables = [_symbol_ticks(number, name, ticks_per_symbol, seed) for number, name in enumerate(SYMBOLS)]
    ticks = pa.concat_tables(tables)
    times = ticks["ts"].cast(pa.int64()).to_numpy()
    delay = _uniform(seed + 99, len(times)) * lateness_seconds * SECOND
    arrival = np.argsort(times + delay.astype(np.int64), kind="stable")
    return Feed(ticks.take(pa.array(arrival)), lateness_seconds)


def _symbol_ticks(number: int, name: str, count: int, seed: int) -> pa.Table:
    # Symbols tick a few milliseconds apart, so that no two events have the same time.
    times = OPENING + np.arange(count, dtype=np.int64) * SECOND + number * 7_000
    quiet = times[-1] + np.array([60, 7_200], np.int64) * SECOND
    prices = np.round(_prices(seed + 10 * number, count), 2)
    volumes = _volumes(seed + 10 * number + 5, count)
    return pa.table(
        [
            pa.array([name] * (count + 2)),
            pa.array(np.concatenate([times, quiet]), pa.timestamp("us", tz="UTC")),
            pa.array(np.concatenate([prices, prices[-1:], prices[-1:]])),
            pa.array(np.concatenate([volumes, [1, 1]])),
        ],
        schema=SCHEMA,
    )


def _prices(seed: int, count: int) -> np.ndarray:
    """A random walk around 100 with a dip roughly every 400 ticks: some ticks straight down, then straight up."""
    steps = (_uniform(seed, count) - 0.5) * 0.6
    depth = _uniform(seed + 1, count)
    width = 6 + (_uniform(seed + 2, count) * 8).astype(np.int64)
    for start in np.flatnonzero(_uniform(seed + 3, count) < 1 / 400).tolist():
        middle, end = start + int(width[start]), start + 2 * int(width[start])
        fall = 0.15 + 0.5 * depth[start]
        steps[start:middle] = -fall * (0.6 + _uniform(seed + start, middle - start)[: len(steps[start:middle])])
        steps[middle:end] = fall * (0.6 + _uniform(seed + start + 1, end - middle)[: len(steps[middle:end])])
    return np.maximum(100 + np.cumsum(steps), 5.0)


def _volumes(seed: int, count: int) -> np.ndarray:
    usual = 200 + (_uniform(seed, count) * 600).astype(np.int64)
    burst = _uniform(seed + 1, count) < 1 / 250
    return np.where(burst, usual * 12, usual)


def _uniform(seed: int, count: int) -> np.ndarray:
    """Numbers in [0, 1) by splitmix64: unlike a library's generator it can never change under us."""
    with np.errstate(over="ignore"):
        state = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return (state >> np.uint64(11)).astype(np.float64) / float(1 << 53)
