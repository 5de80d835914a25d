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


@pytest.mark.parametrize(
    "language, text",
    [
        ("sase", "PATTERN SEQ(T a)"),
        ("sase", "PATTERN SEQ(T a, T b) WHERE skip_till_any_match(a, b) OUTPUT count"),
        ("neel", "PATTERN AND(T a, T b)"),
        ("neel", "PATTERN SEQ(T a, T b) RETURN a.v AS v"),
        ("cel", "t NEXT t"),
        ("tpstream", "FROM t DEFINE A AS v > 0 PATTERN A"),
    ],
)
@pytest.mark.filterwarnings("ignore::ostinato.ExplosionWarning")
def test_events_have_a_time_without_a_window_too(language, text):
    with pytest.raises(ost.DataError, match=r'time column "ts" of stream "t" is null \(row 2, counted from 0\)'):
        ost.match(text, language=language, t=ROWS)


def test_row_patterns_have_them_at_the_end():
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(ts) AS ts, COUNT(*) AS rows PATTERN (A+) DEFINE A AS TRUE)"
    assert ost.sql(text, t=ROWS).to_arrow().to_pylist() == [{"ts": None, "rows": 6}]


def test_several_streams():
    with pytest.raises(ost.DataError, match=r'stream "u" is null \(row 2, counted from 0\)'):
        ost.match("PATTERN SEQ(T a, U b) WITHIN 3", t=ROWS.slice(0, 2), u=ROWS)


def test_a_reader_is_not_read_again():
    with pytest.raises(ost.DataError, match=r'stream "t" is null\n'):
        ost.match(PAIR, t=ROWS.to_reader())
