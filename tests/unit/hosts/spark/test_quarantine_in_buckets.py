"""Queries of a set that fail, as Spark runs them but without Spark: each bucket or task puts its own aside, and tells so."""

from __future__ import annotations

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from tests.unit.hosts.spark.driven_buckets import DrivenBuckets
from tests.unit.runtime.test_quarantine import FAILING, GOOD, SCHEMA, events, made

import ostinato as ost
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.types import as_on_spark
from ostinato.hosts.spark.work import Work
from ostinato.tasks import keyed_pass
from ostinato.tasks.keyed_pass import set_pass
from ostinato.tasks.set_output import QUERY_ERROR, errors_table, with_errors

NAMES = ("pairs", "row", "absent", "dynamic", "composed", "second step")


def work_of(queries: ost.QuerySet, quarantines: bool = True) -> Work:
    output = as_on_spark(queries.output_schema)
    return Work(queries.program, with_errors(output) if quarantines else output, is_set=True, quarantines=quarantines)


def alone(name: str, table: pa.Table) -> list[str]:
    found = ost.match(GOOD[name], t=table).to_arrow()
    return sorted(repr(row) for row in found.to_pylist())


def own(rows: list[dict], name: str) -> list[str]:
    chosen = [row for row in rows if row["query_id"] == name and row[QUERY_ERROR] is None]
    columns = made([name]).output_schema.names[1:]
    return sorted(repr({column: row[column] for column in columns}) for row in chosen)


@pytest.mark.parametrize("seed", range(3))
def test_a_stream(seed):
    """Every micro-batch goes on from the stored snapshot: an error is told once in each bucket."""
    table = events(120, seed, bad=50)
    driven = DrivenBuckets(work_of(made(NAMES)), Waiting(0, 1), buckets=3)
    found = [row for first in range(0, 120, 20) for row in driven.batch(table.slice(first, 20))] + driven.end()
    for name in ("pairs", "absent", "composed"):
        assert own(found, name) == alone(name, table), name
    errors = [row for row in found if row[QUERY_ERROR] is not None]
    assert {row["query_id"] for row in errors} == {"row", "dynamic", "second step"}
    assert all("64 bits" in row[QUERY_ERROR] and row["a"] is None for row in errors)
    assert len(errors) <= 3 * len(driven.buckets)


def test_the_tail_of_a_stream_tells_what_fails_at_the_end():
    table = events(40, 1, bad=40)
    driven = DrivenBuckets(work_of(made(("pairs", "measure"))), Waiting(1000, 1), buckets=3)
    bad = pa.table({"ts": [41], "k": ["k1"], "v": [3]}, schema=SCHEMA)
    assert driven.batch(table) == [] and driven.batch(bad) == []
    (error,) = [row for row in driven.tail() if row[QUERY_ERROR] is not None]
    assert error["query_id"] == "measure" and "64 bits" in error[QUERY_ERROR]


def test_where_errors_are_to_be_raised():
    driven = DrivenBuckets(work_of(made(("pairs", "row")), quarantines=False), Waiting(0, 1), buckets=3)
    with pytest.raises(ost.DataError, match="64 bits"):
        driven.batch(events(60, 1, bad=0))


@pytest.mark.parametrize("size", [7, 1000])
def test_a_batch_by_key(size, monkeypatch):
    """Sessions of one task follow one another; a query that has failed in one is left out in those after it."""
    monkeypatch.setattr(keyed_pass, "ROWS_AT_ONCE", size)
    table = events(120, 2, bad=0).sort_by([("k", "ascending"), ("ts", "ascending")])
    queries = made(("pairs", "row", "absent"))
    failed: dict[str, ost.OstinatoError] = {}
    parts = [table.slice(first, size) for first in range(0, table.num_rows, size)]
    found = list(set_pass(queries.program, ["k"], parts, failed=failed))
    assert set(failed) == {"row"}
    for name in ("pairs", "absent"):
        together = [repr(row) for one in found if name in one for row in one[name].to_pylist()]
        assert sorted(together) == alone(name, table), name
    output = with_errors(as_on_spark(queries.output_schema))
    (row,) = errors_table(failed, output).to_pylist()
    assert row == {"query_id": "row", "a": None, "b": None, QUERY_ERROR: str(failed["row"])}
    with pytest.raises(ost.DataError):
        list(set_pass(queries.program, ["k"], parts))


def test_a_batch_of_composed_texts():
    assert set(FAILING) >= {"first step", "second step"}
    table = events(120, 3, bad=30)
    with pytest.warns(ost.QuarantineWarning, match=r"'first step' has failed.*\n(.*\n)*.*'second step' has failed"):
        found = ost.match_all(made(("composed", "first step", "second step")), t=table)
    assert set(found.quarantined) == {"first step", "second step"} and set(found) == {"composed"}
    assert sorted(repr(row) for row in found["composed"].to_pylist()) == alone("composed", table)
