"""Texts on Spark: what writes is refused unless it is asked for, and nobody gets out of the sandbox."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import OstinatoError, QuerySyntaxError, SandboxError

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::UserWarning")]

CLAUSE = "MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS a, B.price AS p PATTERN (A B) DEFINE B AS price < PREV(price))"
ROWS = pa.table({"id": [1, 2, 3, 4], "price": [70, 65, 66, 60]})
WRITES = [
    "CREATE TABLE front_x USING parquet AS SELECT * FROM t {M}",
    "CREATE OR REPLACE TEMP VIEW front_x AS SELECT * FROM t {M}",
    "INSERT OVERWRITE DIRECTORY '{folder}/out' USING csv SELECT * FROM t {M}",
    "WITH x AS (SELECT * FROM t {M}) INSERT INTO front_y SELECT * FROM x",
    "FROM t {M} INSERT INTO front_y SELECT * INSERT INTO front_z SELECT *",
    "DROP VIEW IF EXISTS other",
    "SET spark.sql.shuffle.partitions = 3",
    "CACHE TABLE other",
    "ADD JAR '/x.jar'",
    "REFRESH TABLE other",
    "USE default",
    "DECLARE x INT",
    "EXECUTE IMMEDIATE 'SELECT 1'",
    "BEGIN SELECT 1; END",
    "SELECT 1; DROP VIEW other",
]
HARMLESS = [
    "SELECT a + 1 AS z, p FROM t {M} WHERE p > 1",
    "SELECT * FROM (VALUES (1, 70), (2, 65)) v(id, price) {M}",
    "WITH x AS (SELECT * FROM t) SELECT m.*, u.price FROM x {M} m JOIN t u ON u.id = m.a ORDER BY 1",
    "SELECT upper('x'), count(*), max(price) FROM t GROUP BY id % 2 HAVING count(*) > 0",
    "SELECT id, row_number() OVER (PARTITION BY price ORDER BY id) FROM t UNION ALL SELECT * FROM t",
    "SELECT * FROM t LATERAL VIEW explode(array(1, 2)) e AS x",
    "SELECT sum(id) OVER w, max(price) OVER v FROM t WINDOW w AS (PARTITION BY price ORDER BY id), v AS (ORDER BY id)",
    "WITH x AS (SELECT sum(id) OVER w AS s FROM t WINDOW w AS (ORDER BY id)) SELECT * FROM x",
    "SELECT transform(array(1), x -> x + 1), CASE WHEN id > 1 THEN 1 END, now() FROM t, range(2) r(n) WHERE id IN (FROM t SELECT id)",
]
ATTEMPTS = [
    "SELECT java_method('java.lang.System', 'getProperty', 'user.home')",
    "SELECT reflect('java.lang.System', 'getProperty', 'user.home')",
    "SELECT try_reflect('java.lang.System', 'getProperty', 'user.home')",
    "SELECT `reflect`('java.lang.System', 'getenv')",
    "SELECT REFLECT /* x */ ('java.lang.System', 'getenv')",
    "SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'getenv')",
    "SELECT * FROM IDENTIFIER('ot' || 'her')",
    "SELECT '${env:PATH}'",
    "SELECT '${system:user.home}', ${spark.sql.shuffle.partitions}",
    "SELECT * FROM other",
    "SELECT * FROM default.other",
    "SELECT * FROM csv.`{folder}/secret.csv`",
    "SELECT * FROM text.`/etc/hostname`",
    "SELECT * FROM t WHERE EXISTS (SELECT * FROM csv.`{folder}/secret.csv`)",
    "SELECT (SELECT max(_c0) FROM csv.`{folder}/secret.csv`)",
    "SELECT sum(id) OVER w FROM t WINDOW w AS (ORDER BY (SELECT max(_c0) FROM csv.`{folder}/secret.csv`))",
    "SELECT sum(id) OVER (ORDER BY (SELECT max(_c0) FROM csv.`{folder}/secret.csv`)) FROM t",
    "SELECT * FROM VALUES ((SELECT max(_c0) FROM csv.`{folder}/secret.csv`)) v(x)",
    "SELECT * FROM t LATERAL VIEW explode((SELECT collect_list(_c0) FROM csv.`{folder}/secret.csv`)) e",
    "SELECT * FROM t PIVOT (max((SELECT max(_c0) FROM csv.`{folder}/secret.csv`)) FOR id IN (1))",
    "SELECT transform(array(1), x -> (SELECT max(_c0) FROM csv.`{folder}/secret.csv`))",
    "SELECT * FROM t ORDER BY (SELECT max(_c0) FROM csv.`{folder}/secret.csv`) LIMIT 1",
    "SELECT id FROM t GROUP BY CUBE(id, (SELECT max(_c0) FROM csv.`{folder}/secret.csv`))",
    "WITH a AS (WITH other AS (SELECT 1) SELECT * FROM other) SELECT * FROM other",
    "SELECT TRANSFORM(id) USING 'cat' FROM t",
    "MAP id USING 'cat' FROM t",
    "SELECT input_file_name() FROM t",
    "SELECT current_user(), version()",
    "SELECT front_udf(id) FROM t",
    "SELECT repeat('x', 2000000000)",
    "SELECT sequence(1, 1000000000)",
    "SELECT * FROM sql_keywords()",
    "SELECT from_xml('<a/>', 'a INT', map('rowValidationXSDPath', '{folder}/secret.csv'))",
    "SELECT array_insert(array(1), 1000000000, 2)",
    "SELECT format_string('%1000000000d', 1)",
    "SELECT * FROM t u JOIN t v ON EXISTS (SELECT * FROM csv.`{folder}/secret.csv`)",
    "SELECT sum(id) FILTER (WHERE EXISTS (SELECT * FROM csv.`{folder}/secret.csv`)) FROM t",
    "SELECT listagg(price) WITHIN GROUP (ORDER BY (SELECT max(_c0) FROM csv.`{folder}/secret.csv`)) FROM t",
    "SELECT * FROM t UNPIVOT (v FOR n IN (id, price)) WHERE v IN (SELECT _c0 FROM csv.`{folder}/secret.csv`)",
    "SELECT id FROM t GROUP BY GROUPING SETS ((id), ((SELECT max(_c0) FROM csv.`{folder}/secret.csv`)))",
    "SELECT * FROM t TABLESAMPLE (1 ROWS) WHERE (SELECT max(_c0) FROM csv.`{folder}/secret.csv`) > 0",
    "SELECT /*+ BROADCAST(other) */ * FROM other",
    "SELECT sum(id) OVER w FROM t WINDOW w AS (ORDER BY front_udf(id))",
    "SELECT (SELECT max(s) FROM (SELECT sum(id) OVER w AS s FROM t WINDOW w AS (ORDER BY id)))",
    "SELECT * FROM t LIMIT (SELECT max(_c0) FROM csv.`{folder}/secret.csv`)",
    "SELECT * FROM global_temp.other",
    "SELECT * FROM system.information_schema.tables",
    "SELECT * FROM spark_catalog.default.other",
    "SELECT * FROM parquet.`{folder}`",
    "SELECT * FROM read_files('{folder}')",
    "SELECT * FROM front_rows()",
    "SELECT /* ' */ * /* ' */ FROM other",
    "SELECT try_reflect/**/('java.lang.System', 'getenv')",
    "SELECT 1 FROM t GROUP BY CUBE (" + ", ".join(f"id + {i}" for i in range(20)) + ")",
    "WITH a0 AS (SELECT 1 AS x)"
    + "".join(f", a{i} AS (SELECT l.x FROM a{i - 1} l JOIN a{i - 1} r ON l.x = r.x)" for i in range(1, 31))
    + " SELECT * FROM a30",
    "SHOW TABLES",
    "DESCRIBE t",
    "EXPLAIN SELECT 1",
    "TABLE other",
    "SELECT * FROM (TABLE other)",
    "FROM other |> SELECT *",
    "SELECT * FROM t VERSION AS OF 1",
    "SELECT * FROM other {M}",
    "SELECT * FROM csv.`{folder}/secret.csv` {M}",
    "SELECT * FROM (SELECT reflect('java.lang.System', 'getenv') AS id, 1 AS price) {M}",
]


@pytest.fixture(scope="module")
def place(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("secret")
    (folder / "secret.csv").write_text("1,2\n")
    frame = spark.createDataFrame(ROWS.to_pandas())
    frame.createOrReplaceTempView("other")
    spark.udf.register("front_udf", lambda value: value)
    yield folder, frame
    spark.catalog.dropTempView("other")
    assert [path.name for path in folder.iterdir()] == ["secret.csv"]
    assert not spark.catalog.tableExists("front_x")


def filled(text: str, folder) -> str:
    return text.replace("{M}", CLAUSE).replace("{folder}", str(folder))


@pytest.mark.parametrize("text", WRITES)
def test_what_writes_is_refused(spark, place, text):
    folder, frame = place
    with pytest.raises(QuerySyntaxError):
        ost.on(spark).sql(filled(text, folder), t=frame)
    with pytest.raises((SandboxError, QuerySyntaxError)):
        ost.on(spark, sandbox=True).sql(filled(text, folder), t=frame)


def test_writing_is_asked_for(spark, place):
    _, frame = place
    engine = ost.on(spark)
    engine.sql(filled("CREATE OR REPLACE TEMP VIEW front_asked AS SELECT a FROM VALUES (1) v(a)", ""), writes=True)
    assert spark.table("front_asked").count() == 1
    spark.catalog.dropTempView("front_asked")
    with pytest.raises(OstinatoError, match="in the sandbox"):
        ost.on(spark, sandbox=True).sql("SELECT 1", writes=True)
    for text in ("SHOW TABLES", "DESCRIBE other", "EXPLAIN SELECT 1", "SELECT * FROM other", "FROM other |> SELECT id"):
        assert engine.sql(text, t=frame).count() > 0


@pytest.mark.parametrize("text", HARMLESS)
def test_what_works_in_the_sandbox(spark, place, text):
    folder, frame = place
    engine = ost.on(spark)
    inside = engine.sql(filled(text, folder), t=frame, sandbox=True)
    assert inside.schema == engine.sql(filled(text, folder), t=frame).schema


@pytest.mark.parametrize("text", ATTEMPTS)
def test_attempts(spark, place, text):
    folder, frame = place
    with pytest.raises((SandboxError, QuerySyntaxError)) as caught:
        ost.on(spark, sandbox=True).sql(filled(text, folder), t=frame)
    if not isinstance(caught.value, SandboxError):  # then it is no SQL at all: nothing gets as far as analysis
        assert "PARSE_SYNTAX_ERROR" in str(caught.value) or "Spark refuses" not in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("SELECT * FROM other", 15),
        ("SELECT upper(front_udf(id)) FROM t", 14),
        ("SELECT 1, java_method('a', 'b')", 11),
        ("SELECT * FROM t, default.other", 18),
        ("SELECT '${env:PATH}'", 9),
        ("SELECT * FROM t, sql_keywords()", 18),
    ],
)
def test_the_place_is_told(spark, place, text, column):
    with pytest.raises(SandboxError, match=f"line 1, column {column}"):
        ost.on(spark, sandbox=True).sql(text, t=place[1])


def test_variables_of_the_session_are_not_read(spark, place):
    spark.sql("DECLARE VARIABLE front_secret INT DEFAULT 7")
    try:
        with pytest.raises(SandboxError, match="variables"):
            ost.on(spark, sandbox=True).sql("SELECT front_secret, id FROM t", t=place[1])
    finally:
        spark.sql("DROP TEMPORARY VARIABLE front_secret")


def test_jobs_are_cancelled_when_the_time_is_over(spark, place):
    engine = ost.on(spark, sandbox=ost.Sandbox(seconds=4))
    endless = engine.sql("SELECT count(*) AS n FROM range(1000000000000) a CROSS JOIN t", t=place[1])
    with pytest.raises(SandboxError, match="longer than the 4 seconds"), engine.in_time():
        endless.collect()
    assert spark.range(3).count() == 3  # the session goes on
    with engine.in_time():
        assert engine.sql("SELECT id FROM t", t=place[1]).count() == 4
