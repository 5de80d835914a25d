"""Rows at which nothing changes are left out before they are sent, and put back where others may have come between."""

from __future__ import annotations

import pyarrow as pa

from ostinato.runtime.rows.reorder import NEVER
from ostinato.tasks.quiet_rows import SentRows, put_together, without_quiet


def rows(first: int, truth: str, times: list[int] | None = None) -> pa.Table:
    """A row per second, from the first on; `x` is what others carry."""
    count = len(truth)
    listed = list(range(first, first + count)) if times is None else times
    return pa.table({"ts": listed, "x": list(range(count)), "holds": [sign == "1" for sign in truth]})


def sent(table: pa.Table) -> SentRows:
    return without_quiet(table, "ts", ("holds",), ("holds",))


def times(table: pa.Table | None) -> list[int]:
    return [] if table is None else table.column("ts").to_pylist()


def together(*batches: SentRows, seen: int = NEVER, open_from: int = 1000) -> list[int]:
    return times(put_together(batches, "ts", seen, open_from))


def test_what_has_equal_neighbours_is_left_out() -> None:
    one = sent(rows(0, "0000110000"))
    assert times(one.rows) == [0, 3, 4, 5, 6, 9] and times(one.quiet) == [1, 2, 7, 8]
    assert one.quiet is not None and one.quiet.column_names == ["ts", "holds"]


def test_those_that_carry_nothing_may_hold() -> None:
    one = without_quiet(rows(0, "0111110"), "ts", ("holds",), ())
    assert times(one.rows) == [0, 1, 5, 6] and times(one.quiet) == [2, 3, 4]


def test_of_one_time_one_is_enough() -> None:
    """And none where one that stays has the same time: how they stand among each other could not be told later."""
    one = sent(rows(0, "00000000", [1, 1, 1, 2, 2, 3, 3, 3]))
    assert times(one.rows) == [1, 3] and times(one.quiet) == [2]


def test_batches_are_put_in_order() -> None:
    one = sent(rows(0, "00010", [9, 3, 7, 5, 1]))
    assert times(one.rows) == [1, 3, 5, 7, 9] and one.rows.column("x").to_pylist() == [4, 1, 3, 2, 0]
    assert times(sent(rows(0, "01", [5, 2])).rows) == [2, 5]


def test_they_stay_away_where_nothing_comes_between() -> None:
    assert together(sent(rows(0, "0000")), sent(rows(10, "0000"))) == [0, 3, 10, 13]


def test_they_come_back() -> None:
    """Whole batches that others meet, and what others may still meet."""
    one, other = sent(rows(0, "0000")), sent(rows(3, "000"))
    assert together(one, other) == [0, 1, 2, 3, 3, 4, 5]
    assert together(one, seen=0) == [0, 1, 2, 3] and together(one, seen=-1) == [0, 3]
    assert together(one, open_from=2) == [0, 2, 3]
    long, short = sent(rows(0, "0" * 20)), sent(rows(2, "0" * 3))
    assert together(long, short, sent(rows(30, "000"))) == [*range(20), 2, 3, 4, 30, 32]
    found = put_together([one], "ts", 0, 1000)
    assert found.column("x").to_pylist() == [0, None, None, 3]


def test_empty_batches_meet_nothing() -> None:
    assert together(sent(rows(0, "0000")), SentRows(rows(0, ""))) == [0, 3]
