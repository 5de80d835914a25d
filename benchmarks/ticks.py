"""Price ticks for the benchmarks: a random walk per key, in time order, keys interleaved."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def random_walk(rows: int, keys: int, seed: int = 7) -> pa.Table:
    """Columns key, ts (one microsecond apart), price (45 % up, 45 % down, 10 % unchanged from tick to tick of a key), volume."""
    generator = np.random.default_rng(seed)
    key = generator.integers(0, keys, rows)
    order = np.argsort(key, kind="stable")
    steps = generator.choice(np.array([-1.0, 0.0, 1.0]), rows, p=[0.45, 0.1, 0.45])
    walk = np.cumsum(steps)
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    walk -= np.repeat(walk[first], np.diff(first, append=rows))
    price = np.empty(rows)
    price[order] = 1000.0 + 0.25 * walk
    times = np.arange(rows, dtype=np.int64) + 1_700_000_000_000_000
    return pa.table(
        {
            "key": key,
            "ts": pa.array(times, pa.timestamp("us")),
            "price": price,
            "volume": generator.integers(1, 1001, rows),
        }
    )


def with_text_keys(ticks: pa.Table) -> pa.Table:
    """The same rows by names of eight letters."""
    numbers = ticks.column("key").to_numpy()
    names = pa.array([f"SYM{number:05d}" for number in range(int(numbers.max()) + 1)])
    return ticks.set_column(0, "key", names.take(pa.array(numbers)))
