"""Which conditions are evaluated early, and what is left to be read."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.unit.hosts.spark.driven_buckets import DrivenBuckets

import ostinato as ost
from ostinato.hosts.spark.streaming.match_source import early_conditions
from ostinato.hosts.spark.streaming.waiting import Waiting
from ostinato.hosts.spark.work import Work
from ostinato.tasks.early_conditions import EarlyConditions
from ostinato.tasks.quiet_rows import HOLDS

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("f", pa.bool_()), ("x", pa.float64()), ("y", pa.float64())])
pytestmark = pytest.mark.filterwarnings("ignore::ostinato.lang.streams.explosion.ExplosionWarning")


def early(text: str, **options: str) -> EarlyConditions | None:
    return early_conditions(Work.of(ost.compile(text, {"t": SCHEMA}, language="tpstream", **options)))


def read(conditions: EarlyConditions | None) -> list[str]:
    assert conditions is not None
    return [column.name.replace(HOLDS, "#") for column in conditions.matching.reads.columns]


def test_columns_that_conditions_alone_read_stay_away() -> None:
    told = early("FROM t DEFINE A AS x > 1 AND f, B AS y < 2 PATTERN A before B WITHIN 9 RETURN avg(B.x) AS x")
    assert read(told) == ["ts", "x", "#0", "#1"] and told is not None and told.leaves_out


def test_what_looks_at_other_rows_is_evaluated_where_these_are() -> None:
    told = early("FROM t DEFINE A AS x > 1, B AS y > PREV(y) PATTERN A before B WITHIN 9")
    assert read(told) == ["ts", "y", "#0"] and told is not None and not told.leaves_out
    assert early("FROM t DEFINE B AS y > PREV(y) PATTERN B WITHIN 9") is None


def test_where_keys_divide_the_rows_nothing_is_evaluated_early() -> None:
    assert early("FROM t PARTITION BY k DEFINE A AS x > 1 PATTERN A WITHIN 9") is None


def test_rows_that_situations_take_in_are_asked_for() -> None:
    def asked(definition: str, latency: str = "earliest") -> tuple[str, ...]:
        told = early(f"FROM t DEFINE A AS x > 1{definition}, B AS y > 1 PATTERN A before B WITHIN 9 RETURN max(B.x) AS x", latency=latency)
        assert told is not None
        return told.asked_for

    assert asked("") == (f"{HOLDS}1",)
    assert asked(" AT LEAST 3") == (f"{HOLDS}0", f"{HOLDS}1")
    assert asked(" AT LEAST 3", "final") == asked(" AT MOST 3") == (f"{HOLDS}1",)


def test_a_condition_that_is_a_column_leaves_it_to_others_as_it_is() -> None:
    """PREV read where the condition holds: unknown was false."""
    text = "FROM t DEFINE A AS f, B AS NOT PREV(f) PATTERN B before;meets;overlaps;equals A WITHIN 9 RETURN count(B.*) AS n"
    rows = pa.table({"ts": [1, 2, 3, 4, 5], "f": [None, True, False, True, False]})
    query = ost.compile(text, {"t": SCHEMA}, language="tpstream")
    buckets = DrivenBuckets(Work.of(query), Waiting(0, 1))
    found = buckets.batch(rows) + buckets.end()
    with_all = rows.append_column("k", pa.nulls(5, pa.int64())).append_column("x", pa.nulls(5, pa.float64()))
    whole = ost.match(text, language="tpstream", t=with_all.append_column("y", pa.nulls(5, pa.float64())))
    assert found == whole.to_arrow().to_pylist() and len(found) == 1


def test_a_row_without_a_time_is_an_error_where_it_is_read() -> None:
    work = Work.of(ost.compile("FROM t DEFINE A AS x > 1 PATTERN A WITHIN 9", {"t": SCHEMA}, language="tpstream"))
    with pytest.raises(ost.DataError, match=r'the time column "ts" of stream "t" is null \(in the row x=4\.0\)'):
        DrivenBuckets(work, Waiting(0, 1)).batch(pa.table({"ts": pa.array([1, None], pa.int64()), "x": [2.0, 4.0]}))
