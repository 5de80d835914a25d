"""Conditions evaluated before rows come to their one bucket change nothing: however rows are divided into batches, and mixed up in time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_tpstream_equals_reference import RANDOM, alike
from tests.property.tpstream_meaning import meaning
from tests.property.tpstream_texts import Written, written
from tests.unit.hosts.spark.driven_buckets import DrivenBuckets

from ostinato.compiler import compile
from ostinato.hosts.spark.streaming.match_source import early_conditions
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.work import Work

pytestmark = pytest.mark.filterwarnings("ignore")
STREAMS = (("s",), ("s",), ("s", "t"), ("s", "j"))


@settings(max_examples=120, deadline=None)
@given(written(most_rows=40, read=STREAMS), st.sampled_from((0, 0, 2, 5)), RANDOM)
def test_patterns_without_a_key(case: Written, lateness: int, random: Random) -> None:
    _check(case, lateness, random)


@settings(max_examples=120, deadline=None)
@given(written(most_rows=40, read=(("s",),), conditions=("f AND g", "x > 2", "NOT f AND x = 1")), st.sampled_from((0, 2, 5)), RANDOM)
def test_rows_at_which_nothing_changes(case: Written, lateness: int, random: Random) -> None:
    """Most rows are in no situation."""
    _check(case, lateness, random)


@settings(max_examples=60, deadline=None)
@given(written(most_rows=40, read=(("s",),), pattern=False), st.sampled_from((0, 2)), RANDOM)
def test_situations_by_themselves(case: Written, lateness: int, random: Random) -> None:
    _check(case, lateness, random)


def _check(case: Written, lateness: int, random: Random) -> None:
    """Nothing is returned but the times where rows may be left out."""
    text = case.text.replace(" PARTITION BY k, s", "").replace(" PARTITION BY k", "")
    if random.random() < 0.5:
        text = text[: text.index("\nRETURN")]
    case = Written(text, case.tables, case.latency, case.integers)
    work = Work.of(compile(text, {name: table.schema for name, table in case.tables.items()}, **case.options))
    if len(work.patterns) == 1 and not any(name in text for name in ("PREV", "TRUE")):
        assert early_conditions(work) is not None
    unit = 1 if case.integers else 1_000_000
    buckets = DrivenBuckets(work, Waiting(lateness * unit, len(work.streams)))
    found = []
    for batches in _arriving(case, work, lateness * unit, random):
        found += buckets._run([buckets.packers[number].pack(rows) for number, rows in batches])
    found += buckets.end()
    assert buckets.late == 0
    assert alike(sorted(found, key=str), sorted(meaning(text, case.tables, latency=case.latency), key=str))


def _arriving(case: Written, work: Work, lateness: int, random: Random) -> Iterator[list[tuple[int, pa.Table]]]:
    """Micro-batches of batches of rows. Rows come later than others by no more than the lateness; those of one time stay in their order."""
    rows = []
    for number, stream in enumerate(work.streams):
        table = case.tables[stream.name]
        times = table.column(stream.time).cast(pa.int64()).to_pylist() if table.num_rows else []
        shifts = {time: random.randint(0, lateness) for time in times}
        rows += [(time + shifts[time], number, place, time) for place, time in enumerate(times)]
    rows.sort()
    while rows:
        size = random.choice((1, 4, 12, 40))
        now, rows = rows[:size], rows[size:]
        length = random.choice((0, 5, 40))  # 0: batches have times that lie between those of others
        parts = sorted((number, at // length if length else time % 3, place) for at, (_, number, place, time) in enumerate(now))
        batches = [(key[0], [place for _, _, place in group]) for key, group in groupby(parts, key=lambda part: part[:2])]
        yield [(number, case.tables[work.streams[number].name].select(_names(work, number)).take(places)) for number, places in batches]


def _names(work: Work, number: int) -> list[str]:
    return [column.name for column in work.streams[number].reads.columns]
