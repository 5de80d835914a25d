"""PARTITION BY and ORDER BY may name the table that their columns are of."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost

T = pa.table({"ts": [2, 1, 3], "symbol": ["a", "b", "a"]})
CLAUSE = "MATCH_RECOGNIZE (PARTITION BY {of}.symbol ORDER BY {of}.ts DESC MEASURES FIRST(A.ts) AS x PATTERN (A+) DEFINE A AS TRUE)"


@pytest.mark.parametrize(
    ("table", "of"),
    [("t", "t"), ("t", '"t"'), ("T", "t"), ("t AS y", "Y"), ("t y", "y"), ("(SELECT * FROM t) y", "y"), ("(SELECT * FROM t) AS y", "y")],
)
def test_by_name_or_alias(table: str, of: str) -> None:
    found = ost.sql(f"SELECT symbol, x FROM {table} {CLAUSE.format(of=of)} ORDER BY symbol", t=T)
    assert [tuple(row.values()) for row in found] == [("a", 3), ("b", 1)]


def test_by_new_names_of_the_columns() -> None:
    clause = "PARTITION BY y.name ORDER BY y.moment MEASURES A.moment AS x PATTERN (A) DEFINE A AS TRUE"
    text = f"SELECT x FROM t AS y(moment, name) MATCH_RECOGNIZE ({clause})"
    assert sorted(row["x"] for row in ost.sql(text, t=T)) == [1, 2, 3]


def test_a_struct_of_that_name_comes_first() -> None:
    rows = pa.table({"ts": [1, 2], "t": pa.array([{"ts": 2}, {"ts": 1}])})
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t.ts MEASURES FIRST(A.ts) AS x PATTERN (A+) DEFINE A AS TRUE)"
    assert [row["x"] for row in ost.sql(text, t=rows)] == [2]


@pytest.mark.parametrize(("table", "of"), [("t", "u"), ("t AS y", "t")])
def test_any_other_name_is_unknown(table: str, of: str) -> None:
    with pytest.raises(ost.UnknownNameError, match=f"There is no column {of}."):
        ost.sql(f"SELECT * FROM {table} {CLAUSE.format(of=of)}", t=T)


def test_the_canonical_text_has_plain_columns() -> None:
    query = ost.compile(f"SELECT * FROM t {CLAUSE.format(of='t')}", t=T)
    assert "t.symbol" not in query.explain("syntax") and "PARTITION BY symbol" in query.explain("syntax")
