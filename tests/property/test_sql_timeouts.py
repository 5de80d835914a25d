"""SHOW TIMEOUT MATCHES: random texts give what the reference gives, in whatever pieces, disorder and watermarks their rows come."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pyarrow as pa
import pytest
from tests.property.sql_texts import random_timeouts
from tests.property.test_sql_texts import rows_of

import ostinato as ost
from ostinato import reference
from ostinato.compiler import Query

BLOCKS, EACH = 6, 50
UNBOUNDED = 60  # longer than the times of a table


@pytest.mark.parametrize("block", range(BLOCKS))
def test_batches_and_sessions_give_what_the_reference_gives(block: int) -> None:
    for seed in range(block * EACH, (block + 1) * EACH):
        check(seed)


def check(seed: int) -> None:
    text, table = random_timeouts(seed)
    rng = random.Random(seed)
    lateness = rng.choice([0, 0, 2, 5, None])
    table = in_disorder(rng, table, UNBOUNDED if lateness is None else lateness)
    query = ost.compile(text, {"t": table.schema}, strategy=rng.choice([None, "threads"]))
    expected = rows_of(reference.output(query.algebra, table.to_pylist()))
    assert rows_of(ost.sql(text, t=table).to_arrow().to_pylist()) == expected, f"seed {seed}: {text}\n{table.to_pylist()}"
    found = in_pieces(rng, query, table, lateness)
    assert rows_of(found) == expected, f"seed {seed}, lateness {lateness}: {text}\n{table.to_pylist()}"


def in_disorder(rng: random.Random, table: pa.Table, lateness: int) -> pa.Table:
    """No row is older than the latest one before it by more than that."""
    arrives = [tick + rng.uniform(0, lateness) for tick in table["k"].to_pylist()]
    return table.take(pa.array(sorted(range(len(arrives)), key=arrives.__getitem__), pa.int64()))


def in_pieces(rng: random.Random, query: Query, table: pa.Table, lateness: int | None) -> list[dict[str, Any]]:
    time = query.algebra.time
    assert time is not None
    times = table[time].to_pylist()
    waits = datetime.timedelta(seconds=lateness) if lateness is not None and time == "ts" else lateness
    session = query.open(lateness=waits)
    found, at = [], 0
    while at < len(times):
        size = rng.choice([1, 1, 2, 5])
        found += session.push(table.slice(at, size)).to_pylist()
        at += size
        if rng.random() < 0.4:
            session = query.open(lateness=waits, snapshot=session.snapshot())
        if at < len(times) and rng.random() < 0.5:
            found += session.advance(min(times[at:])).to_pylist()
    return found + session.close().to_pylist()
