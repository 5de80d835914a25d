"""What matches have beside what a query names: their numbers and times, and the positions of their events."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import QuerySyntaxError, SchemaError

ROWS = pa.table({"ts": [1, 2, 3], "v": [3, 2, 1]})
COUNTED = "SELECT * FROM t MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (A A) DEFINE A AS TRUE)"


@pytest.mark.parametrize("pattern", ["SEQ(t {0}, t b) WHERE {0}.v = 3 and b.v = 2", "SEQ(t {0}, t b, {0}.v = 3, b.v = 2)"])
@pytest.mark.parametrize("name", ["match_id", "start_ts", "end_ts", "Start_TS"])
def test_variables_that_would_be_columns_of_every_match_are_refused(pattern: str, name: str) -> None:
    text = f"PATTERN {pattern.format(name)} WITHIN 5"
    with pytest.raises(QuerySyntaxError, match=f"variable cannot be called `{name}`.*column 13"):
        ost.match(text, t=ROWS)
    assert ost.match(f"{text} RETURN {name}.v", t=ROWS).to_arrow().to_pydict() == {"v": [3]}
    assert ost.match(text, t=ROWS, output="count").to_arrow().to_pydict() == {"count": [1]}


@pytest.mark.parametrize("name", ["seq", "Seq"])
def test_a_column_called_like_the_position_is_shown_and_the_position_is_not(name: str) -> None:
    rows = ROWS.append_column(name, pa.array([30, 20, 10]))
    text = "PATTERN SEQ(t a, t+ b[]) WHERE a.seq > b[i].seq WITHIN 1"
    first = ost.match(text, t=rows).to_arrow().to_pylist()[0]
    assert (first["a"], first["b"]) == ({"ts": 1, "v": 3, name: 30}, [{"ts": 2, "v": 2, name: 20}])
    compressed = ost.match(text, t=rows, output="compressed").to_arrow()
    assert [match["b"] for match in ost.decode(compressed)] == [[{"ts": 2, "v": 2, name: 20}], [{"ts": 3, "v": 1, name: 10}]]
    assert ost.match("PATTERN SEQ(t a, t b) WITHIN 1", t=ROWS).to_arrow().to_pylist()[0]["a"] == {"ts": 1, "v": 3, "seq": 0}


def test_a_stream_without_columns() -> None:
    with pytest.raises(SchemaError, match="Stream `t` has no columns"):
        ost.sql(COUNTED, t=ROWS.select([]))


def test_columns_whose_names_differ_in_case_alone_are_two() -> None:
    rows = ROWS.append_column("V", pa.array([7, 8, 9]))
    clause = "MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS low, A.V AS high PATTERN (A) DEFINE A AS V > 8)"
    pattern = "PATTERN SEQ(t a) WHERE a.V > 8 RETURN a.v AS low, a.V AS high"
    for found in (ost.sql(f"SELECT * FROM t {clause}", t=rows), ost.match(pattern, t=rows)):
        assert found.to_arrow().to_pylist() == [{"low": 1, "high": 9}]
    instances = ost.match("SELECT * FROM FILTER {V > 8} (t)", t=rows, language="cel").to_arrow().to_pylist()
    assert instances == [{"v": 1, "V": 9, "start_ts": 3, "end_ts": 3}]
