"""Conditions that no column is part of hold for every row, or for none."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost

TICKS = pa.table({"ts": [1, 2, 3], "x": [1, 2, 3]})
TEXTS = {
    "CEL": "SELECT 3 AS c FROM FILTER {CONDITION} (ticks)",
    "CEL, next": "SELECT 3 AS c FROM ticks NEXT {CONDITION} ticks",
    "SASE+": "PATTERN SEQ(ticks a) WHERE CONDITION RETURN 3 AS c",
    "SQL": "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES 3 AS c PATTERN (A) DEFINE A AS CONDITION)",
}


@pytest.mark.parametrize("condition", ["0 <= 1", "NOT 0.5 > 1 AND 2 <> 3"])
@pytest.mark.parametrize("name", TEXTS)
def test_it_holds_or_not(name: str, condition: str) -> None:
    def count(text: str) -> int:
        return len((ost.sql if name == "SQL" else ost.match)(text, ticks=TICKS))

    assert count(TEXTS[name].replace("CONDITION", condition)) == (2 if name == "CEL, next" else 3)
    assert count(TEXTS[name].replace("CONDITION", f"NOT ({condition})")) == 0
