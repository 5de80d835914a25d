"""SQL statements around clauses on Spark: every form of input, and the same statement explained."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import ostinato as ost
from ostinato.base.errors import OstinatoError, UnknownNameError

pytestmark = pytest.mark.spark

CLAUSE = "MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS a, B.price AS p PATTERN (A B) DEFINE B AS price < PREV(price))"
ROWS = pa.table({"id": [1, 2, 3, 4], "price": [70, 65, 66, 60]})
STATEMENTS = [
    (f"SELECT * FROM (VALUES (1, 70), (2, 65)) t(id, price) {CLAUSE}", [(1, 65)]),
    (f"SELECT * FROM VALUES (1, 70), (2, 65) AS t(id, price) {CLAUSE} AS m(x, y)", [(1, 65)]),
    (f"SELECT x + 0, y FROM ticks AS q(id, price) {CLAUSE} AS m(x, y)", [(1, 65), (3, 60)]),
    (f"SELECT * FROM (SELECT id + 1, price FROM ticks) `q r`(`id`, price) {CLAUSE}", [(2, 65), (4, 60)]),
    (f"WITH v(id, price) AS (VALUES (1, 70), (2, 65)) SELECT m.* FROM ticks k JOIN v x(id, price) {CLAUSE} m ON k.id = m.a", [(1, 65)]),
    (f"SELECT * FROM (SELECT * FROM ticks {CLAUSE}) x(id, price) {CLAUSE}", [(1, 60)]),
    (f"SELECT * FROM ticks {CLAUSE} ORDER BY a", [(1, 65), (3, 60)]),
    (f"SELECT * FROM ticks AS q {CLAUSE.replace('ORDER BY id', 'ORDER BY q.id')}", [(1, 65), (3, 60)]),
]


@pytest.fixture(scope="module")
def ticks(spark):
    return spark.createDataFrame(ROWS.to_pandas())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_statements(spark, ticks):
    """All in one job."""
    engine = ost.on(spark)
    found = [
        engine.sql(text, ticks=ticks).toDF("a", "p").withColumn("number", F.lit(number)) for number, (text, _) in enumerate(STATEMENTS)
    ]
    collected = [tuple(row) for row in reduce(DataFrame.union, found).collect()]
    for number, (text, rows) in enumerate(STATEMENTS):
        assert sorted((a, p) for a, p, of in collected if of == number) == rows, text
        plan = engine.explain(text, ticks=ticks)
        assert plan.count("strategy: ") == plan.count("spark: ") == text.count("MATCH_RECOGNIZE"), text
        assert "PATTERN A B" in engine.explain(text, ticks=ticks, stage="algebra")
    assert [row.plan for row in engine.sql(f"EXPLAIN {text}", ticks=ticks).collect()] == plan.splitlines()


def test_names_and_options(spark, ticks):
    engine = ost.on(spark)
    for call in (engine.sql, engine.match, engine.explain):
        with pytest.raises(UnknownNameError, match="without a name"):
            call(f"SELECT * FROM ticks {CLAUSE}", ticks)
        assert call(f"SELECT * FROM `time` {CLAUSE}", streams={"time": ticks})
    for name in ("time", "buckets", "path", "lateness", "budget", "language"):
        with pytest.raises(OstinatoError, match=f"{name}= is an option"):
            engine.match(f"SELECT * FROM {name} {CLAUSE}", **{name: ticks})
    with pytest.raises(OstinatoError, match="output= is for event patterns"):
        engine.match(f"SELECT * FROM ticks {CLAUSE}", ticks=ticks, output="first")
