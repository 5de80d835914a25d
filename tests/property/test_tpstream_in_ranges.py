"""Random patterns of situations over Parquet files, in as many time ranges as there are row groups, mean what they mean."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.conformance.task_engines import cuts_in_time, in_ranges
from tests.property.test_tpstream_equals_reference import alike, compiled, expected
from tests.property.tpstream_texts import Written, written

pytestmark = pytest.mark.filterwarnings("ignore::ostinato.lang.streams.explosion.ExplosionWarning")


@settings(max_examples=60, deadline=None)
@given(written(most_rows=24, read=(("s",), ("s",), ("j",))))
def test_ranges_mean_what_the_text_means(case: Written) -> None:
    query = compiled(case)
    (table,) = case.tables.values()
    if query is None or not cuts_in_time(query, table):
        return
    found = in_ranges(query, table.sort_by(query.pattern.reads.time_name)).to_pylist()
    assert alike(sorted(found, key=str), sorted(expected(case), key=str))


@settings(max_examples=80, deadline=None)
@given(written(most_rows=24, read=(("s",), ("s",), ("j",)), pattern=False, bounded=True))
def test_situations_by_themselves(case: Written) -> None:
    query = compiled(case)
    (table,) = case.tables.values()
    if query is None or not table.num_rows:
        return
    assert cuts_in_time(query, table)
    found = in_ranges(query, table.sort_by(query.pattern.reads.time_name)).to_pylist()
    assert alike(sorted(found, key=str), sorted(expected(case), key=str))
