"""Situations that are rows by themselves are what the definition says: however rows are cut, mixed up, or the session is saved in between;
and as streams that other queries read."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_tpstream_equals_reference import RANDOM, alike, compiled, expected, found_in_time, in_time
from tests.property.tpstream_meaning import meaning
from tests.property.tpstream_texts import READ, Written, written

from ostinato.compiler import compile
from ostinato.hosts import embedded

pytestmark = pytest.mark.filterwarnings("ignore::ostinato.lang.streams.explosion.ExplosionWarning")
SITUATIONS = written(pattern=False, most_rows=24)


@settings(max_examples=60, deadline=None)
@given(SITUATIONS, RANDOM)
def test_in_time_and_saved_in_between(case: Written, random: Random) -> None:
    query = compiled(case)
    if query is None:
        return
    assert alike(found_in_time(query, case, random), expected(case))


@settings(max_examples=40, deadline=None)
@given(SITUATIONS)
def test_by_the_host(case: Written) -> None:
    if compiled(case) is not None:
        assert alike(embedded.match(case.text, streams=case.tables, **case.options).to_arrow().to_pylist(), expected(case))


@settings(max_examples=40, deadline=None)
@given(written(pattern=False, most_rows=24, read=READ[:1]), RANDOM)
def test_quiet_rows_change_nothing(case: Written, random: Random) -> None:
    query = compiled(case)
    assert query is not None
    plain = compile(case.text, {name: table.schema for name, table in case.tables.items()}, without=("quiet_rows",), **case.options)
    pieces = list(in_time(query, case, random))
    found = []
    for one in (query, plain):
        session = one.open(lateness=0)
        outputs = [session.push(stream, piece) for stream, piece in pieces]
        found.append((pa.concat_tables([*outputs, session.close()]), session.metrics()["peak_situations"]))
    assert found[0] == found[1]


@settings(max_examples=40, deadline=None)
@given(written(pattern=False, read=READ[:1], most_situations=2), RANDOM, st.sampled_from(("earliest", "final")))
def test_a_pattern_of_situations_that_another_query_published(case: Written, random: Random, latency: str) -> None:
    """They last for those who read them; partitions, where there are any, are the same."""
    by = next((line.partition(" PARTITION BY ")[2] for line in case.text.splitlines() if " PARTITION BY " in line), "")
    text = f"""{case.text} PUBLISH found;
        FROM found{f" PARTITION BY {by}" if by else ""} DEFINE X AS n > 1, Y AS situation = 'A'
        PATTERN X before;meets;overlaps;during;starts Y RETURN first(X.n) AS x, first(Y.n) AS y, first(X.situation) AS s"""
    options = {"language": "tpstream", "latency": latency}
    query = compile(text, {name: table.schema for name, table in case.tables.items()}, **options)
    session = query.open(lateness=0)
    outputs = [session.push(stream, piece) for stream, piece in in_time(query, case, random)]
    found = pa.concat_tables([*outputs, session.close()]).to_pylist()
    assert alike(found, meaning(text, case.tables, **options))
