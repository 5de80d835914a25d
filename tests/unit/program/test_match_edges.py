"""Which rows of a match are known by its edges, or by where its variables end."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program.analysis.match_edges import always_first, always_last
from ostinato.program.analysis.stretches import stretch_order

SCHEMA = pa.schema({"ts": pa.int64(), "v": pa.float64()})


def compiled(pattern):
    text = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN ({pattern}) DEFINE A AS v > 0)"
    return ost.compile(text, {"t": SCHEMA}).pattern


@pytest.mark.parametrize(
    ("pattern", "first", "last"),
    [
        ("A B+ C", "A", "C"),
        ("A? B C*", "", ""),
        ("A+", "A", "A"),
        ("A B A", "A", "A"),
        ("(A | B) C", "", "C"),
        ("^ A B $", "A", "B"),
        ("A B | A C", "A", ""),
    ],
)
def test_edges(pattern, first, last):
    found = compiled(pattern)
    assert "".join(name for at, name in enumerate(found.variables) if always_first(found.nfa, found.members(at))) == first
    assert "".join(name for at, name in enumerate(found.variables) if always_last(found.nfa, found.members(at))) == last


def test_one_of_several_may_always_be_at_the_edge():
    found = compiled("(A | B) C")
    assert always_first(found.nfa, (0, 1)) and not always_last(found.nfa, (0, 1))


@pytest.mark.parametrize(
    ("pattern", "order"),
    [
        ("A B+ C", "ABC"),
        ("A? B* C?", "ABC"),
        ("(A | B) C", None),
        ("(A B)+", ""),
        ("A B A", ""),
        ("A{2,3} B{0,2}", "AB"),
        ("PERMUTE(A, B)", ""),
        ("A+ A B", "AB"),
    ],
)
def test_stretches(pattern, order):
    found = compiled(pattern)
    stretches = stretch_order(found.nfa, len(found.variables))
    if order is None:
        assert stretches is not None and found.variables[stretches[-1]] == "C"
    else:
        assert "".join(found.variables[number] for number in stretches or ()) == order
