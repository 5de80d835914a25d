"""Which variables a match can have one row of at most."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program.analysis.single_rows import at_most_one

SCHEMA = pa.schema({"ts": pa.int64(), "v": pa.float64()})


@pytest.mark.parametrize(
    ("pattern", "single"),
    [
        ("A B+ C", "AC"),
        ("(A B)+ C", "C"),
        ("A B A", "B"),
        ("A B? (C | D)", "ABCD"),
        ("A{1,2} B", "B"),
        ("PERMUTE(A, B)", "AB"),
        ("A*? B", "B"),
    ],
)
def test_single(pattern, single):
    query = ost.compile(
        f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS a PATTERN ({pattern}) DEFINE A AS v > 0)", {"t": SCHEMA}
    )
    found = query.pattern
    assert "".join(name for at, name in enumerate(found.variables) if at_most_one(found.nfa, found.members(at))) == single


def test_together_two_variables_are_two_rows():
    query = ost.compile(
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS a PATTERN (A B | C) DEFINE A AS v > 0)", {"t": SCHEMA}
    )
    assert not at_most_one(query.pattern.nfa, (0, 1)) and at_most_one(query.pattern.nfa, (0, 2))
