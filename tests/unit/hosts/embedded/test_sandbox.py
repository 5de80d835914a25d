"""Nobody gets out of the sandbox: texts that try, and what still works in it."""

import io
import os
import signal
from importlib import import_module
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import ostinato as ost
from ostinato.hosts.confined.connection import closed_connection
from ostinato.hosts.confined.process import ConfinedDuckDB
from ostinato.hosts.confined.serving import Limits, Service, serve
from ostinato.hosts.sandbox import Watch

ROWS = pa.table({"id": [1, 2, 3, 4], "price": [70, 65, 66, 60]})
CLAUSE = "MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS a, B.price AS p PATTERN (A B) DEFINE B AS price < PREV(price))"
HARMLESS = [
    f"SELECT * FROM t {CLAUSE}",
    f"SELECT a+1 AS z FROM t AS q(id, price) {CLAUSE} WHERE p > 1",
    f"WITH x AS (SELECT * FROM t) SELECT * FROM x {CLAUSE} m JOIN t ON t.id = m.a",
    f"SELECT * FROM (VALUES (1,70),(2,65)) v(id,price) {CLAUSE}",
    "SELECT upper('x'), count(*) FROM t",
    "SELECT * FROM range(5)",
    "SELECT * FROM t, unnest([1,2]) u(x)",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 5) SELECT * FROM r",
    "SELECT current_date, pg_typeof(1), row_number() OVER () FROM t",
    "SELECT * FROM t UNION ALL SELECT * FROM t",
    "SELECT [x + 1 FOR x IN [1,2]]",
    "SELECT * FROM (PIVOT t ON price IN (70) USING count(*))",
    "SELECT sum(price) FILTER (id > 1) FROM t",
    "SELECT (SELECT max(price) FROM t), EXISTS (SELECT 1 FROM t)",
]
ATTEMPTS = [
    "WITH a AS (WITH duckdb_settings AS (SELECT 1) SELECT * FROM duckdb_settings) SELECT * FROM duckdb_settings",
    'WITH a AS (WITH "secret.csv" AS (SELECT 1) SELECT * FROM "secret.csv") SELECT * FROM "secret.csv"',
    'WITH "secret.csv" AS (SELECT * FROM "secret.csv") SELECT * FROM "secret.csv"',
    "SELECT * FROM 'secret.csv'",
    "SELECT * FROM read_csv('secret.csv')",
    "SELECT * FROM read_text('secret.csv')",
    "SELECT * FROM glob('*')",
    "SELECT * FROM read_blob('*')",
    "SELECT * FROM sniff_csv('secret.csv')",
    "SELECT * FROM parquet_metadata('secret.parquet')",
    'SELECT * FROM "secret.parquet"',
    "FROM query('SELECT 1')",
    "FROM query_table('secret.csv')",
    "SELECT getenv('HOME')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_settings",
    "SELECT current_setting('home_directory')",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM duckdb_secrets()",
    "FROM pragma_version()",
    "SHOW TABLES",
    "DESCRIBE t",
    "FROM (SHOW TABLES)",
    "SUMMARIZE t",
    "COPY t TO 'out.csv'",
    "CREATE TABLE x AS SELECT 1",
    "ATTACH 'x.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads=1",
    "PRAGMA version",
    "CALL pragma_version()",
    "EXPORT DATABASE 'x'",
    "SELECT 1; DROP TABLE t",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'",
    "EXPLAIN SELECT 1",
    "SELECT * FROM 'https://example.com/x.csv'",
    "SELECT * FROM 's3://b/x.parquet'",
    "SELECT * FROM arrow_scan(1,2,3)",
    "SELECT * FROM seq_scan('t')",
    "SELECT json_execute_serialized_sql('x')",
    "FROM json_execute_serialized_sql('{}')",
    "SELECT pg_sleep(1)",
    "SELECT sleep_ms(100)",
    "SELECT * FROM T AS x, 'secret.csv' AS y",
    f"SELECT * FROM 'secret.csv' {CLAUSE}",
    f"SELECT * FROM (SELECT * FROM read_csv('secret.csv')) {CLAUSE}",
    f"SELECT * FROM read_csv('secret.csv') r(id, price) {CLAUSE}",
    "SELECT * FROM main.t",
    "SELECT * FROM memory.main.t",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT version()",
    "SELECT * FROM test_all_types()",
    "FROM duckdb_functions()",
    "SELECT write_log('x')",
    "SELECT nextval('s')",
    "SELECT getvariable('x')",
    "DELETE FROM t",
    "UPDATE t SET id = 1",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "VACUUM",
    "CHECKPOINT",
    "USE memory",
    "BEGIN",
    "PREPARE x AS SELECT 1",
    "EXECUTE x",
    "IMPORT DATABASE 'x'",
    "DETACH memory",
    "SELECT * FROM T MATCH_RECOGNIZE (ORDER BY id MEASURES read_text('secret.csv') AS a PATTERN (A) DEFINE A AS true)",
    "SELECT * FROM t, LATERAL (SELECT * FROM read_text('secret.csv')) q",
    "SELECT (SELECT content FROM read_text('secret.csv'))",
    "SELECT * FROM t WHERE id IN (FROM read_csv('secret.csv') SELECT a)",
    "SELECT * FROM t ORDER BY (SELECT a FROM 'secret.csv')",
    "SELECT sum(id) FILTER (EXISTS (FROM 'secret.csv')) FROM t",
    "SELECT row_number() OVER (ORDER BY (SELECT a FROM 'secret.csv')) FROM t",
    "SELECT * FROM t LIMIT (SELECT a FROM 'secret.csv')",
    "VALUES ((SELECT a FROM 'secret.csv'))",
    "SELECT list_transform([1], x -> (SELECT a FROM 'secret.csv'))",
    "SELECT * FROM t SEMI JOIN 'secret.csv' s ON true",
    "SELECT * FROM (FROM 'secret.csv')",
    "SELECT COLUMNS(x -> x = (SELECT a FROM 'secret.csv')) FROM t",
    "PIVOT 'secret.csv' ON a",
    "UNPIVOT 'secret.csv' ON a",
    "SELECT system.main.getenv('HOME')",
    "SELECT main.current_setting('threads')",
    "SELECT 'x'::BLOB, read_text('secret.csv')",
    "SELECT * FROM histogram('t','id')",
    "SELECT 'secret.csv'.read_text()",
    "SELECT parse_duckdb_log_message('a','b')",
    "SELECT json_deserialize_sql('{}')",
    "FROM json_each((SELECT content FROM read_text('secret.csv')))",
    "SELECT which_secret('s3://x','s3')",
    "FROM pandas_scan(0)",
    "FROM repeat((SELECT content FROM read_text('secret.csv')), 2)",
    "FROM python_map_function()",
    "SELECT repeat('x', 1000000000)",
    "SELECT format('{:1000000000}', 1)",
    "SELECT printf('%1000000000d', 1)",
    "SELECT range(1000000000)",
    "SELECT unnest(range(1000000000))",
    "SELECT finalize('x'::BLOB)",
    "SELECT to_aggregate_state('x'::BLOB, 'y')",
    "SELECT get_block_size('memory')",
    "SELECT inet_server_addr()",
    "FROM ｒead_text('secret.csv')",
    "FROM \"read_text\"('secret.csv')",
    "FROM read_text/*x*/($$secret.csv$$)",
    "SELECT list(id ORDER BY (SELECT content FROM read_text('secret.csv'))) FROM t",
    "SELECT * REPLACE ((SELECT a FROM 'secret.csv') AS id) FROM t",
    "SELECT sum(id) OVER w FROM t WINDOW w AS (ORDER BY (SELECT a FROM 'secret.csv'))",
    "SELECT * FROM range((SELECT count(*) FROM glob('*')))",
    "WITH RECURSIVE r(file) USING KEY (file) AS (FROM glob('*') UNION FROM r) FROM r",
    "SELECT * FROM t POSITIONAL JOIN 'secret.csv'",
    "FROM ROWS",
]


@pytest.fixture(autouse=True)
def secret(tmp_path, monkeypatch):
    """Files that lie where a text would find them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    pyarrow.parquet.write_table(pa.table({"a": [1]}), "secret.parquet")
    before = sorted(path.name for path in tmp_path.iterdir())
    yield
    assert sorted(path.name for path in tmp_path.iterdir()) == before


class InThisProcess(ConfinedDuckDB):
    """Says what the process would say. To start one for each text would take most of the time."""

    def _ask(self, message, body=b""):
        if not hasattr(self, "service"):
            self.service = Service(self._watch.sandbox.bytes, NoLimits(0, 0))
        self.said = io.BytesIO()
        serve(self.service, message, bytes(body), self.said)
        self.said.seek(0)

    def _pipes(self):
        return None, self.said


class NoLimits(Limits):
    def __init__(self, memory, seconds):
        pass

    lift = put = lambda self: None


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(import_module("ostinato.hosts.embedded.sql"), "ConfinedDuckDB", InThisProcess)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("text", HARMLESS)
def test_what_works(text):
    inside = ost.sql(text, t=ROWS, sandbox=True).to_arrow()
    assert inside.num_rows > 0 and inside.schema == ost.sql(text, t=ROWS).to_arrow().schema


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("text", ATTEMPTS)
def test_attempts(text):
    with pytest.raises((ost.SandboxError, ost.QuerySyntaxError, ost.UnknownNameError)):
        ost.sql(text, t=ROWS, sandbox=True)


def test_compiling_and_explaining():
    assert ost.compile(f"SELECT a FROM (SELECT * FROM t) {CLAUSE}", t=ROWS, sandbox=True).explain()
    with pytest.raises(ost.SandboxError):
        ost.compile(f"SELECT * FROM (SELECT * FROM 'secret.csv') {CLAUSE}", t=ROWS, sandbox=True)
    with pytest.raises(ost.SandboxError):
        ost.compile(f"SELECT a, getenv('HOME') FROM t {CLAUSE}", t=ROWS, sandbox=True)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("text", ["SELECT " + "NOT " * 900 + "TRUE AS x", "SELECT 1" + " + 1" * 900 + " AS x"])
def test_deep_trees(text):
    assert len(ost.sql(text)) == 1
    with pytest.raises(ost.SandboxError, match="too deeply"):
        ost.sql(text, sandbox=True)


def test_the_second_wall():
    """What DuckDB itself is allowed to, were a text to get past the check."""
    with closed_connection(1 << 28) as connection:
        for text in (
            "FROM 'secret.csv'", "FROM read_text('secret.csv')", "FROM glob('*')", "FROM 'secret.parquet'", "COPY (SELECT 1) TO 'out.csv'",
            "INSTALL httpfs", "LOAD httpfs", "ATTACH 'x.db'", "SET enable_external_access = true", "SET memory_limit = '1TB'",
            "FROM 'https://example.com/x.csv'", "EXPORT DATABASE 'x'",
        ):  # fmt: skip
            with pytest.raises(Exception):  # noqa: B017  by whatever name
                connection.execute(text).fetchall()


def doubling(depth):
    steps = [f"a{i} AS NOT MATERIALIZED (SELECT l.x FROM a{i - 1} l JOIN a{i - 1} r ON l.x = r.x)" for i in range(1, depth)]
    return f"WITH a0 AS (SELECT 1 AS x), {', '.join(steps)} SELECT * FROM a{depth - 1}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (doubling(31), "longer than the 5 seconds|needs more than"),
        (f"SELECT * FROM t WHERE id IN ({', '.join(map(str, range(90_000)))})", "too long for the sandbox"),
        ("SELECT s FROM " + "(SELECT concat(s, s) AS s FROM " * 40 + "(SELECT 'x' AS s)" + ")" * 40, "allocate|needs more than"),
    ],
    ids=["planning", "a long list", "a long text"],
)
def test_bombs(text, message):
    """Whatever DuckDB is at: it is ended. The limit is wide enough for the process to start on a busy machine."""
    with pytest.raises(ost.OstinatoError, match=message):
        ost.sql(text, t=ROWS, sandbox=ost.Sandbox(seconds=5, bytes=100 << 20))


def test_the_process_of_the_sandbox(monkeypatch):
    """It sees nothing of the environment, takes tables whatever their size, and its end is an error."""
    monkeypatch.setenv("A_SECRET", "x")
    watch = Watch(ost.Sandbox(bytes=64 << 20))
    with ConfinedDuckDB(watch) as confined:
        confined.register("large", pa.table({"x": np.arange(20_000_000)}))
        assert confined.sql("SELECT count(x) AS s FROM large").to_arrow_table().to_pylist() == [{"s": 20_000_000}]
        environment = Path(f"/proc/{confined._process.pid}/environ")
        assert not environment.exists() or b"A_SECRET" not in environment.read_bytes()
        with pytest.raises(duckdb.Error, match="nowhere"):
            confined.sql("SELECT * FROM nowhere").to_arrow_table()
        os.kill(confined._process.pid, signal.SIGSEGV)
        with pytest.raises(ost.SandboxError, match="cannot be run at all"):
            confined.sql("SELECT 1").to_arrow_table()
    assert confined._process.returncode is not None


def test_a_process_that_cannot_be_started(monkeypatch):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(ost.SandboxError, match="cannot be started"):
        ost.sql("SELECT 1 AS x", sandbox=True)


@pytest.mark.usefixtures("quick")
def test_names_in_any_quotes():
    for text in ("SELECT * FROM 't'", 'SELECT * FROM "T"'):
        assert len(ost.sql(text, t=ROWS, sandbox=True)) == len(ost.sql(text, t=ROWS)) == 4


def test_limits():
    small = ost.Sandbox(seconds=0.5, bytes=50 << 20)
    # which limit a text meets first is a matter of the machine
    for text, message in (
        ("SELECT count(*) FROM range(100000000000) a, range(1000000) b", "longer than the 0.5 seconds"),
        ("SELECT * FROM range(100000000000)", "result is larger|longer than"),
        ("SELECT string_agg(range::VARCHAR, '') OVER () FROM range(30000)", "longer than|larger than|allocate|Allocation"),
        (f"SELECT * FROM (SELECT range AS id, 1 AS price FROM range(100000000000)) {CLAUSE}", "longer than|budget|Out of Memory|allocate"),
    ):
        with pytest.raises(ost.OstinatoError, match=message):
            ost.sql(text, sandbox=small)
    for wrong in ({"seconds": 0}, {"bytes": -1}, {"seconds": True}, {"bytes": "1GB"}):
        with pytest.raises(ost.OstinatoError, match="A sandbox of"):
            ost.Sandbox(**wrong)
    with pytest.raises(ost.OstinatoError, match="sandbox= is"):
        ost.sql("SELECT 1", sandbox=ROWS)


def test_event_patterns_in_time():
    text = "PATTERN SEQ(T a, T b) WHERE b.price < a.price RETURN a.id OUTPUT first"
    assert len(ost.match(text, t=ROWS, time="id", sandbox=True)) == 3
    assert len(ost.match(text, t=ROWS, time="id", sandbox=True, lazy=True)) == 3
    with pytest.raises(ost.SandboxError, match="longer than"):
        ost.match(text, t=ROWS, time="id", sandbox=ost.Sandbox(seconds=1e-9))
    with pytest.raises(ost.SandboxError):
        ost.match(f"SELECT * FROM 'secret.csv' {CLAUSE}", sandbox=True)


def test_files_of_the_caller(tmp_path_factory):
    """Paths that are passed as streams are the caller's word, not the text's."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "t.csv").write_text("id,price\n1,70\n2,65\n")
    pyarrow.parquet.write_table(ROWS, folder / "t.parquet")
    for given in (folder / "t.csv", folder / "t.parquet", ROWS.to_pandas()):
        assert len(ost.sql(f"SELECT a FROM t {CLAUSE} JOIN t AS u ON u.id = a", t=given, sandbox=True)) >= 1


WRITES = [
    "EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "CREATE TABLE x AS SELECT 1",
    "COPY t TO 'out.csv'",
    "SELECT 1; DROP TABLE t",
    "SET threads = 1",
]


@pytest.mark.parametrize("text", WRITES)
def test_what_writes_is_refused_without_a_sandbox(text):
    with pytest.raises(ost.QuerySyntaxError):
        ost.sql(text, t=ROWS)


@pytest.mark.parametrize("text", ["EXPLAIN SELECT 1", "EXPLAIN ANALYZE SELECT 1", "SELECT * FROM 'secret.csv'", "DESCRIBE t"])
def test_what_reads_is_not(text):
    assert len(ost.sql(text, t=ROWS)) > 0
