"""EXPLAIN before a statement with patterns: the plan, a row per line."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.lang.sql import explained

T = pa.table({"ts": [1, 2, 3]})
CLAUSE = "MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS x PATTERN (A) DEFINE A AS TRUE)"


@pytest.mark.parametrize("before", ["EXPLAIN", "explain", "-- the plan\n EXPLAIN", "/* EXPLAIN */ Explain\n"])
@pytest.mark.parametrize(
    "text", [f"SELECT * FROM t {CLAUSE}", f"SELECT x + 1 FROM t {CLAUSE}", f"WITH u AS (SELECT * FROM t) SELECT * FROM u {CLAUSE}"]
)
def test_the_plan_as_rows(before: str, text: str) -> None:
    found = ost.sql(f"{before} {text}", t=T)
    assert found.columns == ["plan"]
    assert [row["plan"] for row in found] == ost.compile(text, t=T).explain().splitlines()
    assert ost.match(f"{before} {text}", t=T).to_arrow() == found.to_arrow()
    assert ost.compile(f"{before} {text}", t=T).explain().splitlines() == [row["plan"] for row in found]


def test_its_variants_are_refused() -> None:
    for variant in ("ANALYZE", "(FORMAT JSON)", "EXTENDED"):
        with pytest.raises(ost.UnsupportedError, match="EXPLAIN takes no options here") as caught:
            ost.sql(f"EXPLAIN {variant} SELECT * FROM t {CLAUSE}", t=T)
        assert "explain(" in caught.value.hint


def test_errors_have_their_place() -> None:
    text = f"EXPLAIN SELECT * FROM t {CLAUSE.replace('A.ts', 'A.nothing')}"
    with pytest.raises(ost.UnknownNameError, match="nothing") as caught:
        ost.sql(text, t=T)
    assert caught.value.span.start == text.index("A.nothing")


def test_without_a_pattern_it_is_the_hosts() -> None:
    assert ost.sql("EXPLAIN SELECT 1").columns != ["plan"]


def test_it_is_looked_for_in_linear_time() -> None:
    """Comments side by side can be read as one in as many ways as there are subsets of them."""
    many = "/**/ --\n" * 10_000
    assert explained(many + f"SELECT * FROM t {CLAUSE}") is None
    assert explained(many + f"EXPLAIN {many} SELECT * FROM t {CLAUSE}") is not None


def test_what_is_no_text() -> None:
    with pytest.raises(ost.OstinatoError):
        ost.sql(5, t=T)
