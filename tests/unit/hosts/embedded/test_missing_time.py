"""A row without a time is named as it stood in what the user gave, however the rows were put in order since."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import ostinato as ost

ROWS = pa.table({"ts": [5, 3, None, 1, None, 9], "v": [1] * 6})
PAIR = "PATTERN SEQ(T a, T b) WHERE skip_till_next_match(a, b) WITHIN 3"
CLAUSE = "SELECT * FROM {} MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS v PATTERN (A) WITHIN 3 DEFINE A AS TRUE)"


@pytest.fixture(params=["table", "csv", "parquet"])
def rows(request, tmp_path):
    if request.param == "csv":
        pyarrow.csv.write_csv(ROWS, tmp_path / "t.csv")
    elif request.param == "parquet":
        pyarrow.parquet.write_table(ROWS, tmp_path / "t.parquet", row_group_size=2)
    return ROWS if request.param == "table" else str(tmp_path / f"t.{request.param}")


def test_one_stream(rows):
    for call in (
        lambda: ost.match(PAIR, t=rows),
        lambda: ost.match(PAIR, t=rows, lateness=3),
        lambda: ost.sql(CLAUSE.format("t"), t=rows),
        lambda: ost.sql(CLAUSE.format("(SELECT * FROM t)"), t=rows),
    ):
        with pytest.raises(ost.DataError, match=r'time column "ts" of stream "(t|the input)" is null \(row 2, counted from 0\)'):
            call()


def test_several_streams():
    with pytest.raises(ost.DataError, match=r'stream "u" is null \(row 2, counted from 0\)'):
        ost.match("PATTERN SEQ(T a, U b) WITHIN 3", t=ROWS.slice(0, 2), u=ROWS)


def test_a_reader_is_not_read_again():
    with pytest.raises(ost.DataError, match=r'stream "t" is null\n'):
        ost.match(PAIR, t=ROWS.to_reader())
