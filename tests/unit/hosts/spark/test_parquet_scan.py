from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ostinato.base.errors import SchemaError
from ostinato.hosts.spark.batch.parquet_scan import holds_columns, is_plain_scan

HEAD = "== Parsed Logical Plan ==\nwhatever\n\n== Optimized Logical Plan ==\n"
TAIL = "\n\n== Physical Plan ==\n*(1) ColumnarToRow"


@pytest.mark.parametrize(
    ("plan", "plain"),
    [
        ("Relation [ts#0,k#1] parquet", True),
        ("Relation spark_catalog.default.tt[ts#30,n#33L] parquet", True),
        ("Project [ts#0, p#2L]\n+- Relation [ts#0,k#1,p#2L] parquet", True),
        ("Project [ts#0, p#2 AS q#21]\n+- Relation [ts#0,p#2] parquet", False),
        ("Project [ts#0, (p#2 + 1) AS (p + 1)#21]\n+- Relation [ts#0,p#2] parquet", False),
        ("Filter (p#2 > 3)\n+- Relation [ts#0,p#2] parquet", False),
        ("GlobalLimit 3\n+- LocalLimit 3\n   +- Relation [ts#0] parquet", False),
        ("Relation [ts#0] csv", False),
        ("Union false, false\n:- Relation [ts#0] parquet\n+- Relation [ts#1] parquet", False),
        ("LocalRelation <empty>, [ts#0]", False),
    ],
)
def test_plain_scans(plan: str, plain: bool) -> None:
    assert is_plain_scan(HEAD + plan + TAIL) is plain


def test_a_file_that_lacks_a_column_or_has_another_type_is_left_to_spark(tmp_path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"ts": pa.array([1], pa.timestamp("us", "UTC")), "p": pa.array([1], pa.int32())}), path)
    file = pq.ParquetFile(path)
    assert holds_columns(file, pa.schema([("ts", pa.timestamp("us", "UTC")), ("p", pa.int32())]), path)
    assert not holds_columns(file, pa.schema([("p", pa.int64())]), path)
    assert not holds_columns(file, pa.schema([("day", pa.string())]), path)
    assert not holds_columns(file, pa.schema([("ts", pa.timestamp("us"))]), path)


def test_what_spark_would_fail_at_is_refused(tmp_path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"n": pa.array([1], pa.int64()), "s": ["x"], "f": [0.5], "i": pa.array([1], pa.int32())}), path)
    file = pq.ParquetFile(path)
    for name, shown in (
        ("n", pa.int32()),
        ("n", pa.string()),
        ("s", pa.int64()),
        ("s", pa.bool_()),
        ("f", pa.float32()),
        ("i", pa.string()),
    ):
        with pytest.raises(
            SchemaError, match=f"the column '{name}' of the file .*a.parquet has type .*, that of the DataFrame has {shown}"
        ):
            holds_columns(file, pa.schema([(name, shown)]), path)
    for name, shown in (("i", pa.int16()), ("i", pa.float64()), ("s", pa.binary()), ("n", pa.decimal128(20, 0)), ("n", pa.timestamp("us"))):
        assert not holds_columns(file, pa.schema([(name, shown)]), path)
