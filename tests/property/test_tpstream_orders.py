"""In whatever order situations are looked for, and whether or not those without a partner are let go of, the same is found."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.property.test_tpstream_equals_reference import RANDOM, alike, compiled, expected, in_time
from tests.property.tpstream_texts import Written, written

from ostinato.compiler import compile
from ostinato.program.intervals import IntervalPattern
from ostinato.query import Query
from ostinato.runtime.intervals import search_orders

pytestmark = pytest.mark.filterwarnings("ignore::ostinato.lang.streams.explosion.ExplosionWarning")


def found(query: Query, case: Written, random: Random, saved: float = 0.0) -> tuple[list[dict[str, object]], dict[str, int]]:
    session = query.open(lateness=0)
    outputs = []
    for stream, piece in in_time(query, case, random):
        outputs.append(session.push(stream, piece))
        if random.random() < saved:
            session = query.open(snapshot=session.snapshot())
    outputs.append(session.close())
    return pa.concat_tables(outputs).to_pylist(), session.metrics()


@settings(max_examples=60, deadline=None)
@given(written(most_rows=30), RANDOM)
def test_any_order_finds_the_same(case: Written, random: Random) -> None:
    """Those that nothing relates may follow one another, too."""
    query = compiled(case)
    if query is None:
        return
    pattern = query.pattern
    assert isinstance(pattern, IntervalPattern)
    count = len(pattern.definitions)
    orders = tuple((first, *random.sample([n for n in range(count) if n != first], count - 1)) for first in range(count))
    forced = replace(query, pattern=replace(pattern, orders=orders, adapts=False, drops_partnerless=random.random() < 0.5))
    assert alike(found(forced, case, random)[0], expected(case))


@settings(max_examples=60, deadline=None)
@given(written(most_rows=30), RANDOM)
def test_orders_that_change_all_the_time_find_the_same(case: Written, random: Random) -> None:
    """Averages are brought up to date at every moment; they survive a snapshot."""
    query = compiled(case)
    if query is None:
        return
    with patch.object(search_orders, "FIRST_PERIOD", 1), patch.object(search_orders, "LAST_PERIOD", 1):
        rows, _ = found(query, case, random, saved=0.3)
    assert alike(rows, expected(case))


@settings(max_examples=40, deadline=None)
@given(written(most_rows=30), RANDOM)
def test_those_without_a_partner_are_missed_by_nobody(case: Written, random: Random) -> None:
    query = compiled(case)
    if query is None:
        return
    kept = compile(case.text, {name: table.schema for name, table in case.tables.items()}, without=("partnerless",), **case.options)
    pieces = random.random()
    (rows, metrics), (wanted, all_metrics) = (found(one, case, Random(pieces)) for one in (query, kept))
    assert alike(rows, wanted)
    assert all_metrics["partnerless_situations"] == 0 and metrics["situations_made"] == all_metrics["situations_made"]
    assert metrics["peak_situations"] <= all_metrics["peak_situations"]
