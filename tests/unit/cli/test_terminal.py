"""Cells as people read them."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from rich.console import Console

from ostinato.cli.terminal import readable, show_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (1.5, "1.5"),
        (datetime(2026, 3, 2, 9, 0, 10), "2026-03-02 09:00:10"),
        (datetime(2026, 3, 2, 9, 0, 10, 21_000, UTC), "2026-03-02 09:00:10.021"),
        (datetime(2026, 3, 2, 9, tzinfo=timezone(timedelta(hours=2))), "2026-03-02 09:00:00+0200"),
        ({"price": 1.5, "seq": 7}, "#7"),
        ({"price": 1.5}, "price=1.5"),
        ([{"seq": number} for number in range(3)], "[#0 #1 #2]"),
        ([{"seq": number} for number in range(9)], "[#0 #1 #2 … #6 #7 #8]"),
    ],
)
def test_cells(value, text):
    assert readable(value) == text


def test_a_table_says_how_much_it_hides():
    out = io.StringIO()
    show_table(pa.table({"[red]n": range(30)}), Console(file=out, width=80), limit=5)
    assert "30 rows, the first 5 shown" in out.getvalue()
    assert "[red]n" in out.getvalue()


def test_columns_of_one_name_are_all_shown():
    out = io.StringIO()
    show_table(pa.table([pa.array(["left"]), pa.array(["right"])], names=["n", "n"]), Console(file=out, width=80))
    assert "left" in out.getvalue() and "right" in out.getvalue()
