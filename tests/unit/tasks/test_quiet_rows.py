"""Rows at which nothing changes are left out before they are sent, and put back where others may have come between."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ostinato.runtime.rows.reorder import NEVER
from ostinato.tasks.quiet_rows import HOLDS, SentRows, put_together, with_truth, without_quiet

NAME = f"{HOLDS}0"


def rows(first: int, count: int, times: list[int] | None = None) -> pa.Table:
    """A row per second, from the first on; `x` is what others carry."""
    return pa.table({"ts": list(range(first, first + count)) if times is None else times, "x": list(range(count))})


def sent(first: int, signs: str, times: list[int] | None = None, asked_for: tuple[str, ...] = (NAME,)) -> SentRows:
    """Rows of which a condition holds (1) or not (0)."""
    truth = {NAME: np.array([sign == "1" for sign in signs], np.bool_)}
    return without_quiet(rows(first, len(signs), times), "ts", truth, asked_for)


def times(table: pa.Table | None) -> list[int]:
    return [] if table is None else table.column("ts").to_pylist()


def together(*batches: SentRows, seen: int = NEVER, open_from: int = 1000) -> list[int]:
    return times(put_together(batches, "ts", seen, open_from))


def test_what_has_equal_neighbours_is_left_out() -> None:
    one = sent(0, "0000110000")
    assert times(one.rows) == [0, 3, 4, 5, 6, 9] and times(one.quiet) == [1, 2, 7, 8]
    assert one.quiet is not None and one.quiet.column_names == ["ts"]


def test_those_that_carry_nothing_may_hold() -> None:
    one = sent(0, "0111110", asked_for=())
    assert times(one.rows) == [0, 1, 5, 6] and times(one.quiet) == [2, 3, 4]
    assert one.quiet is not None and one.quiet.column(NAME).to_pylist() == [True] * 3
    found = put_together([one], "ts", 3, 1000)
    assert found.column("ts").to_pylist() == list(range(7)) and found.column(NAME).to_pylist() == [False, *[True] * 5, False]


def test_of_one_time_one_is_enough() -> None:
    """And none where one that stays has the same time: how they stand among each other could not be told later."""
    one = sent(0, "00000000", [1, 1, 1, 2, 2, 3, 3, 3])
    assert times(one.rows) == [1, 3] and times(one.quiet) == [2]


def test_batches_are_put_in_order() -> None:
    one = sent(0, "00010", [9, 3, 7, 5, 1])
    assert times(one.rows) == [1, 3, 5, 7, 9] and one.rows.column("x").to_pylist() == [4, 1, 3, 2, 0]
    assert times(sent(0, "01", [5, 2]).rows) == [2, 5]


def test_they_stay_away_where_nothing_comes_between() -> None:
    assert together(sent(0, "0000"), sent(10, "0000")) == [0, 3, 10, 13]


def test_they_come_back() -> None:
    """Whole batches that others meet, and what others may still meet."""
    one, other = sent(0, "0000"), sent(3, "000")
    assert together(one, other) == [0, 1, 2, 3, 3, 4, 5]
    assert together(one, seen=0) == [0, 1, 2, 3] and together(one, seen=-1) == [0, 3]
    assert together(one, open_from=2) == [0, 2, 3]
    long, short = sent(0, "0" * 20), sent(2, "0" * 3)
    assert together(long, short, sent(30, "000")) == [*range(20), 2, 3, 4, 30, 32]
    found = put_together([one], "ts", 0, 1000)
    assert found.column("x").to_pylist() == [0, None, None, 3] and found.column(NAME).to_pylist() == [False] * 4


def test_empty_batches_meet_nothing() -> None:
    assert together(sent(0, "0000"), SentRows(with_truth(rows(0, 0), {NAME: np.zeros(0, np.bool_)}))) == [0, 3]
