"""Rows that wait are checked when they come."""

import pyarrow as pa
import pytest

import ostinato as ost

LARGE = 2**62
SCHEMA = pa.schema([("ts", pa.timestamp("us")), ("k", pa.string()), ("v", pa.int64())])
ALONE = "PATTERN SEQ(T a, T b) WHERE skip_till_next_match(a, b) { [k] AND a.v * 4 > 8 AND b.v < a.v } WITHIN 10 seconds"
CLAUSE = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS v PATTERN (A B) WITHIN INTERVAL '10' SECOND
DEFINE B AS {condition})"""


def batch(*rows: tuple[int, str | None, int]) -> pa.Table:
    return pa.table({"ts": [s * 1_000_000 for s, _, _ in rows], "k": [k for _, k, _ in rows], "v": [v for _, _, v in rows]}).cast(SCHEMA)


def session(text: str, lateness: int | None = 5_000_000) -> ost.Session:
    return ost.compile(text, {"t": SCHEMA}).open(lateness=lateness)


@pytest.mark.parametrize("text", [ALONE, CLAUSE.format(condition="v * 4 > 4")])
@pytest.mark.parametrize("lateness", [5_000_000, None])
def test_what_cannot_be_computed_is_refused_with_its_batch(text: str, lateness: int | None) -> None:
    opened = session(text, lateness)
    opened.push(batch((1, "x", 3)))
    kept = opened.snapshot()
    with pytest.raises(ost.DataError, match="64 bits"):
        opened.push(batch((2, "x", LARGE)))
    again = ost.compile(text, {"t": SCHEMA}).open(lateness=lateness, snapshot=kept)
    again.push(batch((2, "x", 2)))
    assert again.close().num_rows == 1


def test_late_rows_and_rows_of_no_partition_are_not_computed() -> None:
    opened = session(ALONE)
    opened.push(batch((100, "x", 3)))
    opened.push(batch((1, "x", LARGE), (101, None, LARGE), (102, "x", 1)))
    assert opened.metrics()["late_rows"] == 1
    assert opened.close().num_rows == 1


def test_neighbours_are_known_only_in_order() -> None:
    """In the order of arrival the two rows would be multiplied."""
    opened = session(CLAUSE.format(condition="v * PREV(v) > 0"))
    opened.push(batch((1, "x", LARGE), (3, "x", LARGE), (2, "x", 0)))
    assert opened.close().num_rows == 0
