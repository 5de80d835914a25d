"""Texts that are put together from several events, and looked at later: what makes them is a stream of its own."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost

STOCK = pa.table({"ts": [1, 2, 3, 4, 5], "name": ["a", "b", "ab", "a", None], "price": [1, 2, 3, 4, 5]})
PAIRS = "(SELECT name_1 || name AS c, price FROM stock NEXT stock)"


def found(text: str) -> list[tuple]:
    return sorted(listed(text))


def listed(text: str) -> list[tuple]:
    """By what they show."""
    rows = ost.match(text, language="cel", stock=STOCK).to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=str)


def steps(text: str) -> int:
    return len(ost.compile(text, {"stock": STOCK.schema}, language="cel").program.operators)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT c FROM FILTER {{c = 'bab'}} {PAIRS}", [("bab", 2, 3)]),
        (f"SELECT c, name FROM {PAIRS} NEXT {{$2.name = $1.c}} (SELECT name FROM stock)", [("ab", "ab", 1, 3)]),
        (f"SELECT c, d FROM (SELECT c, price AS d FROM FILTER {{c <> 'ab'}} {PAIRS}) NEXT stock", [("aba", 4, 3, 5), ("bab", 3, 2, 4)]),
        (
            f"""SELECT c, n FROM (SELECT c, price, 0 AS n FROM {PAIRS})
                FOLD {{$2.price > $.price, true, $.n + 1 AS n}} (SELECT price FROM stock)""",
            [("ab", 1, 1, 3), ("ab", 2, 1, 4), ("ab", 3, 1, 5), ("aba", 1, 3, 5), ("bab", 1, 2, 4), ("bab", 2, 2, 5)],
        ),
        (
            "SELECT c FROM FILTER {c = 'a-b'} (SELECT replace(concat(name_1, '-', name), ' ', '') AS c FROM stock NEXT stock)",
            [("a-b", 1, 2)],
        ),
    ],
)
def test_what_is_found(text, expected):
    assert found(text) == expected and steps(text) == 2


def test_what_is_shown_alone_is_one_automaton():
    assert steps(f"SELECT c, name FROM {PAIRS} NEXT stock".replace("name_1 || name", "upper(name)")) == 1
    assert steps(PAIRS[1:-1]) == 1
    assert steps("FILTER {c = 'ax'} (SELECT name || 'x' AS c FROM stock)") == 1


def test_steps_make_texts_in_one_automaton():
    text = "SELECT c FROM (SELECT *, name AS c FROM stock) FOLD {$2.price > $.price, true, $.c || upper($2.name) AS c} stock"
    assert steps(text) == 1
    assert listed(text) == [
        ("aB", 1, 2), ("aBAB", 1, 3), ("aBABA", 1, 4), ("abA", 3, 4), ("bAB", 2, 3), ("bABA", 2, 4), (None, 1, 5), (None, 2, 5),
        (None, 3, 5), (None, 4, 5),
    ]  # fmt: skip
